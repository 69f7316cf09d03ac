package auth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/auth/passkey"
	"github.com/c3po-dev/c3po/internal/testkit/authenticator"
)

func TestAPasskeyIsAddedAndRemovedWithTheConsentOfAnother(t *testing.T) {
	t.Parallel()
	p := newPerson(t, c3po.ProofOff, auth.Config{})
	ring := authenticator.New()
	names := func(k *auth.Keeper) string {
		t.Helper()
		ctx, caller := p.as("")
		all, err := k.Passkeys(ctx, caller)
		if err != nil {
			t.Fatal(err)
		}
		text := string(all.Policy)
		for _, key := range all.Passkeys {
			text += " " + key.Name + "@" + key.Site
		}
		return text
	}
	elsewhere := p.another()
	elsewhere.ServeAt(passkey.Origins{page})
	wantNames := func(want string) {
		t.Helper()
		p.advance(2 * time.Second) // for the other coordinator to look
		for where, k := range map[string]*auth.Keeper{"here": p.Keeper, "elsewhere": elsewhere} {
			if got := names(k); got != want {
				t.Errorf("%s there are %q, want %q", where, got, want)
			}
		}
	}
	wantNames("off phone@localhost")
	for _, test := range []struct {
		detail string
		do     func() error
		after  string
	}{
		{"added key ring", func() error { return p.enrol(ring, " key ring ") }, "off phone@localhost key ring@localhost"},
		{"policy everything", func() error { return p.proved(p.setPolicy(c3po.ProofAll)) }, "everything phone@localhost key ring@localhost"},
		{"removed key ring", func() error { return p.proved(p.remove(ring)) }, "everything phone@localhost"},
	} {
		entries := p.recorded(func() {
			if err := test.do(); err != nil {
				t.Fatalf("%s: %v", test.detail, err)
			}
		})
		if len(entries) != 1 || entries[0].Event != auth.EventPasskey || entries[0].Remote != guest || entries[0].KID != kidOf(p.token) ||
			!strings.HasPrefix(entries[0].Detail, test.detail+", proved by passkey phone (") {
			t.Errorf("%s is recorded as %+v", test.detail, entries)
		}
		wantNames(test.after)
	}
	if err := p.sign(p.ask(answering("yes")), ring); !errors.Is(err, c3po.Forbidden) {
		t.Errorf("one that was removed signs: %v", err)
	}
	if err := p.proved(p.remove(ring)); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("one that was removed is removed: %v", err)
	}
	if err := p.proved(p.remove(p.phone)); err != nil {
		t.Errorf("the last one cannot be removed: %v", err)
	}
	if _, err := p.prove("", answering("yes")); !errors.Is(err, c3po.ProofRequired) || c3po.AsError(err).Proof != "" {
		t.Errorf("without a passkey, what needs one is answered %v", err)
	}
}

func TestAPasskeyThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	p := newPerson(t, c3po.ProofOff, auth.Config{})
	key := authenticator.New()
	for name, ok := range map[string]bool{"": false, "  ": false, "a\x1bb": false, strings.Repeat("é", 41): false, "PHONE": false, strings.Repeat("é", 40): true} {
		if err := p.enrol(authenticator.New(), name); (err == nil) != ok || !ok && !errors.Is(err, c3po.InvalidRequest) {
			t.Errorf("the name %q: %v", name, err)
		}
	}
	ctx, caller := p.as("")
	offer, err := p.OfferPasskey(ctx, caller, "localhost")
	if err != nil {
		t.Fatal(err)
	}
	add := func(id string, credential json.RawMessage) error {
		return p.proved(func(ctx context.Context, caller c3po.Caller) error {
			return errOf(p.AddPasskey(ctx, caller, c3po.PasskeyInput{ID: id, Name: "key " + id, Credential: credential}))
		})
	}
	if err := add(offer.ID, key.Create(offer.Options, "http://localhost:9")); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("one made on another page: %v", err)
	}
	if err := add("made-up", key.Create(offer.Options, page)); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("one made for another offer: %v", err)
	}
	if err := add(offer.ID, key.Create(offer.Options, page)); err != nil {
		t.Errorf("one made for the offer: %v", err)
	}
	if err := add(offer.ID, key.Create(offer.Options, page)); !errors.Is(err, c3po.InvalidRequest) && !errors.Is(err, c3po.Forbidden) {
		t.Errorf("a second one for the offer: %v", err)
	}
	if err := p.proved(func(ctx context.Context, caller c3po.Caller) error {
		return errOf(p.RemovePasskey(ctx, caller, "made-up"))
	}); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("removing one that is not there: %v", err)
	}
	if err := p.proved(p.setPolicy("sometimes")); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("an unknown policy: %v", err)
	}
	bare := newRig(t, auth.Config{})
	boss := c3po.Caller{Role: c3po.RoleAdmin, Space: "main"}
	for policy, want := range map[c3po.ProofPolicy]error{c3po.ProofDecisions: c3po.InvalidRequest, c3po.ProofOff: nil} {
		if _, err := bare.SetProofPolicy(t.Context(), boss, c3po.ProofPolicyInput{Policy: policy}); !errors.Is(err, want) {
			t.Errorf("the policy %s without a passkey: %v", policy, err)
		}
	}
	if _, err := bare.ResetPasskeys(t.Context(), boss); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("a reset without a passkey: %v", err)
	}
}

