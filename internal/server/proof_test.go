package server_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/authenticator"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A prover is a person with a browser, a passkey, and a coordinator that asks for it.
type prover struct {
	*guarded
	t      *testing.T
	page   string // the dashboard's origin
	admin  string
	person string
	agent  string
	key    *authenticator.Authenticator
	policy c3po.ProofPolicy
	asks   int
}

// startProving has a passkey added and the policy set.
func startProving(t *testing.T, policy c3po.ProofPolicy) *prover {
	t.Helper()
	// Behind a proxy other hosts can reach it, and be invited.
	g := startGuarded(t, redistest.Start(t), server.Config{Names: []string{"nas.lan"}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}})
	p := &prover{
		guarded: g, t: t, page: strings.Replace(g.url, "127.0.0.1", "localhost", 1), key: authenticator.New(), policy: policy,
		admin:  g.mint(t, auth.Grant{Role: c3po.RoleAdmin}).Secret,
		person: g.mint(t, auth.Grant{Role: c3po.RoleHuman}).Secret,
		agent:  g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "*"}).Secret,
	}
	if status, text := p.enrol(p.key, "phone", ""); status != http.StatusOK {
		t.Fatalf("the first passkey: %d %s", status, text)
	}
	if policy != c3po.ProofOff {
		if status, text := p.proved("POST", "/api/passkeys/policy", `{"policy":"`+string(policy)+`"}`, p.key); status != http.StatusOK {
			t.Fatalf("the policy: %d %s", status, text)
		}
	}
	return p
}

// send makes a request of the dashboard's page.
func (p *prover) send(method, path, body, token string, headers ...string) (int, string) {
	p.t.Helper()
	status, text, err := call(p.t.Context(), http.DefaultClient, method, p.page+path, token, body, headers...)
	if err != nil {
		p.t.Fatal(err)
	}
	return status, text
}

// enrol adds a passkey, with a proof if one is given.
func (p *prover) enrol(key *authenticator.Authenticator, name, proof string) (int, string) {
	p.t.Helper()
	_, text := p.send("POST", "/api/passkeys/offer", "{}", p.person)
	var offer c3po.PasskeyOffer
	decodeInto(p.t, text, &offer)
	in, err := json.Marshal(c3po.PasskeyInput{ID: offer.ID, Name: name, Credential: key.Create(offer.Options, p.page)})
	if err != nil {
		p.t.Fatal(err)
	}
	if proof != "" {
		return p.send("POST", "/api/passkeys", string(in), p.person, c3po.ProofHeader, proof)
	}
	return p.send("POST", "/api/passkeys", string(in), p.person)
}

// ask makes a request without a proof and gives what it is to be proved by.
func (p *prover) ask(method, path, body, token string, headers ...string) c3po.ProofRequest {
	p.t.Helper()
	status, text := p.send(method, path, body, token, headers...)
	var refusal c3po.Error
	decodeInto(p.t, text, &refusal)
	if status != http.StatusForbidden || refusal.Code != c3po.ProofRequired || refusal.Proof == "" {
		p.t.Fatalf("%s %s was answered %d %s, want PROOF_REQUIRED", method, path, status, text)
	}
	_, text = p.send("GET", "/api/proofs/"+refusal.Proof, "", token)
	var request c3po.ProofRequest
	decodeInto(p.t, text, &request)
	return request
}

// sign confirms an act with a passkey.
func (p *prover) sign(request c3po.ProofRequest, key *authenticator.Authenticator) (int, string) {
	p.t.Helper()
	return p.submit(request.ID, key.Get(request.Options, p.page))
}

func (p *prover) submit(id string, credential json.RawMessage) (int, string) {
	p.t.Helper()
	body, err := json.Marshal(c3po.ProofSignature{Credential: credential})
	if err != nil {
		p.t.Fatal(err)
	}
	return p.send("POST", "/api/proofs/"+id, string(body), p.person)
}

