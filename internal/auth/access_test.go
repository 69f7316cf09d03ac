package auth_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

func TestATokenThatCannotBeIsNotMade(t *testing.T) {
	t.Parallel()
	r := newRig(t, auth.Config{})
	many := strings.Split(strings.Repeat("a ", 21), " ")[:21]
	for _, test := range []struct {
		in c3po.TokenInput
		ok bool
	}{
		{c3po.TokenInput{Role: "god"}, false},
		{c3po.TokenInput{Role: c3po.RoleHuman}, true},
		{c3po.TokenInput{Role: c3po.RoleHuman, Agents: "*"}, false},
		{c3po.TokenInput{Role: c3po.RoleAgent}, false},
		{c3po.TokenInput{Role: c3po.RoleRunner}, false},
		{c3po.TokenInput{Role: c3po.RoleRunner, Agents: "box/*"}, true},
		{c3po.TokenInput{Role: c3po.RoleAgent, Agents: "a/b/c"}, false},
		{c3po.TokenInput{Role: c3po.RoleHuman, Spaces: many[:20]}, true},
		{c3po.TokenInput{Role: c3po.RoleHuman, Spaces: many}, false},
		{c3po.TokenInput{Role: c3po.RoleHuman, Spaces: []string{""}}, false},
		{c3po.TokenInput{Role: c3po.RoleHuman, Spaces: []string{"A*"}}, false},
		{c3po.TokenInput{Role: c3po.RoleHuman, Spaces: []string{"a*", "b"}}, true},
		{c3po.TokenInput{Role: c3po.RoleHuman, Label: strings.Repeat("é", 100)}, true},
		{c3po.TokenInput{Role: c3po.RoleHuman, Label: strings.Repeat("é", 101)}, false},
		{c3po.TokenInput{Role: c3po.RoleHuman, Label: "\xff"}, false},
		{c3po.TokenInput{Role: c3po.RoleHuman, Label: "a\x1b"}, false},
	} {
		made, err := r.CreateToken(t.Context(), c3po.Caller{Role: c3po.RoleAdmin, Space: "team"}, test.in)
		if (err == nil) != test.ok || !test.ok && !errors.Is(err, c3po.InvalidRequest) {
			t.Errorf("%+v: %v", test.in, err)
		}
		if test.ok && test.in.Spaces == nil && !cmp.Equal(made.Spaces, []string{"team"}) {
			t.Errorf("without spaces it is for %v", made.Spaces)
		}
	}
}

func TestATokenIsListedAsItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t, auth.Config{})
	live := r.mint(auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*", Label: "box", SuccessorOf: "abc"})
	ended := r.mint(auth.Grant{Role: c3po.RoleHuman, Expires: time.Now().Add(-time.Second)})
	gone := r.mint(auth.Grant{Role: c3po.RoleHuman})
	if told, err := r.RevokeToken(t.Context(), admin, kidOf(gone)); err != nil || told.State != "revoked" {
		t.Errorf("it is revoked as %+v, %v", told, err)
	}
	all, err := r.Tokens(t.Context(), admin)
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	for token, want := range map[string]string{live: "live", ended: "expired", gone: "revoked"} {
		for _, listed := range all {
			if listed.KID == kidOf(token) && listed.State != want {
				t.Errorf("it is listed as %+v, want %s", listed, want)
			}
		}
		if works, err := r.Works(t.Context(), token); works != (token == live) || err != nil {
			t.Errorf("a token that is %s works: %v, %v", want, works, err)
		}
	}
	if works, err := r.Works(t.Context(), "garbage"); works || err != nil {
		t.Errorf("garbage works: %v, %v", works, err)
	}
	for token, want := range map[string]error{ended: c3po.InvalidRequest, gone: c3po.InvalidRequest, live: nil} {
		if _, err := r.RotateToken(t.Context(), admin, kidOf(token)); !errors.Is(err, want) {
			t.Errorf("rotated: %v, want %v", err, want)
		}
	}
	if _, err := r.RevokeToken(t.Context(), admin, "../x"); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("what is no key id is revoked: %v", err)
	}
}

// A token of an older version lies in a file that an agent can read.
func TestATokenOfAnOlderVersionIsBoundToTheMachineOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, auth.Config{})
	good, gone := r.mint(auth.Grant{Role: c3po.RoleHuman}), r.mint(auth.Grant{Role: c3po.RoleHuman, Expires: time.Now().Add(-time.Second)})
	for token, want := range map[string]bool{good: true, gone: false} {
		for range 2 {
			if err := r.Localize(t.Context(), token); err != nil {
				t.Fatal(err)
			}
			if g, _, err := r.store.Grant(t.Context(), kidOf(token)); err != nil || g.Local != want {
				t.Errorf("it is bound: %v, want %v, %v", g.Local, want, err)
			}
		}
	}
	if _, err := ask(r.another(), bearing(good)); !errors.Is(err, c3po.Forbidden) {
		t.Errorf("over the network it is answered %v", err)
	}
}

