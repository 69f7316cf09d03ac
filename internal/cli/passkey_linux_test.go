package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/testkit/authenticator"
)

// An intruder is an agent that has left its parents behind: it runs as its user, has read
// every file of theirs, and talks to the coordinator over TCP, the socket and Redis.
type intruder struct {
	home
	key    *authenticator.Authenticator // the person's; the intruder cannot touch it
	own    *authenticator.Authenticator
	page   string
	tokens map[string]string // all that lie in files, and those of the person's other programs
	files  paths.Person
	redis  string // the command that talks to it
	asks   int
}

// newIntruder has a person with a passkey, who proves what the policy says.
func newIntruder(t *testing.T, policy c3po.ProofPolicy) *intruder {
	t.Helper()
	i := &intruder{home: newHome(t), key: authenticator.New(), own: authenticator.New(), tokens: map[string]string{}}
	i.person("c3po up")
	mine, err := paths.ReadPerson(filepath.Join(i.dir, ".config", "c3po"))
	if err != nil || mine == nil {
		t.Fatalf("the person's tokens: %v", err)
	}
	i.files, i.page = *mine, strings.Replace(mine.URL, "127.0.0.1", "localhost", 1)
	for role, agents := range map[string]string{"human": "", "admin": "", "agent": " --agents '*'"} {
		i.tokens[role] = strings.TrimSpace(i.person("c3po token create --role " + role + agents + " --for 'main,*' 2>/dev/null"))
	}
	state := filepath.Join(i.dir, ".local", "state", "c3po")
	password, err := os.ReadFile(filepath.Join(state, "redis", "password.conf"))
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(password))
	i.redis = "redis-cli -s " + filepath.Join(state, "redis.sock") + " -a " + strings.Trim(words[len(words)-1], `"`) + " --no-auth-warning "

	var offer c3po.PasskeyOffer
	i.decode(i.tcp("human", "POST", "/api/passkeys/offer", "{}"), &offer)
	in, err := json.Marshal(c3po.PasskeyInput{ID: offer.ID, Name: "phone", Credential: i.key.Create(offer.Options, i.page)})
	if err != nil {
		t.Fatal(err)
	}
	if got := i.tcp("human", "POST", "/api/passkeys", string(in)); got.status != http.StatusOK {
		t.Fatalf("the passkey: %+v", got)
	}
	if policy != c3po.ProofOff {
		body := `{"policy":"` + string(policy) + `"}`
		got := i.tcp("human", "POST", "/api/passkeys/policy", body, c3po.ProofHeader, i.signed("/api/passkeys/policy", body))
		if got.status != http.StatusOK {
			t.Fatalf("the policy: %+v", got)
		}
	}
	return i
}

// An answered is what the coordinator, or a command, said.
type answered struct {
	status int
	text   string
}

func (i *intruder) decode(got answered, into any) {
	i.t.Helper()
	if err := json.Unmarshal([]byte(got.text), into); err != nil {
		i.t.Fatalf("%+v is not what was expected: %v", got, err)
	}
}

func (i *intruder) ask(via *http.Client, token, method, path, body string, headers ...string) answered {
	i.t.Helper()
	request, err := http.NewRequestWithContext(i.t.Context(), method, i.page+path, strings.NewReader(body))
	if err != nil {
		i.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	for n := 0; n < len(headers); n += 2 {
		request.Header.Set(headers[n], headers[n+1])
	}
	response, err := via.Do(request)
	if err != nil {
		return answered{0, err.Error()}
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return answered{response.StatusCode, string(bytes.TrimSpace(text))}
}

// tcp asks with a token that works anywhere.
func (i *intruder) tcp(role, method, path, body string, headers ...string) answered {
	i.t.Helper()
	return i.ask(http.DefaultClient, i.tokens[role], method, path, body, headers...)
}

// socket asks where the tokens of the person's own files work.
func (i *intruder) socket(token, path, body string, headers ...string) answered {
	i.t.Helper()
	name := i.files.SocketOf(i.files.URL)
	via := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", name)
	}}}
	return i.ask(via, token, http.MethodPost, path, body, headers...)
}