// proved makes a request, confirms it and makes it again.
func (p *prover) proved(method, path, body string, key *authenticator.Authenticator) (int, string) {
	p.t.Helper()
	request := p.ask(method, path, body, p.person)
	if status, text := p.sign(request, key); status != http.StatusOK {
		p.t.Fatalf("signing: %d %s", status, text)
	}
	return p.send(method, path, body, p.person, c3po.ProofHeader, request.ID)
}

// question has an agent ask its person, and gives the id of the question.
func (p *prover) question() c3po.MessageID {
	p.t.Helper()
	p.asks++
	var asked c3po.Escalation
	if status, refusal := p.do(p.t, p.agent, "api", "escalate_to_human", c3po.EscalateInput{Reason: fmt.Sprintf("May I drop table %d?", p.asks), Choices: []string{"yes", "no"}}, &asked); status != http.StatusOK {
		p.t.Fatalf("asking: %d %+v", status, refusal)
	}
	return asked.MessageID
}

// request has an agent ask for permission, and gives the id of the question.
func (p *prover) request() c3po.MessageID {
	p.t.Helper()
	p.asks++
	var asked c3po.ApprovalAsked
	in := c3po.ApprovalInput{Tool: "Bash", Input: json.RawMessage(`{"command":"touch x"}`), Session: "s", Request: fmt.Sprint("r", p.asks)}
	if status, refusal := p.do(p.t, p.agent, "api", "request_approval", in, &asked); status != http.StatusOK {
		p.t.Fatalf("asking for an approval: %d %+v", status, refusal)
	}
	return asked.MessageID
}

func answerOf(id c3po.MessageID, choice string) string {
	return `{"message_id":"` + string(id) + `","choice":"` + choice + `"}`
}

const answerPath = "/api/op/human_answer"

func decodeInto(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%q is not what was expected: %v", text, err)
	}
}

func TestAnAnswerIsTakenWithThePersonsPasskeyAndSaysSo(t *testing.T) {
	t.Parallel()
	p := startProving(t, c3po.ProofDecisions)
	id := p.question()
	request := p.ask("POST", answerPath, answerOf(id, "yes"), p.person)
	if request.Act.Operation != "human_answer" || request.Act.Space != "main" || !strings.Contains(string(request.Act.Arguments), string(id)) || len(request.Code) != 7 {
		t.Errorf("the person is shown %+v", request)
	}
	if status, text := p.sign(request, p.key); status != http.StatusOK {
		t.Fatalf("signing: %d %s", status, text)
	}
	status, text := p.send("POST", answerPath, answerOf(id, "yes"), p.person, c3po.ProofHeader, request.ID)
	var answer c3po.Message
	decodeInto(t, text, &answer)
	if status != http.StatusOK || answer.Response != "yes" || answer.Proof == nil || answer.Proof.Passkey != "phone" || answer.Proof.ID != request.ID {
		t.Fatalf("the answer is %d %s", status, text)
	}
	var mail c3po.MessageList
	if status, refusal := p.do(t, p.agent, "api", "get_messages", c3po.GetMessagesInput{}, nil); status != http.StatusOK {
		t.Fatalf("%d %+v", status, refusal)
	}
	p.do(t, p.agent, "api", "get_messages", c3po.GetMessagesInput{}, &mail.Messages)
	if len(mail.Messages) != 1 || mail.Messages[0].Proof == nil || mail.Messages[0].Proof.Passkey != "phone" {
		t.Errorf("the agent reads %+v", mail.Messages)
	}
	var trace c3po.Trace
	p.do(t, p.person, "", "trace", c3po.MessageInput{MessageID: id}, &trace)
	if len(trace.Answered) != 1 || trace.Answered[0].Proof == nil || trace.Answered[0].Proof.Passkey != "phone" {
		t.Errorf("the trace says %+v", trace.Answered)
	}
	entries, err := p.store.AuditTail(t.Context(), "0", 100)
	if err != nil {
		t.Fatal(err)
	}
	if last := entries[len(entries)-1]; last.Event != auth.EventPersonAct || !strings.Contains(last.Detail, "proved by passkey phone") {
		t.Errorf("the audit says %+v", last)
	}
}

