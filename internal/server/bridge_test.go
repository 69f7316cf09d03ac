package server_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// The example is what people copy from, so it runs as it is.
func TestTheExampleOfTheBridgeRunsWithCurlAlone(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("curl is not installed")
	}
	const script = "../../examples/bridge.sh"
	if _, err := os.Stat(script); err != nil { // so that the result is not remembered when the script changes
		t.Fatal(err)
	}
	open := start(t, server.Config{RedisURL: redistest.Start(t), Auth: auth.None})
	closed := startGuarded(t, redistest.Start(t), server.Config{})
	everybody := closed.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "*"}).Secret
	ofOneHost := closed.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*"}).Secret
	for name, env := range map[string][]string{
		"without tokens": {"BRIDGE_BROKER_URL=" + open.url},
		"without tokens, with a slash in each id": {"BRIDGE_BROKER_URL=" + open.url, "PREFIX=box/"},
		"with a token":             {"BRIDGE_BROKER_URL=" + closed.url, "TOKEN=" + everybody},
		"with the token of a host": {"BRIDGE_BROKER_URL=" + closed.url, "TOKEN=" + ofOneHost, "PREFIX=box/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), script)
			cmd.Env = append(os.Environ(), env...)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "All as it should be.") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// A handle in a path or a body is a claim like any other.
func TestATokenIsNotGoodForTheHandlesOfOthers(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, redistest.Start(t), server.Config{})
	mine := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*"}).Secret
	admin := g.mint(t, auth.Grant{Role: c3po.RoleAdmin}).Secret
	json := []string{"-H", "Content-Type: application/json"}
	as := func(token string, arguments ...string) []string {
		return append(append(arguments, json...), "-H", "Authorization: Bearer "+token, "-o", "/dev/null", "-w", "%{http_code}")
	}
	for _, agent := range []string{"box/jerry", "other/spock"} {
		curl(t, as(admin, g.url+"/agents/register", "-d", `{"agentId":"`+agent+`"}`)...)
	}
	for _, row := range []struct {
		want      string
		arguments []string
	}{
		{"200", []string{g.url + "/agents/register", "-d", `{"agentId":"box/jerry"}`}},
		{"200", []string{g.url + "/agents/register", "-d", `{"agentId":"jerry"}`}}, // of this host, that is
		{"403", []string{g.url + "/agents/register", "-d", `{"agentId":"other/spock"}`}},
		{"403", []string{g.url + "/agents/register", "-H", "X-Agent-ID: box/jerry", "-d", `{"agentId":"other/spock"}`}},
		{"200", []string{g.url + "/agents/box%2Fjerry/heartbeat", "-X", "POST"}},
		{"403", []string{g.url + "/agents/other%2Fspock/heartbeat", "-X", "POST"}},
		{"403", []string{g.url + "/replies", "-d", `{"ticketId":"box/jerry::other/spock::0a1b2c3d","payload":"x"}`}},
		{"403", []string{g.url + "/replies/other%2Fspock::box%2Fjerry::0a1b2c3d?waitMs=0"}},
		{"404", []string{g.url + "/replies/box%2Fjerry::other%2Fspock::0a1b2c3d?waitMs=0"}},
	} {
		out, err := exec.CommandContext(t.Context(), "curl", append([]string{"-sS", "--max-time", "20"}, as(mine, row.arguments...)...)...).CombinedOutput()
		if err != nil || string(out) != row.want {
			t.Errorf("%v: %s, %v, want %s", row.arguments[1:], out, err, row.want)
		}
	}
}

func TestAnAnswerWithoutANameIsOfWhomItsTokenIsFor(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, redistest.Start(t), server.Config{})
	mine := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*"}).Secret
	admin := g.mint(t, auth.Grant{Role: c3po.RoleAdmin}).Secret
	post := func(token, path, body, want string) {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "curl", "-sS", "--max-time", "20", g.url+path, "-H", "Content-Type: application/json",
			"-H", "Authorization: Bearer "+token, "-d", body, "-o", "/dev/null", "-w", "%{http_code}").CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("%s %s: %s, %v, want %s", path, body, out, err, want)
		}
	}
	post(mine, "/agents/register", `{"agentId":"box/jerry"}`, "200")
	post(admin, "/agents/register", `{"agentId":"other/spock"}`, "200")
	post(admin, "/agents/box%2Fjerry/send", `{"ticketId":"uuid-1","payload":"a joke?"}`, "200")
	post(admin, "/agents/other%2Fspock/send", `{"ticketId":"uuid-2","payload":"a joke?"}`, "200")
	post(mine, "/replies", `{"ticketId":"uuid-1","payload":"knock knock"}`, "204")
	post(mine, "/replies", `{"ticketId":"uuid-2","payload":"knock knock"}`, "404")
}