// command runs a line in a terminal that no agent is above of. One that waits for a passkey
// is ended.
func (i *intruder) command(line string) answered {
	i.t.Helper()
	out, ok := i.shell("timeout 3 " + line)
	if ok {
		return answered{http.StatusOK, out}
	}
	return answered{http.StatusForbidden, out}
}

// signed is a proof that the person has signed for an act.
func (i *intruder) signed(path, body string) string {
	i.t.Helper()
	var refusal c3po.Error
	i.decode(i.tcp("human", "POST", path, body), &refusal)
	var request c3po.ProofRequest
	i.decode(i.tcp("human", "GET", "/api/proofs/"+refusal.Proof, ""), &request)
	if got := i.sign(request, i.key.Get(request.Options, i.page)); got.status != http.StatusOK {
		i.t.Fatalf("signing: %+v", got)
	}
	return request.ID
}

func (i *intruder) sign(request c3po.ProofRequest, credential json.RawMessage) answered {
	i.t.Helper()
	body, err := json.Marshal(c3po.ProofSignature{Credential: credential})
	if err != nil {
		i.t.Fatal(err)
	}
	return i.tcp("human", "POST", "/api/proofs/"+request.ID, string(body))
}

// question and request are what the intruder asks of its person: each as another agent, as
// one has at most 20 open.
func (i *intruder) question() c3po.MessageID {
	i.t.Helper()
	i.asks++
	var asked c3po.Escalation
	i.decode(i.tcp("agent", "POST", "/api/op/escalate_to_human", fmt.Sprintf(`{"reason":"May I drop table %d?","choices":["yes","no"]}`, i.asks), "X-Agent-ID", fmt.Sprint("api", i.asks)), &asked)
	if asked.MessageID == "" {
		i.t.Fatal("nothing was asked")
	}
	return asked.MessageID
}

func (i *intruder) request() c3po.MessageID {
	i.t.Helper()
	i.asks++
	var asked c3po.ApprovalAsked
	i.decode(i.tcp("agent", "POST", "/api/op/request_approval", fmt.Sprintf(`{"tool":"Bash","input":{"command":"touch x"},"session":"s","request":"r%d"}`, i.asks), "X-Agent-ID", fmt.Sprint("api", i.asks)), &asked)
	if asked.MessageID == "" {
		i.t.Fatal("nothing was asked")
	}
	return asked.MessageID
}

const (
	answerPath = "/api/op/human_answer"
	decides    = "answer a question, allow a permission, take either out of your mailbox"
	resumes    = "resume an agent or a paused conversation"
	mints      = "make or replace a token, make an invitation"
	relaxes    = "add or remove a passkey, relax the policy"
	never      = "" // whatever the policy
)

// A way is one by which an agent would decide for its person; row is what the table in
// docs/explain/security.md calls it.
type way struct {
	name, row string
	try       func() answered
}