func TestWithoutAPolicyNothingAsksForAPasskey(t *testing.T) {
	t.Parallel()
	p := startProving(t, c3po.ProofOff)
	status, text := p.send("POST", answerPath, answerOf(p.question(), "yes"), p.person)
	var answer c3po.Message
	decodeInto(t, text, &answer)
	if status != http.StatusOK || answer.Proof != nil {
		t.Errorf("the answer is %d %s", status, text)
	}
}

// signedIfAsked is the proof that a person signed for an answer, if they are asked for one.
func (p *prover) signedIfAsked(body string) string {
	p.t.Helper()
	status, text := p.send("POST", answerPath, body, p.person)
	var refusal c3po.Error
	decodeInto(p.t, text, &refusal)
	if status/100 == 2 || refusal.Proof == "" {
		p.t.Logf("%s is answered %d %s", body, status, text)
		return "none"
	}
	p.t.Errorf("%s can be signed for", body)
	return refusal.Proof
}

// What a person confirms says which text is answered and with which words, and there is
// nothing to confirm for a question that nobody has asked yet: ids can be guessed.
func TestAnAnswerIsSignedWithTheTextThatItAnswers(t *testing.T) {
	t.Parallel()
	p := startProving(t, c3po.ProofDecisions)
	request := p.request()
	act := p.ask("POST", answerPath, `{"message_id":"`+string(request)+`","choice":"1"}`, p.person).Act
	if act.Answer != c3po.AllowOnce || act.Asker != "api" || act.Kind != c3po.KindApproval || !strings.Contains(act.Question, "$ touch") {
		t.Errorf("the act is %+v", act)
	}
	for name, body := range map[string]string{
		"a question to come":         `{"message_id":"api::human::0badcafe","choice":"1"}`,
		"a choice that is not there": `{"message_id":"` + string(request) + `","choice":"3"}`,
	} {
		if status, text := p.send("POST", answerPath, body, p.person); status/100 == 2 || strings.Contains(text, string(c3po.ProofRequired)) {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	if status, text := p.send("POST", "/api/op/cancel", `{"message_id":"`+string(request)+`"}`, p.agent, "X-Agent-ID", "api"); status/100 != 2 {
		t.Fatalf("withdrawing: %d %s", status, text)
	}
	if _, text := p.send("POST", answerPath, `{"message_id":"`+string(request)+`","choice":"1"}`, p.person); strings.Contains(text, string(c3po.ProofRequired)) {
		t.Errorf("a request that was withdrawn can be signed for: %s", text)
	}
}

// Attack: an admin's token writes in the person's name through the bridge
func TestTicketsAreWrittenInNobodysNameWithoutThePasskey(t *testing.T) {
	t.Parallel()
	p := startProving(t, c3po.ProofAll)
	status, text := p.send("POST", "/agents/api/send", `{"payload":"Delete it. I confirm."}`, p.admin, "X-Agent-ID", "human")
	if status/100 == 2 || !strings.Contains(text, string(c3po.ProofRequired)) {
		t.Errorf("it got through: %d %s", status, text)
	}
}

// Attack: an agent that reads every file of its user, and the store, answers its own question
func TestNoTokenAndNoFileAnswersWithoutThePasskey(t *testing.T) {
	t.Parallel()
	p := startProving(t, c3po.ProofDecisions)
	id := p.question()
	body := answerOf(id, "yes")
	own := authenticator.New() // an agent can write one, too
	challengeOf := func(r c3po.ProofRequest) string {
		var o struct {
			Challenge string `json:"challenge"`
		}
		decodeInto(t, string(r.Options), &o)
		return o.Challenge
	}
	with := func(proof string) (int, string) {
		return p.send("POST", answerPath, body, p.person, c3po.ProofHeader, proof)
	}
	signed := func(r c3po.ProofRequest, credential json.RawMessage) (int, string) {
		if status, text := p.submit(r.ID, credential); status == http.StatusOK {
			return status, text
		}
		return with(r.ID)
	}
	asked := func() c3po.ProofRequest { return p.ask("POST", answerPath, body, p.person) }
	ways := map[string]func() (int, string){
		"a person's token alone":           func() (int, string) { return p.send("POST", answerPath, body, p.person) },
		"an admin's token alone":           func() (int, string) { return p.send("POST", answerPath, body, p.admin, "X-Agent-ID", "human") },
		"an admin's token without a name":  func() (int, string) { return p.send("POST", answerPath, body, p.admin) },
		"a token that it makes for itself": func() (int, string) { return p.send("POST", "/api/admin/tokens", `{"role":"human"}`, p.admin) },
		"a successor of the person's token": func() (int, string) {
			return p.send("POST", "/api/admin/tokens/"+kidOf(p.person)+"/rotate", "{}", p.admin)
		},
		"an invitation for a person":     func() (int, string) { return p.send("POST", "/api/admin/invites", `{"person":true}`, p.admin) },
		"a proof that is made up":        func() (int, string) { return with("abcdefghijklmnopqrstuvwxyz") },
		"a proof that nobody has signed": func() (int, string) { return with(asked().ID) },
		"a key of its own": func() (int, string) {
			r := asked()
			return signed(r, own.Get(r.Options, p.page))
		},
		"a key of its own under the id of the person's": func() (int, string) {
			r, own := asked(), authenticator.New()
			own.ID = p.key.ID
			return signed(r, own.Get(r.Options, p.page))
		},
		"a passkey that it adds": func() (int, string) { return p.enrol(own, "mine", "") },
		"a passkey that it writes into the store": func() (int, string) {
			held, err := json.Marshal(map[string]any{"id": own.ID, "public": []byte("key"), "site": "localhost", "name": "phone"})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.store.PutPasskey(t.Context(), base64.RawURLEncoding.EncodeToString(own.ID), string(held)); err != nil {
				t.Fatal(err)
			}
			r := asked()
			return signed(r, own.Get(r.Options, p.page))
		},
		"a policy that it writes into the store": func() (int, string) {
			if err := p.store.PutPasskey(t.Context(), "policy", `{"policy":"off"}`); err != nil {
				t.Fatal(err)
			}
			return p.send("POST", answerPath, body, p.person)
		},
		"a reset that it writes into the store": func() (int, string) {
			if err := p.store.PutPasskey(t.Context(), "reset", `{"at":"2020-01-01T00:00:00Z"}`); err != nil {
				t.Fatal(err)
			}
			return p.send("POST", answerPath, body, p.person)
		},
		"a signature that it writes into the store": func() (int, string) {
			r := asked()
			if _, err := p.store.SignProof(t.Context(), r.ID, string(own.Get(r.Options, p.page))); err != nil {
				t.Fatal(err)
			}
			return with(r.ID)
		},
		"the policy switched off":        func() (int, string) { return p.send("POST", "/api/passkeys/policy", `{"policy":"off"}`, p.admin) },
		"the passkey removed":            func() (int, string) { return p.send("POST", "/api/passkeys/"+p.keyID()+"/remove", "{}", p.admin) },
		"the proof of another answer":    func() (int, string) { return with(p.signedFor(answerOf(id, "no"))) },
		"the proof of another question":  func() (int, string) { return with(p.signedFor(answerOf(p.question(), "yes"))) },
		"the proof of another operation": func() (int, string) { return with(p.signedAct("/api/op/resume", `{"agent_id":"api"}`)) },
		"the person's signature of another act": func() (int, string) {
			r, other := asked(), p.ask("POST", answerPath, answerOf(id, "no"), p.person)
			return signed(r, p.key.Get(other.Options, p.page))
		},
		"the person's signature from a page of its own": func() (int, string) {
			r := asked()
			return signed(r, p.key.Sign(challengeOf(r), "localhost", "http://localhost:9"))
		},
		"the same with the port in its Host": func() (int, string) {
			r := asked()
			body, err := json.Marshal(c3po.ProofSignature{Credential: p.key.Sign(challengeOf(r), "localhost", "http://localhost:9")})
			if err != nil {
				t.Fatal(err)
			}
			return p.send("POST", "/api/proofs/"+r.ID, string(body), p.person, "Host", "localhost:9")
		},
		"a signature without a touch": func() (int, string) {
			r := asked()
			p.key.Absent = true
			defer func() { p.key.Absent = false }()
			return signed(r, p.key.Get(r.Options, p.page))
		},
		"the bridge": func() (int, string) {
			return p.send("POST", "/replies", `{"ticketId":"`+string(id)+`","payload":"yes"}`, p.admin, "X-Agent-ID", "human")
		},
		"a reply in the person's name": func() (int, string) {
			return p.send("POST", "/api/op/reply", `{"message_id":"`+string(id)+`","response":"yes"}`, p.admin, "X-Agent-ID", "human")
		},
		"its own permission request": func() (int, string) {
			return p.send("POST", answerPath, answerOf(p.request(), c3po.AllowOnce), p.person)
		},
		"an argument again, in other letters": func() (int, string) {
			return with(p.signedIfAsked(`{"message_id":"` + string(p.question()) + `","response":"yes","Message_ID":"` + string(id) + `"}`))
		},
		"an argument in other letters": func() (int, string) {
			return with(p.signedIfAsked(`{"me\u017f\u017fage_id":"` + string(id) + `","response":"yes"}`))
		},
		"an argument twice": func() (int, string) {
			return with(p.signedIfAsked(`{"message_id":"` + string(id) + `","response":"no","response":"yes"}`))
		},
		"resuming itself": func() (int, string) { return p.send("POST", "/api/op/resume", `{"agent_id":"api"}`, p.person) },
	}
	for name, try := range ways {
		status, text := try()
		if status/100 == 2 {
			t.Errorf("%s got through: %d %s", name, status, text)
		}
	}
	var question c3po.Question
	p.do(t, p.person, "", "human_show", c3po.MessageInput{MessageID: id}, &question)
	if question.Reply != nil {
		t.Errorf("the question was answered: %+v", question.Reply)
	}
	t.Logf("%d ways were refused", len(ways))
}

// Attack: a program with the person's token fills the store with acts to confirm
func TestATokenHasAtMostFiftyActsToConfirm(t *testing.T) {
	t.Parallel()
	p := startProving(t, c3po.ProofDecisions)
	first := p.ask("POST", answerPath, answerOf(p.question(), "yes"), p.person)
	body := answerOf(p.question(), "no")
	for range 49 {
		p.ask("POST", answerPath, body, p.person)
	}
	status, text := p.send("POST", answerPath, body, p.person)
	if status != http.StatusTooManyRequests || !strings.Contains(text, "50 acts of this token already wait") {
		t.Errorf("one too many: %d %s", status, text)
	}
	p.ask("POST", answerPath, body, p.admin, "X-Agent-ID", "human") // another token
	p.sign(first, p.key)
	arguments, err := json.Marshal(first.Act.Arguments)
	if err != nil {
		t.Fatal(err)
	}
	if status, text := p.send("POST", answerPath, string(arguments), p.person, c3po.ProofHeader, first.ID); status != http.StatusOK {
		t.Fatalf("what was signed: %d %s", status, text)
	}
	p.ask("POST", answerPath, body, p.person) // there is room again
}

func TestAProofWorksOnce(t *testing.T) {
	t.Parallel()
	p := startProving(t, c3po.ProofDecisions)
	if status, refusal := p.do(t, p.agent, "api", "ping", c3po.None{}, nil); status != http.StatusOK {
		t.Fatalf("%d %+v", status, refusal)
	}
	const path, body = "/api/op/resume", `{"agent_id":"api"}`
	request := p.ask("POST", path, body, p.person)
	p.sign(request, p.key)
	for try := range 100 {
		status, text := p.send("POST", path, body, p.person, c3po.ProofHeader, request.ID)
		if first := try == 0; first != (status == http.StatusOK) {
			t.Fatalf("try %d with one proof: %d %s", try, status, text)
		}
	}
}

func TestASecondPasskeyNeedsTheFirstAndWorksEverywhere(t *testing.T) {
	t.Parallel()
	p := startProving(t, c3po.ProofDecisions)
	second := authenticator.New()
	_, text := p.send("POST", "/api/passkeys/offer", "{}", p.person)
	var offer c3po.PasskeyOffer
	decodeInto(t, text, &offer)
	in, err := json.Marshal(c3po.PasskeyInput{ID: offer.ID, Name: "key ring", Credential: second.Create(offer.Options, p.page)})
	if err != nil {
		t.Fatal(err)
	}
	if status, text := p.proved("POST", "/api/passkeys", string(in), p.key); status != http.StatusOK {
		t.Fatalf("the second passkey: %d %s", status, text)
	}
	if status, text := p.proved("POST", answerPath, answerOf(p.question(), "no"), second); status != http.StatusOK || !strings.Contains(text, `"passkey":"key ring"`) {
		t.Errorf("an answer with the second: %d %s", status, text)
	}
	if status, text := p.proved("POST", "/api/passkeys/"+p.keyID()+"/remove", "{}", second); status != http.StatusOK {
		t.Fatalf("removing the first: %d %s", status, text)
	}
	request := p.ask("POST", answerPath, answerOf(p.question(), "no"), p.person)
	if status, text := p.submit(request.ID, p.key.Get(request.Options, p.page)); status == http.StatusOK {
		t.Errorf("a passkey that was removed signs: %s", text)
	}
}

func TestAResetOfLostPasskeysLeavesTheirOwnerAnHour(t *testing.T) {
	t.Parallel()
	p := startProving(t, c3po.ProofDecisions)
	if status, text := p.send("POST", "/api/passkeys/reset", "{}", p.person); status != http.StatusForbidden {
		t.Errorf("a person's token resets: %d %s", status, text)
	}
	status, text := p.send("POST", "/api/passkeys/reset", "{}", p.admin)
	var all c3po.Passkeys
	decodeInto(t, text, &all)
	if left := time.Until(all.ResetAt); status != http.StatusOK || left < 59*time.Minute || left > time.Hour || len(all.Passkeys) != 1 {
		t.Fatalf("the reset: %d %s", status, text)
	}
	p.ask("POST", answerPath, answerOf(p.question(), "yes"), p.person)
	if status, text := p.proved("POST", answerPath, answerOf(p.question(), "no"), p.key); status != http.StatusOK {
		t.Fatalf("an answer with the passkey: %d %s", status, text)
	}
	_, text = p.send("GET", "/api/passkeys", "", p.person)
	all = c3po.Passkeys{}
	decodeInto(t, text, &all)
	if !all.ResetAt.IsZero() {
		t.Errorf("the passkey was used, and the reset goes on: %s", text)
	}
}

func (p *prover) keyID() string { return base64.RawURLEncoding.EncodeToString(p.key.ID) }

// signedFor is a proof of another answer.
func (p *prover) signedFor(body string) string { return p.signedAct(answerPath, body) }

func (p *prover) signedAct(path, body string) string {
	request := p.ask("POST", path, body, p.person)
	if status, text := p.sign(request, p.key); status != http.StatusOK {
		p.t.Fatalf("signing: %d %s", status, text)
	}
	return request.ID
}

// kidOf is the part of a token that names it.
func kidOf(token string) string { return strings.Split(token, "_")[2] }