func TestOnlyAPersonHasPasskeys(t *testing.T) {
	t.Parallel()
	p := newPerson(t, c3po.ProofDecisions, auth.Config{})
	id := p.ask(answering("yes"))
	ctx, human := p.as("")
	agent := c3po.Caller{Role: c3po.RoleAgent, Space: "main", ID: "api"}
	for name, try := range map[string]func(c3po.Caller) error{
		"listing":  func(c c3po.Caller) error { return errOf(p.Passkeys(ctx, c)) },
		"an offer": func(c c3po.Caller) error { return errOf(p.OfferPasskey(ctx, c, "localhost")) },
		"adding":   func(c c3po.Caller) error { return errOf(p.AddPasskey(ctx, c, c3po.PasskeyInput{Name: "x"})) },
		"removing": func(c c3po.Caller) error { return errOf(p.RemovePasskey(ctx, c, idOf(p.phone))) },
		"a policy": func(c c3po.Caller) error { return p.setPolicy(c3po.ProofOff)(ctx, c) },
		"looking":  func(c c3po.Caller) error { return errOf(p.ProofRequest(ctx, c, id, "localhost")) },
		"signing":  func(c c3po.Caller) error { return p.SignProof(ctx, c, id, nil) },
		"a reset":  func(c c3po.Caller) error { return errOf(p.ResetPasskeys(ctx, c)) },
	} {
		if err := try(agent); !errors.Is(err, c3po.Forbidden) {
			t.Errorf("%s by an agent: %v", name, err)
		}
	}
	if _, err := p.ResetPasskeys(ctx, human); !errors.Is(err, c3po.Forbidden) {
		t.Errorf("a reset by a person who is no admin: %v", err)
	}
}

func TestAResetForgetsPasskeysAfterAnHourUnlessOneIsUsed(t *testing.T) {
	t.Parallel()
	for _, used := range []bool{true, false} {
		t.Run(fmt.Sprint("used ", used), func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, c3po.ProofDecisions, auth.Config{})
			ctx, caller := p.as("")
			caller.Role = c3po.RoleAdmin
			all, err := p.ResetPasskeys(ctx, caller)
			end := all.ResetAt
			if left := end.Sub(p.cfg.Now()); err != nil || left < 59*time.Minute || left > time.Hour {
				t.Fatalf("they are forgotten in %v, %v", left, err)
			}
			p.advance(30 * time.Minute)
			if all, err = p.ResetPasskeys(ctx, caller); err != nil || !all.ResetAt.Equal(end) {
				t.Errorf("asked again it is at %v, was %v: %v", all.ResetAt, end, err)
			}
			if used {
				entries := p.recorded(func() {
					if _, err := p.prove(p.signed(answering("yes")), answering("yes")); err != nil {
						t.Fatal(err)
					}
				})
				if len(entries) != 1 || entries[0].Event != auth.EventPasskey || !strings.Contains(entries[0].Detail, "the reset was ended") {
					t.Errorf("that is recorded as %+v", entries)
				}
			}
			p.advance(29 * time.Minute)
			p.ask(answering("no"))
			p.advance(2 * time.Minute)
			elsewhere := p.another()
			elsewhere.ServeAt(passkey.Origins{page})
			for _, k := range []*auth.Keeper{p.Keeper, elsewhere} {
				all, err := k.Passkeys(ctx, caller)
				if err != nil || !all.ResetAt.IsZero() || (len(all.Passkeys) == 1) != used || (all.Policy == c3po.ProofDecisions) != used {
					t.Errorf("after an hour there are %+v, %v", all, err)
				}
			}
			if _, err := p.prove("", answering("yes")); (err == nil) == used {
				t.Errorf("after an hour an act is answered %v", err)
			}
		})
	}
}

// A message in the person's name counts for what a passkey signed, whatever the store says.
func TestOnlyAWorkingPasskeyVouchesForAnAct(t *testing.T) {
	t.Parallel()
	p := newPerson(t, c3po.ProofDecisions, auth.Config{})
	id, waits := p.signed(answering("yes")), p.ask(answering("yes"))
	forged := p.ask(answering("no"))
	if _, err := p.store.SignProof(t.Context(), forged, string(authenticator.New().Sign("AAAA", "localhost", page))); err != nil {
		t.Fatal(err)
	}
	open := p.cfg
	open.Mode = auth.None
	trusting, now := auth.New(open), time.Now()
	wants := func(name string, k *auth.Keeper, id string, at time.Time, want bool) {
		t.Helper()
		for range 2 { // from the store, and from memory
			act, proof, ok, err := k.Signed(t.Context(), c3po.Proof{ID: id, Passkey: "key ring", At: at})
			if ok != want || err != nil {
				t.Errorf("%s counts: %v, %v", name, ok, err)
			}
			if ok && (string(act.Arguments) != `{"choice":"yes"}` || proof != c3po.Proof{ID: id, Passkey: "phone", At: at}) {
				t.Errorf("%s: %+v was signed, by %+v", name, act, proof)
			}
		}
	}
	wants("what was signed", p.Keeper, id, now, true)
	wants("what was signed long before", p.Keeper, id, now.Add(time.Hour), false)
	wants("what waits", p.Keeper, waits, now, false)
	wants("what somebody else signed", p.Keeper, forged, now, false)
	wants("a made-up proof", p.Keeper, "abcdefghijklmnopqrstuvwxyz"+id[26:], now, false)
	wants("anything without authentication", trusting, id, now, false)
	if err := p.proved(p.remove(p.phone)); err != nil {
		t.Fatal(err)
	}
	wants("what a removed passkey signed", p.Keeper, id, now, false)
	if err := p.enrol(authenticator.New(), "key ring"); err != nil {
		t.Fatal(err)
	}
	wants("what a replaced passkey signed", p.Keeper, id, now, false)
}
