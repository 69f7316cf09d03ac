package auth_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

const guest = "192.0.2.7" // where request comes from

func errOf[T any](_ T, err error) error { return err }

func TestEveryRefusalIsRecordedUnderTheNameThatWasProved(t *testing.T) {
	t.Parallel()
	r := newRig(t, auth.Config{})
	host := r.mint(auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*"})
	gone := r.mint(auth.Grant{Role: c3po.RoleHuman})
	if _, err := r.RevokeToken(t.Context(), admin, kidOf(gone)); err != nil {
		t.Fatal(err)
	}
	invitation, _, err := r.Invite(t.Context(), admin, c3po.InviteInput{})
	if err != nil {
		t.Fatal(err)
	}
	link, err := r.LoginLink(t.Context(), c3po.Caller{Role: c3po.RoleHuman, Space: "main"})
	if err != nil {
		t.Fatal(err)
	}
	// guessed is a code of the right name with another secret.
	guessed := func(code string) string { return code[:len(code)-43] + auth.RandomSecret().Reveal() }
	call := func(token string, headers ...string) error { return errOf(ask(r.Keeper, bearing(token, headers...))) }
	join := func(secret string) error {
		return errOf(r.Join(t.Context(), guest, c3po.JoinInput{Secret: secret, Host: "laptop"}))
	}
	login := func(code string) error { return errOf(r.Login(t.Context(), guest, c3po.LoginInput{Code: code})) }
	press := func(id c3po.MessageID) error {
		r.RefusedButton(t.Context(), "team", id, c3po.Errorf(c3po.Forbidden, "too late"))
		return c3po.Forbidden
	}
	for name, test := range map[string]struct {
		try  func() error
		want auth.AuditEntry
	}{
		"no token": {func() error { return errOf(ask(r.Keeper, request())) }, auth.AuditEntry{Event: auth.EventAuthFailed, Detail: "a token is needed here"}},
		"a guessed token": {func() error { return call(guessed(host), "X-Agent-ID", "box/api", "X-C3PO-Space", "main") }, auth.AuditEntry{
			Event: auth.EventAuthFailed, Agent: "box/api", Space: "main", Detail: "this is not a token of this coordinator",
		}},
		"a revoked token": {func() error { return call(gone) }, auth.AuditEntry{
			Event: auth.EventAuthFailed, KID: kidOf(gone), Role: c3po.RoleHuman, Detail: "this token was revoked",
		}},
		"another host's agent": {func() error { return call(host, "X-Agent-ID", "nas/api") }, auth.AuditEntry{
			Event: auth.EventForbidden, KID: kidOf(host), Role: c3po.RoleAgent, Agent: "nas/api", Detail: "this token is not for acting as 'nas/api'",
		}},
		"an unknown invitation": {func() error { return join("x") }, auth.AuditEntry{Event: auth.EventJoinRefused, Detail: "the invitation is unknown"}},
		"a guessed invitation":  {func() error { return join(guessed(invitation)) }, auth.AuditEntry{Event: auth.EventJoinRefused, Detail: "the invitation is wrong"}},
		"an unknown link":       {func() error { return login("x") }, auth.AuditEntry{Event: auth.EventLoginRefused, Detail: "the link is unknown"}},
		"a guessed link":        {func() error { return login(guessed(link.Code)) }, auth.AuditEntry{Event: auth.EventLoginRefused, Detail: "the link is wrong"}},
		"a button": {func() error { return press("api::human::00000001") }, auth.AuditEntry{
			Event: auth.EventButtonRefused, Space: "team", Remote: "ntfy button", Detail: "api::human::00000001: too late",
		}},
		"a button of no question": {func() error { return press("") }, auth.AuditEntry{Event: auth.EventButtonRefused, Space: "team", Remote: "ntfy button", Detail: "too late"}},
	} {
		if test.want.Remote == "" {
			test.want.Remote = guest
		}
		r.advance(2 * time.Second) // so that each is the first within its second
		r.wantRecorded(name, func() {
			if err := test.try(); !errors.Is(err, c3po.Unauthorized) && !errors.Is(err, c3po.Forbidden) {
				t.Errorf("%s is answered %v", name, err)
			}
		}, test.want)
	}
	r.wantRecorded("a malformed header", func() {
		if err := call(host, "X-Agent-ID", "a b"); !errors.Is(err, c3po.InvalidRequest) {
			t.Error(err)
		}
	})
	r.wantRecorded("a missing space", func() {
		if err := call(r.mint(auth.Grant{Role: c3po.RoleObserver, Spaces: []string{"a*"}})); !errors.Is(err, c3po.InvalidRequest) {
			t.Error(err)
		}
	})
}

func TestGuessesOfOneKindFillNeitherTheAuditNorHideAnother(t *testing.T) {
	t.Parallel()
	r := newRig(t, auth.Config{})
	stop := time.Now()
	r.cfg.Now = func() time.Time { return stop }
	r.Keeper = r.another()
	ways := map[string]func(){
		auth.EventAuthFailed:    func() { _, _ = ask(r.Keeper, bearing("guess")) },
		auth.EventJoinRefused:   func() { _, _ = r.Join(t.Context(), guest, c3po.JoinInput{Secret: "guess", Host: "laptop"}) },
		auth.EventLoginRefused:  func() { _, _ = r.Login(t.Context(), guest, c3po.LoginInput{Code: "guess"}) },
		auth.EventButtonRefused: func() { r.RefusedButton(t.Context(), "main", "", c3po.Forbidden) },
	}
	count := func() map[string]int {
		events := map[string]int{}
		for _, e := range r.recorded(func() {
			for _, guess := range ways {
				for range 20 {
					guess()
				}
			}
		}) {
			events[e.Event]++
		}
		return events
	}
	for range 2 {
		// Buttons and tokens share one meter: both come from strangers over the same port.
		if got := count(); got[auth.EventJoinRefused] != 5 || got[auth.EventLoginRefused] != 5 || got[auth.EventAuthFailed]+got[auth.EventButtonRefused] != 5 {
			t.Errorf("of 20 refusals of each kind within a second the audit has %v, want 5 of each meter", got)
		}
		stop = stop.Add(time.Second)
	}
}

func TestTheAuditSaysWhatWasGrantedToWhom(t *testing.T) {
	t.Parallel()
	r := newRig(t, auth.Config{})
	ctx := t.Context()
	clerk := c3po.Caller{Role: c3po.RoleAdmin, ID: "box/clerk", Space: "main"}
	run := func(do func() error) func() {
		return func() {
			t.Helper()
			if err := do(); err != nil {
				t.Error(err)
			}
		}
	}
	var kid, code string
	for _, test := range []struct {
		in           c3po.InviteInput
		guest, named string
	}{
		{c3po.InviteInput{}, "host laptop", "host of any name"},
		{c3po.InviteInput{Host: "nas"}, "host nas", "host nas"},
		{c3po.InviteInput{Person: true}, "person at host laptop", "person at host of any name"},
	} {
		entries := r.recorded(run(func() (err error) { code, _, err = r.Invite(ctx, clerk, test.in); return err }))
		kid, _, _ = strings.Cut(code, "-")
		want := auth.AuditEntry{Event: auth.EventInvited, KID: kid, Role: c3po.RoleAdmin, Agent: "box/clerk", Detail: test.named}
		if len(entries) != 1 || entries[0] != want {
			t.Errorf("an invitation is recorded as %+v, want %+v", entries, want)
		}
		r.wantRecorded("a join", run(func() error { return errOf(r.Join(ctx, guest, c3po.JoinInput{Secret: code, Host: "laptop"})) }),
			auth.AuditEntry{Event: auth.EventJoined, KID: kid, Remote: guest, Detail: test.guest})
	}

	_, mine := r.call(r.mint(auth.Grant{Role: c3po.RoleHuman}))
	var link c3po.LoginLink
	entries := r.recorded(run(func() (err error) {
		link, err = r.LoginLink(mine, c3po.Caller{Role: c3po.RoleHuman, Space: "main"})
		return err
	}))
	kid, _, _ = strings.Cut(link.Code, "-")
	if len(entries) != 1 || entries[0].Event != auth.EventLinkMade || entries[0].KID != kid || entries[0].Role != c3po.RoleHuman || !strings.HasPrefix(entries[0].Detail, "by token ") {
		t.Errorf("a link is recorded as %+v", entries)
	}
	var login c3po.Login
	entries = r.recorded(run(func() (err error) { login, err = r.Login(ctx, guest, c3po.LoginInput{Code: link.Code}); return err }))
	if want := (auth.AuditEntry{Event: auth.EventLogin, KID: kidOf(login.Token), Role: c3po.RoleHuman, Remote: guest, Detail: "by link " + kid}); len(entries) != 1 || entries[0] != want {
		t.Errorf("a login is recorded as %+v, want %+v", entries, want)
	}

	var made, next c3po.NewToken
	in := c3po.TokenInput{Role: c3po.RoleObserver, Spaces: []string{"a", "b"}}
	for _, test := range []struct {
		event, detail string
		do            func() error
		kid           *string
	}{
		{auth.EventTokenCreated, "observer for a,b", func() (err error) { made, err = r.CreateToken(ctx, clerk, in); return err }, &made.KID},
		{auth.EventTokenRotated, "successor ", func() (err error) { next, err = r.RotateToken(ctx, clerk, made.KID); return err }, &made.KID},
		{auth.EventTokenRevoked, "", func() error { return errOf(r.RevokeToken(ctx, clerk, next.KID)) }, &next.KID},
	} {
		entries := r.recorded(run(test.do))
		if test.event == auth.EventTokenRotated {
			test.detail += next.KID
		}
		if want := (auth.AuditEntry{Event: test.event, KID: *test.kid, Role: c3po.RoleAdmin, Agent: "box/clerk", Detail: test.detail}); len(entries) != 1 || entries[0] != want {
			t.Errorf("it is recorded as %+v, want %+v", entries, want)
		}
	}
}

func TestTheAuditNamesWhatAPersonsActWasDoneTo(t *testing.T) {
	t.Parallel()
	r := newRig(t, auth.Config{})
	caller, ctx := r.call(r.mint(auth.Grant{Role: c3po.RoleHuman, Spaces: []string{"team"}}))
	long := strings.Repeat("x", 100)
	for _, test := range []struct{ arguments, decided, want string }{
		{`{}`, "", "resume"},
		{`{"agent_id":"api","target":"b"}`, "", "resume api"},
		{`{"target":"b","room":"c"}`, "", "resume b"},
		{`{"room":"c"}`, "", "resume c"},
		{`{"message_id":"a::b::00000001","response":"secret"}`, "allowed it", "resume a::b::00000001: you allowed it"},
		{`{"name":"n"}`, "", "resume n"},
		{`{"id":"f"}`, "", "resume f"},
		{`{"agent_id":"api","all":true}`, "", "resume everybody"},
		{`{"agent_id":"` + long + `"}`, long, "resume " + long[:80] + "…: you " + long[:80] + "…"},
	} {
		r.wantRecorded(test.arguments, func() {
			r.Acted(ctx, caller, c3po.Human, c3po.Operation{Name: "resume"}, []byte(test.arguments), test.decided)
		}, auth.AuditEntry{
			Event: auth.EventPersonAct, KID: caller.KID, Role: c3po.RoleHuman, Space: "team", Agent: "human", Remote: guest, Detail: test.want,
		})
	}
	pressing, ctx := r.Button(t.Context(), "team")
	if !pressing.Person() || pressing.Space != "team" {
		t.Errorf("a button is pressed by %+v", pressing)
	}
	r.wantRecorded("a button", func() { r.Acted(ctx, pressing, c3po.Human, c3po.Operation{Name: "human_answer"}, []byte(`{}`), "") },
		auth.AuditEntry{Event: auth.EventPersonAct, Role: c3po.RoleHuman, Space: "team", Agent: "human", Remote: "ntfy button", Detail: "human_answer"})
}

func TestTheAuditIsReadInPagesOfAtMostAThousand(t *testing.T) {
	t.Parallel()
	r := newRig(t, auth.Config{})
	for n := range 130 {
		r.Record(t.Context(), auth.AuditEntry{Event: "e", Detail: fmt.Sprint(n)})
	}
	for limit, want := range map[int]int{0: 100, 1: 1, 130: 130, 1000: 130} {
		got, err := r.AuditTail(t.Context(), "", limit)
		if err != nil || len(got) != want || got[want-1].Detail != "129" {
			t.Errorf("with the limit %d there are %d entries, want the last %d: %v", limit, len(got), want, err)
		}
	}
	for _, limit := range []int{-1, 1001} {
		if _, err := r.AuditTail(t.Context(), "", limit); !errors.Is(err, c3po.InvalidRequest) {
			t.Errorf("with the limit %d: %v", limit, err)
		}
	}
	last, err := r.AuditTail(t.Context(), "", 2)
	if err != nil {
		t.Fatal(err)
	}
	if after, err := r.AuditTail(t.Context(), last[0].ID, 0); err != nil || len(after) != 1 || after[0] != last[1] {
		t.Errorf("after the last but one there are %+v, %v", after, err)
	}
	if heads, err := r.AuditHeads(t.Context()); err != nil || heads.Deeds.N != 130 {
		t.Errorf("the chains go as far as %+v, %v", heads, err)
	}
}

// The log is a witness of the audit, and all there is of an entry that the store did not take.
func TestTheLogRepeatsTheAuditAndSaysWhatItCouldNotKeep(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	_, kept := newKeeper(t)
	store := &stubborn{Store: kept}
	k := auth.New(auth.Config{Store: store, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for _, fails := range []bool{false, true} {
		log.Reset()
		store.fail.Store(fails)
		k.Record(t.Context(), auth.AuditEntry{Event: "joined", KID: "abc", Detail: "host nas"})
		said := log.String()
		if !strings.Contains(said, "event=joined kid=abc") || !strings.Contains(said, `detail="host nas"`) {
			t.Errorf("the log lacks the entry: %s", said)
		}
		if strings.Contains(said, "cannot write the audit") != fails || strings.Contains(said, "n=1 hash=") == fails {
			t.Errorf("when the store fails: %v, the log has: %s", fails, said)
		}
	}
}
