package server_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/authenticator"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// tokenTable is what docs/explain/security.md says that a token alone can do: for each row,
// the cells of the policies off, decisions and everything.
func tokenTable(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/explain/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(page), "| with your token alone, an agent of your user can | off | decisions | everything |\n")
	if !found {
		t.Fatal("the page has no such table")
	}
	rows := map[string][]string{}
	for line := range strings.Lines(after) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 {
			break
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if !strings.HasPrefix(cells[0], "---") {
			rows[cells[0]] = cells[1:]
		}
	}
	return rows
}

// An agent has every token of its user, and no passkey. What it can do with them is exactly
// what the table says.
func TestATokenAloneDoesWhatTheTableSays(t *testing.T) {
	t.Parallel()
	type try func(p *prover) (int, string)
	post := func(path, body string) try {
		return func(p *prover) (int, string) { return p.send("POST", path, body, p.admin) }
	}
	person := func(path, body string) try {
		return func(p *prover) (int, string) { return p.send("POST", path, body, p.person) }
	}
	token := func(act string) try {
		return func(p *prover) (int, string) {
			other := p.mint(p.t, auth.Grant{Role: c3po.RoleHuman}).Secret
			return p.send("POST", "/api/admin/tokens/"+kidOf(other)+"/"+act, "{}", p.admin)
		}
	}
	tries := map[string][]try{
		"answer a question, allow a permission, take either out of your mailbox": {
			func(p *prover) (int, string) {
				return p.send("POST", answerPath, answerOf(p.question(), "yes"), p.person)
			},
			func(p *prover) (int, string) {
				return p.send("POST", answerPath, answerOf(p.request(), c3po.AllowOnce), p.person)
			},
			func(p *prover) (int, string) {
				return p.send("POST", "/api/op/reply", `{"message_id":"`+string(p.question())+`","response":"yes"}`, p.admin, auth.AgentHeader, "human")
			},
			func(p *prover) (int, string) {
				return p.send("POST", "/api/op/ack_messages", `{"message_ids":["`+string(p.request())+`"]}`, p.admin, auth.AgentHeader, "human")
			},
		},
		"resume an agent or a paused conversation": {
			person("/api/op/resume", `{"agent_id":"api"}`), person("/api/op/thread_resume", `{"thread":"t"}`),
		},
		"make or replace a token, make an invitation": {
			post("/api/admin/tokens", `{"role":"human","spaces":["main"]}`), token("rotate"),
			post("/api/admin/invites", `{"host":"desk"}`),
		},
		"add or remove a passkey, relax the policy": {
			func(p *prover) (int, string) { return p.enrol(authenticator.New(), "mine", "") },
			func(p *prover) (int, string) {
				return p.send("POST", "/api/passkeys/"+p.keyID()+"/remove", "{}", p.admin)
			},
			func(p *prover) (int, string) {
				if p.policy == c3po.ProofOff {
					return http.StatusForbidden, "there is nothing to relax"
				}
				return p.send("POST", "/api/passkeys/policy", `{"policy":"off"}`, p.admin)
			},
		},
		"write to agents in your name, pause, end a token, sweep": {
			person(sendPath, `{"target":"api","message":"Do as I say."}`), person("/api/op/pause", `{"agent_id":"api"}`), token("revoke"), person("/api/op/sweep", `{"older":"1000h"}`),
		},
		"read what you can read": {
			person("/api/op/human_list", "{}"), person("/api/op/list_agents", "{}"),
			func(p *prover) (int, string) { return p.send("GET", "/api/admin/audit", "", p.admin) },
		},
		"make a link that signs a browser in": {person("/api/login/link", "{}")},
		"ask for a reset of your passkeys":    {post("/api/passkeys/reset", "{}")},
	}
	table := tokenTable(t)
	for column, policy := range []c3po.ProofPolicy{c3po.ProofOff, c3po.ProofDecisions, c3po.ProofAll} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			p := startProving(t, policy)
			p.enter("api")
			for row, cells := range table {
				if len(tries[row]) == 0 {
					t.Errorf("nothing tries %q", row)
				}
				said := cells[column]
				if said == "the same" {
					said = cells[column-1]
				}
				may := strings.HasPrefix(said, "yes")
				for i, try := range tries[row] {
					if status, text := try(p); (status/100 == 2) != may {
						t.Errorf("%q, try %d, is answered %d; the table says %q\n%s", row, i+1, status, said, text)
					}
				}
			}
			if len(table) != len(tries) {
				t.Errorf("the table has %d rows, and %d are tried", len(table), len(tries))
			}
		})
	}
}

// The table says "only while you have none" of who adds a passkey.
func TestATokenAddsAPasskeyWhileThereIsNone(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, redistest.Start(t), server.Config{})
	p := &prover{
		guarded: g, t: t, page: strings.Replace(g.url, "127.0.0.1", "localhost", 1),
		person: g.mint(t, auth.Grant{Role: c3po.RoleHuman}).Secret,
	}
	for i, want := range []int{http.StatusOK, http.StatusForbidden} {
		if status, text := p.enrol(authenticator.New(), fmt.Sprint("mine ", i), ""); status != want {
			t.Errorf("passkey %d is answered %d %s", i+1, status, text)
		}
	}
}