func (i *intruder) ways() []way {
	answer := func(id c3po.MessageID) string { return `{"message_id":"` + string(id) + `","choice":"1"}` }
	unsigned := func(body string) c3po.ProofRequest {
		var refusal c3po.Error
		if got := i.tcp("human", "POST", answerPath, body); got.status == http.StatusOK || json.Unmarshal([]byte(got.text), &refusal) != nil {
			return c3po.ProofRequest{} // without a policy there is nothing to sign
		}
		var request c3po.ProofRequest
		i.decode(i.tcp("human", "GET", "/api/proofs/"+refusal.Proof, ""), &request)
		return request
	}
	// with answers a question after something was done to the proof that it needs.
	with := func(do func(c3po.ProofRequest)) func() answered {
		return func() answered {
			body := answer(i.question())
			request := unsigned(body)
			if request.ID == "" {
				return answered{http.StatusOK, "no proof was asked for"}
			}
			do(request)
			return i.tcp("human", "POST", answerPath, body, c3po.ProofHeader, request.ID)
		}
	}
	redis := func(line string) {
		if out, ok := i.shell(i.redis + line); !ok || strings.Contains(out, "ERR") {
			i.t.Fatalf("redis %s: %s", line, out)
		}
	}
	afterRedis := func(line string) func() answered {
		return func() answered {
			redis(line)
			// While this waits for a passkey, the coordinator looks into Redis again.
			if got := i.command("c3po answer " + string(i.question()) + " --choice 1"); got.status == http.StatusOK {
				return got
			}
			return i.tcp("human", "POST", answerPath, answer(i.request()))
		}
	}
	return append(i.forgeries(), []way{
		{"the command of the person", decides, func() answered { return i.command("c3po answer " + string(i.question()) + " --choice 1") }},
		{"the same for a permission", decides, func() answered { return i.command("c3po answer " + string(i.request()) + " --choice 1") }},
		{"the older command", decides, func() answered { return i.command("c3po human answer " + string(i.question()) + " yes") }},
		{"a command inside its session", never, func() answered {
			out, ok := i.model("timeout 3 c3po answer " + string(i.request()) + " --choice 1")
			return answered{map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[ok], out}
		}},
		{"the socket, with the person's token", decides, func() answered { return i.socket(i.files.Human, answerPath, answer(i.request())) }},
		{"the socket, with the admin's token", decides, func() answered {
			return i.socket(i.files.Admin, answerPath, answer(i.question()), "X-Agent-ID", "human")
		}},
		{"a person's token over TCP", decides, func() answered { return i.tcp("human", "POST", answerPath, answer(i.request())) }},
		{"an admin's token over TCP", decides, func() answered {
			return i.tcp("admin", "POST", answerPath, answer(i.question()), "X-Agent-ID", "human")
		}},
		{"the token of the agents", never, func() answered { return i.tcp("agent", "POST", answerPath, answer(i.request()), "X-Agent-ID", "api") }},
		{"the agents' token in the person's name", never, func() answered { return i.tcp("agent", "POST", answerPath, answer(i.request()), "X-Agent-ID", "human") }},
		{"a reply in the person's name", decides, func() answered {
			return i.tcp("admin", "POST", "/api/op/reply", `{"message_id":"`+string(i.question())+`","response":"yes"}`, "X-Agent-ID", "human")
		}},
		{"the bridge", decides, func() answered {
			return i.tcp("admin", "POST", "/replies", `{"ticketId":"`+string(i.question())+`","payload":"yes"}`, "X-Agent-ID", "human")
		}},
		{"a proof that nobody has signed", decides, with(func(c3po.ProofRequest) {})},
		{"a key of its own", decides, with(func(r c3po.ProofRequest) { i.sign(r, i.own.Get(r.Options, i.page)) })},
		{"its own signature, written into Redis", decides, with(func(r c3po.ProofRequest) {
			redis("hset 'c3po:1:{_}:proof:" + r.ID + "' signature '" + string(i.own.Get(r.Options, i.page)) + "' state signed")
		})},
		{"the person's signature for another page", decides, with(func(r c3po.ProofRequest) { i.sign(r, i.key.Get(r.Options, "http://localhost:9")) })},
		{"a policy that it writes into Redis", decides, afterRedis(`hset 'c3po:1:{_}:passkeys' policy '{"policy":"off"}'`)},
		{"a reset that it writes into Redis", decides, afterRedis(`hset 'c3po:1:{_}:passkeys' reset '{"at":"2020-01-01T00:00:00Z"}'`)},
		{"passkeys that it takes out of Redis", decides, afterRedis(`del 'c3po:1:{_}:passkeys'`)},
		{"resuming itself", resumes, func() answered { return i.command("c3po resume api") }},
		{"a token of its own", mints, func() answered { return i.command("c3po token create --role human") }},
		{"a successor of the person's token", mints, func() answered {
			return i.tcp("admin", "POST", "/api/admin/tokens/"+strings.Split(i.tokens["human"], "_")[2]+"/rotate", "{}")
		}},
		{"the policy switched off", relaxes, func() answered {
			if got := i.tcp("admin", "GET", "/api/passkeys", ""); strings.Contains(got.text, `"policy":"off"`) {
				return answered{http.StatusForbidden, "there is nothing to relax"}
			}
			return i.command("c3po passkey policy off")
		}},
		{"the passkey removed", relaxes, func() answered { return i.command("c3po passkey remove phone") }},
		{"a passkey of its own", relaxes, func() answered {
			var offer c3po.PasskeyOffer
			i.decode(i.tcp("human", "POST", "/api/passkeys/offer", "{}"), &offer)
			in, err := json.Marshal(c3po.PasskeyInput{ID: offer.ID, Name: "mine", Credential: i.own.Create(offer.Options, i.page)})
			if err != nil {
				i.t.Fatal(err)
			}
			return i.tcp("human", "POST", "/api/passkeys", string(in))
		}},
	}...)
}

