package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// An agent of the same user can read person.json and speak HTTP.
func TestThePersonsOwnTokensAreRefusedOverTCP(t *testing.T) {
	t.Parallel()
	h := newSocketCoordinator(t)
	for _, test := range []struct{ name, token, method, path string }{
		{"answers", h.person.Human, "POST", "/api/op/human_list"},
		{"a link for a browser", h.person.Human, "POST", "/api/login/link"},
		{"tokens", h.person.Admin, "GET", "/api/admin/tokens"},
		{"the audit", h.person.Admin, "GET", "/api/admin/audit"},
		{"reads", h.person.Human, "GET", "/api/agents"},
		{"the tools", h.person.Human, "POST", "/mcp"},
	} {
		body := "{}"
		if test.method == "GET" {
			body = ""
		}
		status, text, err := call(t.Context(), http.DefaultClient, test.method, h.url+test.path, test.token, body)
		if err != nil || test.path != "/mcp" && status != http.StatusForbidden || !strings.Contains(text, "socket") {
			t.Errorf("%s with a token from the person's file: %d %v %s", test.name, status, err, text)
		}
	}
	if answer := h.curl("human_list", "Authorization: Bearer "+h.person.Human); strings.Contains(answer, `"code"`) {
		t.Errorf("over the socket the person is answered %s", answer)
	}
}

func TestABrowserAndARemotePersonStillGetInOverTCP(t *testing.T) {
	t.Parallel()
	h := newSocketCoordinator(t)
	here := client.New(client.Config{URL: h.url, Socket: h.socket, Token: h.person.Human})
	link, err := here.LoginLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	status, text, err := call(t.Context(), http.DefaultClient, "POST", h.url+"/api/login", "", `{"code":"`+link.Code+`"}`)
	if err != nil || status != http.StatusOK {
		t.Fatalf("the browser: %d %v %s", status, err, text)
	}
	_, after, _ := strings.Cut(text, `"token":"`)
	browser, _, _ := strings.Cut(after, `"`)
	admin := client.New(client.Config{URL: h.url, Socket: h.socket, Token: h.person.Admin})
	made, err := admin.CreateToken(t.Context(), c3po.TokenInput{Role: c3po.RoleHuman, Spaces: []string{"main"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{"browser": browser, "a person elsewhere": made.Secret} {
		if status, text, err := call(t.Context(), http.DefaultClient, "POST", h.url+"/api/op/human_list", token, "{}"); err != nil || status != http.StatusOK {
			t.Errorf("%s: %d %v %s", name, status, err, text)
		}
	}
}

// Tokens of an older version, and their successors, are bound to the socket too.
func TestTheTokensOfAnOlderVersionAreBoundToTheSocketAtTheNextStart(t *testing.T) {
	t.Parallel()
	folder, redis := shortFolder(t), redistest.Start(t)
	before := startGuarded(t, redis, server.Config{Config: folder}) // without a socket, as once
	person, err := paths.ReadPerson(folder)
	if err != nil {
		t.Fatal(err)
	}
	list := func(url, token string) int {
		status, _, err := call(t.Context(), http.DefaultClient, "GET", url+"/api/admin/tokens", token, "")
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	if got := list(before.url, person.Admin); got != http.StatusOK {
		t.Fatalf("without a socket the admin gets %d", got)
	}
	before.stop()
	socket := folder + "/s"
	after := start(t, server.Config{RedisURL: redis, Config: folder, Auth: auth.Tokens, Socket: socket, Started: engine.Started, Lineage: engine.Lineage, Personal: engine.Personal})
	if got := list(after.url, person.Admin); got != http.StatusForbidden {
		t.Errorf("over TCP the admin gets %d", got)
	}
	admin := client.New(client.Config{URL: after.url, Socket: socket, Token: person.Admin})
	kid := strings.Split(person.Human, "_")
	made, err := admin.RotateToken(t.Context(), kid[2])
	if err != nil {
		t.Fatal(err, kid[:3])
	}
	if status, text, err := call(t.Context(), http.DefaultClient, "POST", after.url+"/api/op/human_list", made.Secret, "{}"); err != nil || status != http.StatusForbidden {
		t.Errorf("its successor over TCP: %d %v %s", status, err, text)
	}
}

// `c3po open` sends a browser here from a file of the person's.
func TestAnotherPageMayOpenTheDashboardAndNothingElse(t *testing.T) {
	t.Parallel()
	h := newSocketCoordinator(t)
	for _, test := range []struct {
		path, mode, dest string
		want             int
	}{
		{"/", "navigate", "document", http.StatusOK},
		{"/", "navigate", "iframe", http.StatusForbidden},
		{"/", "cors", "empty", http.StatusForbidden},
		{"/api/health", "navigate", "document", http.StatusForbidden},
	} {
		status, text, err := call(t.Context(), http.DefaultClient, "GET", h.url+test.path, "", "",
			"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", test.mode, "Sec-Fetch-Dest", test.dest)
		if err != nil || status != test.want {
			t.Errorf("GET %s, %s of a %s: %d %v %.100s, want %d", test.path, test.mode, test.dest, status, err, text, test.want)
		}
	}
}
