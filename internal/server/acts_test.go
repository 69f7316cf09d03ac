package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// personActs is what the audit holds of a person's deeds.
func (g *guarded) personActs(t *testing.T) []auth.AuditEntry {
	t.Helper()
	entries, err := g.store.AuditTail(t.Context(), "0", 1000)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(entries, func(e auth.AuditEntry) bool { return e.Event != auth.EventPersonAct })
}

func TestWhatAPersonDoesHasAnEntryWhicheverDoorItCameThrough(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, redistest.Start(t), server.Config{})
	person := g.mint(t, auth.Grant{Role: c3po.RoleHuman})
	agent := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "*"}).Secret
	g.do(t, agent, "bob", "ping", c3po.None{}, nil)
	tool := func(name, arguments string) {
		t.Helper()
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments)
		status, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/mcp?tools=core,diag", person.Secret, body, "Accept", "application/json, text/event-stream")
		if err != nil || status != http.StatusOK || strings.Contains(text, `"isError":true`) {
			t.Fatalf("%s over MCP: %d %s %v", name, status, text, err)
		}
	}
	tool("sweep", `{"dry_run":true}`)
	tool("send_message", `{"target":"bob","message":"over MCP, a secret"}`)
	for name, in := range map[string]any{
		"send_message": c3po.SendInput{Target: "bob", Message: "over REST, a secret"}, "sweep": c3po.SweepInput{DryRun: true}, "pause": c3po.PauseInput{AgentID: "bob"},
	} {
		if status, refusal := g.do(t, person.Secret, "", name, in, nil); status != http.StatusOK {
			t.Fatalf("%s: %d %+v", name, status, refusal)
		}
	}
	g.do(t, agent, "bob", "send_message", c3po.SendInput{Target: "human", Message: "no deed of a person"}, nil)
	var done []string
	for _, e := range g.personActs(t) {
		done = append(done, e.Detail)
		if e.KID != person.KID || e.Role != c3po.RoleHuman || e.Remote == "" || e.Space != "main" {
			t.Errorf("the entry of a deed is %+v", e)
		}
	}
	slices.Sort(done)
	if want := []string{"pause bob", "send_message bob", "send_message bob", "sweep", "sweep"}; !slices.Equal(done, want) {
		t.Errorf("written down are %q, want %q", done, want)
	}
}

// A cancel that was refused is no deed, and its entry says so.
func TestACancelThatChangesNothingIsWrittenDownSo(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, redistest.Start(t), server.Config{})
	person := g.mint(t, auth.Grant{Role: c3po.RoleHuman}).Secret
	agent := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "*"}).Secret
	var asked c3po.Escalation
	g.do(t, agent, "bob", "escalate_to_human", c3po.EscalateInput{Reason: "Drop it?"}, &asked)
	var sent c3po.Receipt
	g.do(t, person, "", "send_message", c3po.SendInput{Target: "bob", Message: "Go on."}, &sent)
	for _, id := range []c3po.MessageID{asked.MessageID, sent.ID, sent.ID} {
		if status, refusal := g.do(t, person, "", "cancel", c3po.MessageInput{MessageID: id}, nil); status != http.StatusOK {
			t.Fatalf("%d %+v", status, refusal)
		}
	}
	var done []string
	for _, e := range g.personActs(t) {
		done = append(done, e.Detail)
	}
	want := []string{
		"send_message bob", "cancel " + string(asked.MessageID) + ": you changed nothing, somebody else sent it",
		"cancel " + string(sent.ID), "cancel " + string(sent.ID) + ": you changed nothing, it was cancelled before",
	}
	if !slices.Equal(done, want) {
		t.Errorf("written down are %q, want %q", done, want)
	}
}

func TestATicketThatAPersonSendsOrAnswersHasAnEntry(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, redistest.Start(t), server.Config{})
	admin := g.mint(t, auth.Grant{Role: c3po.RoleAdmin})
	agent := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "*"}).Secret
	var asked c3po.Escalation
	if status, refusal := g.do(t, agent, "bob", "escalate_to_human", c3po.EscalateInput{Reason: "Drop it?"}, &asked); status != http.StatusOK {
		t.Fatalf("asking: %d %+v", status, refusal)
	}
	post := func(secret, as, path, body string) {
		t.Helper()
		status, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+path, secret, body, auth.AgentHeader, as)
		if err != nil || status/100 != 2 {
			t.Fatalf("%s as %s: %d %s %v", path, as, status, text, err)
		}
	}
	post(admin.Secret, "human", "/agents/bob/send", `{"payload":"Go on, a secret.","expectReply":false}`)
	post(admin.Secret, "human", "/replies", fmt.Sprintf(`{"ticketId":%q,"payload":"Yes, a secret."}`, asked.MessageID))
	post(agent, "carl", "/agents/bob/send", `{"payload":"no deed of a person","expectReply":false}`)
	var done []string
	for _, e := range g.personActs(t) {
		done = append(done, e.Agent+" "+e.Detail)
		if e.KID != admin.KID || e.Remote == "" || e.Space != "main" {
			t.Errorf("the entry of a deed is %+v", e)
		}
	}
	if want := []string{"human bridge_send_message bob", "human post_reply " + string(asked.MessageID)}; !slices.Equal(done, want) {
		t.Errorf("written down are %q, want %q", done, want)
	}
}
