package server_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// curl is how people try an API; it runs as they would type it.
func curl(t *testing.T, arguments ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "curl", append([]string{"-sS", "--fail-with-body", "--max-time", "20"}, arguments...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("curl %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return string(out)
}

// everyRequest makes each request of the API reference, in an order in which
// each can work. extra is what every one of them carries beside its agent.
func everyRequest(t *testing.T, url string, extra ...string) {
	t.Helper()
	as := func(agent, path string, arguments ...string) string {
		t.Helper()
		return curl(t, append(append([]string{"-H", "X-Agent-ID: " + agent, url + path}, extra...), arguments...)...)
	}
	op := func(agent, name, body string) string {
		t.Helper()
		return as(agent, "/api/op/"+name, "-H", "Content-Type: application/json", "-d", body)
	}
	for _, step := range []struct{ got, want string }{
		{curl(t, url+"/api/health"), `"status":"ok"`},
		{op("meshtastic", "ping", `{}`), `"pong":true`},
		{op("meshtastic", "register_agent", `{"capabilities":["mesh"]}`), `"id":"meshtastic"`},
		{op("homeassistant", "list_agents", `{}`), `"meshtastic"`},
		{op("homeassistant", "send_message", `{"target":"meshtastic","message":"What MQTT topics are available?","context":"Building a sensor dashboard"}`), `"status":"pending"`},
		{as("meshtastic", "/api/pending"), `"count":1`},
		{op("meshtastic", "get_messages", `{}`), `What MQTT topics`},
	} {
		if !strings.Contains(step.got, step.want) {
			t.Fatalf("answered %s, want %s in it", step.got, step.want)
		}
	}
	waited := op("meshtastic", "wait_for_message", `{"timeout":1}`)
	if !strings.Contains(waited, `"code":"TIMEOUT"`) {
		t.Errorf("what get_messages gave is given again: %s", waited)
	}
	_, rest, _ := strings.Cut(op("meshtastic", "peek", `{}`), `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	says := func(got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("answered %s, want %s in it", got, want)
		}
	}
	says(op("meshtastic", "reply", `{"message_id":"`+id+`","response":"mesh/node/#"}`), `"response":"mesh/node/#"`)
	says(op("homeassistant", "wait_for_message", `{"message_id":"`+id+`","timeout":5}`), `"status":"success"`)
	// What was shown is noted once it is written: until then it is shown again.
	if !faultrig.Within(time.Minute, func() bool {
		return strings.Contains(op("homeassistant", "wait_for_message", `{"timeout":1}`), `"code":"TIMEOUT"`)
	}) {
		t.Error("mail that was shown is shown again for a minute")
	}
	says(as("meshtastic", "/api/unregister", "-X", "POST"), `Agent 'meshtastic' unregistered`)
	says(as("meshtastic", "/api/unregister", "-X", "POST"), `Agent 'meshtastic' was not registered`)
}

func TestCurlGetsThroughTheAPIReference(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("curl is not installed")
	}
	t.Run("with the agent's name alone where there are no tokens", func(t *testing.T) {
		t.Parallel()
		everyRequest(t, start(t, server.Config{RedisURL: redistest.Start(t), Auth: auth.None}).url)
	})
	t.Run("and with one more header where there are", func(t *testing.T) {
		t.Parallel()
		g := startGuarded(t, redistest.Start(t), server.Config{})
		made := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "*"})
		everyRequest(t, g.url, "-H", "Authorization: Bearer "+made.Secret)
	})
}
