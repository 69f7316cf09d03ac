package server_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/person/notify"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/pushtest"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestABrowserIsToldOfQuestionsForAsLongAsItsTokenWorks(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	url := redistest.Start(t)
	g := startGuarded(t, url, server.Config{Notify: notify.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}})
	agent := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "*"}).Secret
	person := g.mint(t, auth.Grant{Role: c3po.RoleHuman})
	in, err := json.Marshal(service.Subscription())
	if err != nil {
		t.Fatal(err)
	}
	want := func(method, path, token, body string, status int) string {
		t.Helper()
		got, text, err := call(t.Context(), http.DefaultClient, method, g.url+path, token, body)
		if err != nil || got != status {
			t.Fatalf("%s %s: %d %s, %v", method, path, got, text, err)
		}
		return text
	}
	want("POST", "/api/push", agent, string(in), http.StatusForbidden)
	want("GET", "/api/push", agent, "", http.StatusForbidden)
	want("POST", "/api/push", person.Secret, `{"endpoint":"https://10.0.0.7/x","p256dh":"x","auth":"x"}`, http.StatusBadRequest)
	key := want("GET", "/api/push", person.Secret, "", http.StatusOK)
	want("POST", "/api/push", person.Secret, string(in), http.StatusOK)

	ask := func(from, why string) {
		t.Helper()
		g.do(t, agent, from, "escalate_to_human", c3po.EscalateInput{Reason: why}, nil)
	}
	came := func(word string) bool {
		return faultrig.Within(longEnough, func() bool { return strings.Contains(strings.Join(service.Notices(), "\n"), word) })
	}
	ask("api", "May I drop the column?")
	if !came("May I drop the column?") {
		t.Fatalf("the browser was not told: %q", service.Notices())
	}
	head, _ := service.Last()
	if _, known, err := pushtest.Proof(head.Get("Authorization")); err != nil || !strings.Contains(key, known) {
		t.Errorf("it is from %s and not from %s: %v", known, key, err)
	}

	// A second browser shows that the others were not told later.
	other := pushtest.Start(t)
	second := g.mint(t, auth.Grant{Role: c3po.RoleHuman})
	if in, err = json.Marshal(other.Subscription()); err != nil {
		t.Fatal(err)
	}
	want("POST", "/api/push", second.Secret, string(in), http.StatusOK)
	if _, err := g.store.Revoke(t.Context(), person.KID); err != nil {
		t.Fatal(err)
	}
	ask("web", "Which color?")
	if !faultrig.Within(longEnough, func() bool { return strings.Contains(strings.Join(other.Notices(), "\n"), "Which color?") }) {
		t.Fatalf("the other browser was not told: %q", other.Notices())
	}
	if all := service.Notices(); len(all) != 1 {
		t.Errorf("a browser whose token was revoked was told: %q", all)
	}
	want("POST", "/api/push/end", second.Secret, "", http.StatusOK)
	if is, err := g.store.AnyPush(t.Context()); err != nil || is {
		t.Errorf("one is still to be told: %v, %v", is, err)
	}
}
