package auth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/auth/passkey"
	"github.com/c3po-dev/c3po/internal/testkit/authenticator"
)

const page = "http://localhost:8420" // of the dashboard

// A person is a rig whose person has a passkey called phone.
type person struct {
	*rig
	token string
	phone *authenticator.Authenticator
}

func newPerson(t *testing.T, policy c3po.ProofPolicy, cfg auth.Config) *person {
	t.Helper()
	p := &person{rig: newRig(t, cfg), phone: authenticator.New()}
	p.ServeAt(passkey.Origins{page})
	p.token = p.mint(auth.Grant{Role: c3po.RoleHuman})
	if err := p.enrol(p.phone, "phone"); err != nil {
		t.Fatal(err)
	}
	if policy != c3po.ProofOff {
		if err := p.proved(p.setPolicy(policy)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// as is a request of the person's, with a proof unless that is empty.
func (p *person) as(proof string) (context.Context, c3po.Caller) {
	p.t.Helper()
	var headers []string
	if proof != "" {
		headers = []string{c3po.ProofHeader, proof}
	}
	caller, ctx := p.call(p.token, headers...)
	return ctx, caller
}

type deed = func(context.Context, c3po.Caller) error

func (p *person) setPolicy(policy c3po.ProofPolicy) deed {
	return func(ctx context.Context, caller c3po.Caller) error {
		return errOf(p.SetProofPolicy(ctx, caller, c3po.ProofPolicyInput{Policy: policy}))
	}
}

func (p *person) remove(key *authenticator.Authenticator) deed {
	return func(ctx context.Context, caller c3po.Caller) error {
		return errOf(p.RemovePasskey(ctx, caller, idOf(key)))
	}
}

func idOf(key *authenticator.Authenticator) string {
	var made struct{ ID string }
	if err := json.Unmarshal(key.Sign("", "", ""), &made); err != nil {
		panic(err)
	}
	return made.ID
}

// enrol adds a passkey with the phone's consent if that is needed.
func (p *person) enrol(key *authenticator.Authenticator, name string) error {
	p.t.Helper()
	ctx, caller := p.as("")
	offer, err := p.OfferPasskey(ctx, caller, "localhost")
	if err != nil {
		p.t.Fatal(err)
	}
	in := c3po.PasskeyInput{ID: offer.ID, Name: name, Credential: key.Create(offer.Options, page)}
	return p.proved(func(ctx context.Context, caller c3po.Caller) error { return errOf(p.AddPasskey(ctx, caller, in)) })
}

func (p *person) sign(id string, key *authenticator.Authenticator) error {
	p.t.Helper()
	ctx, caller := p.as("")
	request, err := p.ProofRequest(ctx, caller, id, "localhost")
	if err != nil {
		p.t.Fatal(err)
	}
	return p.SignProof(ctx, caller, id, key.Get(request.Options, page))
}

// proved does something, signed with the phone if that is demanded.
func (p *person) proved(do deed) error {
	p.t.Helper()
	err := do(p.as(""))
	refused := c3po.AsError(err)
	if err == nil || refused.Proof == "" {
		return err
	}
	if err := p.sign(refused.Proof, p.phone); err != nil {
		return err
	}
	return do(p.as(refused.Proof))
}

func (p *person) prove(proof string, act c3po.Act) (context.Context, error) {
	p.t.Helper()
	ctx, caller := p.as(proof)
	return p.Prove(ctx, caller, act, nil)
}

// ask has an act refused until it is signed, and gives the id of its proof.
func (p *person) ask(act c3po.Act) string {
	p.t.Helper()
	_, err := p.prove("", act)
	refused := c3po.AsError(err)
	if !errors.Is(err, c3po.ProofRequired) || refused.Proof == "" || !strings.HasSuffix(refused.Suggestion, "#/prove/"+refused.Proof) {
		p.t.Fatalf("it is answered %+v", refused)
	}
	return refused.Proof
}

func (p *person) signed(act c3po.Act) string {
	p.t.Helper()
	id := p.ask(act)
	if err := p.sign(id, p.phone); err != nil {
		p.t.Fatal(err)
	}
	return id
}

func answering(choice string) c3po.Act {
	return c3po.Act{Operation: "human_answer", As: c3po.Human, Arguments: json.RawMessage(`{ "choice": "` + choice + `" }`)}
}

func TestAPersonSeesWhatTheySignAndItIsDoneOnce(t *testing.T) {
	t.Parallel()
	p := newPerson(t, c3po.ProofDecisions, auth.Config{})
	id := p.ask(answering("yes"))
	look := func(site string, state c3po.ProofState, options bool) c3po.ProofRequest {
		t.Helper()
		ctx, caller := p.as("")
		request, err := p.ProofRequest(ctx, caller, id, site)
		if err != nil || request.State != state || (request.Options != nil) != options {
			t.Errorf("the person sees %+v, %v", request, err)
		}
		return request
	}
	request := look("localhost", c3po.ProofWaits, true)
	look("elsewhere", c3po.ProofWaits, false)
	want := c3po.Act{Operation: "human_answer", Space: "main", As: c3po.Human, Arguments: json.RawMessage(`{"choice":"yes"}`)}
	if diff := cmp.Diff(want, request.Act); diff != "" || request.ID != id || !regexp.MustCompile(`^[A-Z2-7]{3}-[A-Z2-7]{3}$`).MatchString(request.Code) {
		t.Errorf("the person sees the code %s and signs (-want +got):\n%s", request.Code, diff)
	}
	if left := time.Until(request.Expires); left < 4*time.Minute || left > 5*time.Minute {
		t.Errorf("they have %v", left)
	}
	if err := p.sign(id, p.phone); err != nil {
		t.Fatal(err)
	}
	look("localhost", c3po.ProofSigned, false)
	ctx, caller := p.as("")
	if err := p.SignProof(ctx, caller, id, p.phone.Get(request.Options, page)); !errors.Is(err, c3po.Forbidden) || !strings.Contains(err.Error(), "is signed already") {
		t.Errorf("another signature: %v", err)
	}
	ctx, err := p.prove(id, answering("yes"))
	if err != nil {
		t.Fatal(err)
	}
	if proof := c3po.ProofOf(ctx); proof == nil || proof.ID != id || proof.Passkey != "phone" || time.Since(proof.At) > time.Minute {
		t.Errorf("it was proved by %+v", proof)
	}
	look("localhost", c3po.ProofUsed, false)
	if _, err := p.prove(id, answering("yes")); !errors.Is(err, c3po.Forbidden) || !strings.Contains(err.Error(), "was used before") {
		t.Errorf("the second time: %v", err)
	}
	if _, err := p.ProofRequest(ctx, caller, "made-up", "localhost"); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("a proof that nobody asked for: %v", err)
	}
}

// What an act is about is looked up only once somebody has to sign it, and is signed too.
func TestWhatAnActIsAboutIsSignedWithIt(t *testing.T) {
	t.Parallel()
	p := newPerson(t, c3po.ProofDecisions, auth.Config{})
	gone := errors.New("the question is gone")
	about, fails := "May I?", error(nil)
	describe := func(_ context.Context, act *c3po.Act) error {
		act.Question = about
		return fails
	}
	prove := func(proof string, act c3po.Act) error {
		ctx, caller := p.as(proof)
		return errOf(p.Prove(ctx, caller, act, describe))
	}
	id := c3po.AsError(prove("", answering("yes"))).Proof
	if err := p.sign(id, p.phone); err != nil {
		t.Fatal(err)
	}
	about = "May I drop it?"
	if err := prove(id, answering("yes")); !errors.Is(err, c3po.Forbidden) {
		t.Errorf("the signature for another question: %v", err)
	}
	about = "May I?"
	if err := prove(id, answering("yes")); err != nil {
		t.Errorf("the signature for the question: %v", err)
	}
	fails = gone
	if err := prove("", answering("yes")); !errors.Is(err, gone) {
		t.Errorf("without a question: %v", err)
	}
	if err := prove("", c3po.Act{Operation: "read"}); err != nil {
		t.Errorf("what needs no proof: %v", err)
	}
	if err := prove("", c3po.Act{Operation: "human_answer", Arguments: json.RawMessage(`{`)}); err == nil {
		t.Error("arguments that are not JSON can be signed for")
	}
}

func TestAProofLetsNothingElseThrough(t *testing.T) {
	t.Parallel()
	p := newPerson(t, c3po.ProofDecisions, auth.Config{})
	other := p.another()
	other.ServeAt(passkey.Origins{page})
	forged := authenticator.New()
	yes := answering("yes")
	for name, test := range map[string]struct {
		proof func() string
		says  string
	}{
		"a made-up proof":    {func() string { return "made-up" }, "this proof is not known here"},
		"one that waits":     {func() string { return p.ask(yes) }, "this proof is not signed yet"},
		"for another answer": {func() string { return p.signed(answering("no")) }, "this proof is for something else"},
		"for another operation": {func() string {
			return p.signed(c3po.Act{Operation: "resume", As: c3po.Human, Arguments: yes.Arguments})
		}, "this proof is for something else"},
		"an old one": {func() string {
			id := p.signed(yes)
			p.advance(11 * time.Minute)
			return id
		}, "this proof has expired"},
		"signed by a stranger": {func() string {
			id := p.ask(yes)
			if err := p.sign(id, forged); !errors.Is(err, c3po.Forbidden) {
				t.Errorf("a stranger signs: %v", err)
			}
			if _, err := p.store.SignProof(t.Context(), id, string(forged.Sign("AAAA", "localhost", page))); err != nil {
				t.Fatal(err)
			}
			return id
		}, "the passkey's signature doesn't count"},
		"used at another coordinator": {func() string {
			id := p.signed(yes)
			ctx, caller := p.as(id)
			if _, err := other.Prove(ctx, caller, yes, nil); err != nil {
				t.Fatal(err)
			}
			return id
		}, "this proof was used before"},
		"used and written back into the store": {func() string {
			id := p.signed(yes)
			record, _, err := p.store.Proof(t.Context(), id)
			if err == nil {
				_, err = p.prove(id, yes)
			}
			if err == nil {
				_, err = p.store.PutProof(t.Context(), id, record.Act, time.Hour)
			}
			if err == nil {
				_, err = p.store.SignProof(t.Context(), id, record.Signature)
			}
			if err != nil {
				t.Fatal(err)
			}
			return id
		}, "this proof was used before"},
	} {
		id := test.proof()
		p.advance(2 * time.Second) // so that it is the first refusal of its second
		entries := p.recorded(func() {
			if _, err := p.prove(id, yes); !errors.Is(err, c3po.Forbidden) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v", name, err)
			}
		})
		if len(entries) != 1 || !strings.HasPrefix(entries[0].Detail, "human_answer: "+test.says) {
			t.Errorf("%s is recorded as %+v", name, entries)
			continue
		}
		entries[0].Detail = ""
		if want := (auth.AuditEntry{Event: auth.EventProofRefused, KID: kidOf(p.token), Role: c3po.RoleHuman, Space: "main", Remote: guest}); entries[0] != want {
			t.Errorf("%s is recorded as %+v", name, entries[0])
		}
	}
}

func TestAProofSurvivesAStoreThatFails(t *testing.T) {
	t.Parallel()
	p := newPerson(t, c3po.ProofDecisions, auth.Config{})
	store := &stubborn{Store: p.store}
	p.cfg.Store = store
	p.Keeper = p.another()
	p.ServeAt(passkey.Origins{page})
	id := p.signed(answering("yes"))
	store.fail.Store(true)
	if _, err := p.prove(id, answering("yes")); !errors.Is(err, c3po.StoreFull) {
		t.Errorf("while the store fails: %v", err)
	}
	store.fail.Store(false)
	if _, err := p.prove(id, answering("yes")); err != nil {
		t.Errorf("after that: %v", err)
	}
}

func TestAPolicySaysWhichActsOfAPersonNeedAPasskey(t *testing.T) {
	t.Parallel()
	for policy, demands := range map[c3po.ProofPolicy]map[string]bool{
		c3po.ProofOff:       {"send_message": false, "human_answer": false, "passkey_add": true, "passkey_remove": true, "proof_policy": true},
		c3po.ProofDecisions: {"send_message": false, "human_answer": true, "passkey_add": true},
		c3po.ProofAll:       {"send_message": true, "human_answer": true, "proof_policy": true},
	} {
		p := newPerson(t, policy, auth.Config{})
		_, agent := p.as("")
		agent.Role = c3po.RoleAgent
		open := p.cfg
		open.Mode = auth.None
		trusting := auth.New(open)
		for operation, want := range demands {
			if _, err := p.prove("", c3po.Act{Operation: operation}); errors.Is(err, c3po.ProofRequired) != want || (err != nil) != want {
				t.Errorf("under %s, %s is answered %v", policy, operation, err)
			}
			if got, err := p.Demands(t.Context(), operation); got != want || err != nil {
				t.Errorf("under %s, %s is said to need a proof: %v, %v", policy, operation, got, err)
			}
			if _, err := p.Prove(t.Context(), agent, c3po.Act{Operation: operation}, nil); err != nil {
				t.Errorf("an agent's %s: %v", operation, err)
			}
			ctx, caller := p.as("")
			if _, err := trusting.Prove(ctx, caller, c3po.Act{Operation: operation}, nil); err != nil {
				t.Errorf("without authentication, %s: %v", operation, err)
			}
			if got, err := trusting.Demands(t.Context(), operation); got || err != nil {
				t.Errorf("without authentication %s is said to need a proof: %v", operation, err)
			}
		}
	}
}

// A program with a person's token must not fill the store.
func TestAtMostFiftyActsOfATokenWaitForASignature(t *testing.T) {
	t.Parallel()
	p := newPerson(t, c3po.ProofDecisions, auth.Config{})
	first := p.signed(answering("yes"))
	for range 49 {
		p.ask(answering("yes"))
	}
	full := func() bool {
		_, err := p.prove("", answering("yes"))
		return errors.Is(err, c3po.RateLimited)
	}
	if !full() {
		t.Error("a 51st is accepted")
	}
	mine := p.token
	p.token = p.mint(auth.Grant{Role: c3po.RoleHuman})
	p.ask(answering("yes")) // another token
	p.token = mine
	if _, err := p.prove(first, answering("yes")); err != nil {
		t.Fatal(err)
	}
	if full() {
		t.Error("one that was used still counts")
	}
	if !full() {
		t.Error("a 51st is accepted after one was used")
	}
	p.advance(5 * time.Minute)
	if full() {
		t.Error("those that have expired still count")
	}
}

func TestAWithheldMessageIsRecordedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, auth.Config{})
	now := time.Now()
	r.cfg.Now = func() time.Time { return now }
	r.Keeper = r.another()
	withhold := func(n int) func() {
		return func() { r.Withheld(t.Context(), "main", c3po.MessageID(fmt.Sprintf("human::api::%08x", n))) }
	}
	want := auth.AuditEntry{Event: auth.EventProofRefused, Space: "main", Agent: "api", Detail: "withheld, as no passkey has signed it: human::api::00000001"}
	r.wantRecorded("the first time", withhold(1), want)
	r.wantRecorded("the second time", withhold(1))
	if entries := r.recorded(func() {
		for n := range 20 {
			withhold(n + 2)()
		}
	}); len(entries) != 4 {
		t.Errorf("of 20 more within a second %d are recorded, want 4", len(entries))
	}
}