// cellOf is what the table says of a row under a policy.
func cellOf(t *testing.T, row string, column int) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/explain/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "|"); len(cells) == 6 && strings.TrimSpace(cells[1]) == row {
			return strings.TrimSpace(cells[2+column])
		}
	}
	t.Fatalf("the table has no row %q", row)
	return ""
}

// Attack: an agent that reads every file of its user, and talks to Redis, decides for its person
func TestAnAgentThatHasEveryFileDecidesNothingWithoutThePasskey(t *testing.T) {
	t.Parallel()
	for column, policy := range []c3po.ProofPolicy{c3po.ProofOff, c3po.ProofDecisions} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			i := newIntruder(t, policy)
			if got := i.tcp("agent", "POST", "/api/op/ping", "{}", "X-Agent-ID", "api"); got.status != http.StatusOK {
				t.Fatalf("api: %+v", got)
			}
			through := 0
			all := i.ways()
			for _, w := range all {
				said := "no"
				if w.row != never {
					said = cellOf(t, w.row, column)
				}
				got := w.try()
				if got.status/100 == 2 {
					through++
				}
				if (got.status/100 == 2) != strings.HasPrefix(said, "yes") {
					t.Errorf("%s is answered %+v; the table says %q", w.name, got, said)
				}
				// What is refused for another reason shows nothing.
				if policy == c3po.ProofDecisions && w.row != never && !strings.Contains(got.text, "passkey") && !strings.Contains(got.text, "proof") {
					t.Errorf("%s is refused, but not for the passkey: %+v", w.name, got)
				}
			}
			t.Logf("%d ways, %d got through, as the table says", len(all), through)
		})
	}
}

// Their owner ends a reset by using one, and has to hear of it for that.
func TestAPersonHearsEverywhereThatAllPasskeysAreAboutToBeForgotten(t *testing.T) {
	t.Parallel()
	i := newIntruder(t, c3po.ProofOff)
	views := []string{"c3po status", "c3po human list", "c3po doctor || true", "c3po top --json"}
	says := func(out string) bool {
		return strings.Contains(out, "forgotten at ") || strings.Contains(out, "passkeys_end")
	}
	for _, view := range views {
		if out := i.person(view); says(out) {
			t.Errorf("without a reset, %s says %s", view, out)
		}
	}
	i.person("c3po passkey reset")
	for _, view := range views {
		if out := i.person(view); !says(out) {
			t.Errorf("%s says %s", view, out)
		}
		if out, _ := i.model(view); says(out) {
			t.Errorf("an agent is told by %s: %s", view, out)
		}
	}
}
