package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestNobodyTakesANameThatItsTokenIsNotFor(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, redistest.Start(t), server.Config{})
	for _, test := range []struct {
		role              c3po.Role
		agents, id, newID string
		want              int
	}{
		{c3po.RoleAgent, "api*", "api", "api-v2", http.StatusOK},
		{c3po.RoleAgent, "api*", "api", "db", http.StatusForbidden},
		{c3po.RoleAgent, "api", "api", "api-2", http.StatusForbidden},
		{c3po.RoleAgent, "*", "api", "db", http.StatusOK},
		{c3po.RoleAgent, "box/*", "box/api", "db", http.StatusOK},
		{c3po.RoleAgent, "box/*", "api", "box/db", http.StatusOK},
		{c3po.RoleAgent, "box/api*", "box/api", "db", http.StatusForbidden},
		{c3po.RoleAgent, "*/api*", "box/api", "box/db", http.StatusForbidden},
		{c3po.RoleAgent, "*/api*", "box/api", "box/api2", http.StatusOK},
		{c3po.RoleAgent, "box/*", "api", "crate/api", http.StatusBadRequest},
		{c3po.RoleAdmin, "", "api", "db", http.StatusOK},
	} {
		name := strings.NewReplacer("/", "_", "*", "+").Replace(string(test.role) + " " + test.agents + " " + test.id + " to " + test.newID)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			space := "s" + strings.ToLower(strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
					return r
				}
				return '-'
			}, name))
			token := g.mint(t, auth.Grant{Role: test.role, Pattern: test.agents, Spaces: []string{space}}).Secret
			status, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/op/rename", token, `{"new_id":"`+test.newID+`"}`, "X-Agent-ID", test.id)
			if err != nil || status != test.want {
				t.Errorf("%d %v, want %d: %s", status, err, test.want, text)
			}
			if test.want == http.StatusForbidden && !strings.Contains(text, test.agents) {
				t.Errorf("it does not say whom the token is for: %s", text)
			}
		})
	}
}

func TestANumberedNameIsGivenOnlyToWhoMayHaveIt(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, redistest.Start(t), server.Config{})
	exact := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "api"}).Secret
	wide := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "api*"}).Secret
	for _, test := range []struct {
		token, run string
		status     int
		id         string // or what the refusal says
	}{
		{exact, "r1", http.StatusOK, "api"},
		{exact, "r2", http.StatusForbidden, "another session holds 'api'"},
		{wide, "r2", http.StatusOK, "api-2"},
		// What the run of another token was given is not for this one.
		{exact, "r2", http.StatusForbidden, "another session holds 'api'"},
		{exact, "r1", http.StatusOK, "api"},
	} {
		status, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/op/whoami", test.token, `{}`,
			"X-Agent-ID", "api", "X-C3PO-Run", test.run)
		var who struct {
			ID    string `json:"id"`
			Error string `json:"error"`
		}
		if err == nil {
			err = json.Unmarshal([]byte(text), &who)
		}
		if err != nil || status != test.status || !strings.HasPrefix(who.ID+who.Error, test.id) {
			t.Errorf("%s: %d %v, want %d and %q: %s", test.run, status, err, test.status, test.id, text)
		}
	}
}