func TestAHostWhoseNameIsTakenGetsTheNext(t *testing.T) {
	t.Parallel()
	r := newRig(t, auth.Config{})
	join := func(in c3po.InviteInput) (c3po.Joined, error) {
		secret, _, err := r.Invite(t.Context(), admin, in)
		if err != nil {
			t.Fatal(err)
		}
		return r.Join(t.Context(), guest, c3po.JoinInput{Secret: secret, Host: "lap"})
	}
	for _, test := range []struct {
		in                    c3po.InviteInput
		host                  string
		agents, runs, persons bool
		spaces                []string
	}{
		{c3po.InviteInput{}, "lap", true, false, false, []string{"main", "repo-*"}},
		{c3po.InviteInput{Runner: true}, "lap-2", true, true, false, []string{"main", "repo-*"}},
		{c3po.InviteInput{Host: "lap", Spaces: []string{"team"}}, "lap", true, false, false, []string{"team"}}, // an admin's word
		{c3po.InviteInput{Person: true}, "lap", false, false, true, []string{"main", "*"}},
		{c3po.InviteInput{Person: true, Host: "nas"}, "nas", false, false, true, []string{"main", "*"}},
	} {
		got, err := join(test.in)
		if err != nil || got.Host != test.host || (got.Token != "") != test.agents || (got.RunnerToken != "") != test.runs || (got.PersonToken != "") != test.persons || !cmp.Equal(got.Spaces, test.spaces) {
			t.Errorf("%+v: it joins as %+v, %v", test.in, got, err)
		}
		for token, role := range map[string]c3po.Role{got.Token: c3po.RoleAgent, got.RunnerToken: c3po.RoleRunner, got.PersonToken: c3po.RoleHuman} {
			if token == "" {
				continue
			}
			g, _, err := r.store.Grant(t.Context(), kidOf(token))
			pattern := map[bool]string{true: test.host + "/*"}[role != c3po.RoleHuman]
			if err != nil || g.Role != role || g.Pattern != pattern || !strings.HasSuffix(g.Label, "host "+test.host) || !cmp.Equal(g.Spaces, test.spaces) {
				t.Errorf("%+v: its token is %+v, %v", test.in, g, err)
			}
		}
	}
	if _, _, err := r.Invite(t.Context(), admin, c3po.InviteInput{Person: true, Runner: true}); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("an invitation for a person and a runner: %v", err)
	}
	for n := 3; n <= 100; n++ {
		r.mint(auth.Grant{Role: c3po.RoleAgent, Pattern: fmt.Sprintf("lap-%d/*", n)})
	}
	if _, err := join(c3po.InviteInput{}); !strings.Contains(err.Error(), "used up") || !errors.Is(errors.Unwrap(err), c3po.InvalidRequest) {
		t.Errorf("the 101st host of a name: %v", err)
	}
}

// A request can be counted on the account of its token before the store was asked.
func TestWhoseRequestItIsIsKnownOnceItWasLetIn(t *testing.T) {
	t.Parallel()
	r := newRig(t, auth.Config{})
	agent, shared := r.mint(auth.Grant{Role: c3po.RoleAgent, Pattern: "*"}), r.mint(auth.Grant{Role: c3po.RoleAgent, Pattern: "*", Account: "runner"})
	open := auth.New(auth.Config{Mode: auth.None})
	local := overSocket(request(), 1, 1)
	want := func(name string, k *auth.Keeper, q *http.Request, account string) {
		t.Helper()
		if got, ok := k.Known(q); ok != (account != "") || !strings.HasPrefix(got, account) || account == "" && got != "" {
			t.Errorf("%s is on the account %q, %v; want %q", name, got, ok, account)
		}
	}
	want("a token before it was let in", r.Keeper, bearing(agent), "")
	for _, token := range []string{agent, shared} {
		if _, err := ask(r.Keeper, bearing(token)); err != nil {
			t.Fatal(err)
		}
	}
	want("a token", r.Keeper, bearing(agent), kidOf(agent))
	want("a token of a runner", r.Keeper, bearing(shared), "runner")
	want("a guessed one", r.Keeper, bearing(agent[:len(agent)-43]+auth.RandomSecret().Reveal()), "")
	want("garbage", r.Keeper, bearing("garbage"), "")
	want("nothing", r.Keeper, request(), "")
	want("a process of this machine", r.Keeper, local, "uid ")
	want("garbage of a process of this machine", r.Keeper, overSocket(bearing("garbage"), 1, 1), "")
	want("anybody where no tokens are", open, request(), guest)
	r.advance(2 * 365 * 24 * time.Hour)
	want("a token that has ended", r.Keeper, bearing(agent), "")
}

func TestOnlyAnUnauthorizedCallerIsChallenged(t *testing.T) {
	t.Parallel()
	for code, want := range map[c3po.Code]string{c3po.Unauthorized: `Bearer realm="c3po"`, c3po.Forbidden: ""} {
		header := http.Header{}
		auth.Challenge(header, c3po.Errorf(code, "no"))
		if got := header.Get("WWW-Authenticate"); got != want {
			t.Errorf("%s is answered with %q", code, got)
		}
	}
}
