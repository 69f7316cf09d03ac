package clients_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// remembering is a model that answers its mail with what it was told before.
var remembering = llm.Following(
	llm.When(llm.ToAnswer.String(), func(r llm.Request, match []string) llm.Step {
		port := regexp.MustCompile(`the port is (\d+)`).FindStringSubmatch(r.All())
		if port == nil {
			port = []string{"", "unknown"}
		}
		return llm.Call("reply", map[string]any{"message_id": match[1], "response": "port " + port[1]})
	}),
	llm.On("Deal with your mail", llm.Call("get_messages", nil)),
	llm.Else(done))

// Only Copilot CLI has c3po installed: to the others the protocol brings the tools along.
// Gemini CLI finds the conversation that it has written only sometimes, so here it has one.
func TestAnAgentThatSpeaksACPGoesOnWithItsConversationAndAnswersItsMail(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"copilot", "gemini", "kimi", "opencode"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			c := clientrig.Start(t)
			r := &testAgent{Agent: c.Machine("").Agent(client, "api", remembering), c: c}
			flags := []string{}
			switch client {
			case "copilot":
				install(r.Agent)
			case "gemini":
				flags = []string{"--model", "gemini-2.5-flash"} // its own choice asks another model first
			}
			session := func(words ...string) string {
				t.Helper()
				got := r.Run("", slices.Concat([]string{faultrig.Binary(t), "acp", client}, flags, words)...)
				named := regexp.MustCompile(`session (\S+), (.*)`).FindStringSubmatch(got.Stderr)
				if !strings.Contains(got.Stdout, "ALL-DONE") || got.Code != 0 || named == nil {
					t.Fatalf("%+v", got)
				}
				if told := named[2] != "usage unknown"; told != (client != "kimi") {
					t.Errorf("what it used: %s", named[2])
				}
				return named[1]
			}
			const fact, work = "Remember that the port is 4711.", "Deal with your mail."
			r.c.Exists("api")
			asked := r.ask("Which port?")
			if client == "gemini" {
				session(fact + " " + work)
			} else if first := session(fact); session("--session", first, work) != first {
				t.Error("it has gone on with another conversation")
			}
			r.c.Answered("web", asked, "port 4711", 1)
			if told := client != "kimi"; told != faultrig.Within(5*time.Second, func() bool {
				trace, err := r.c.As("web").Trace(t.Context(), c3po.MessageInput{MessageID: asked.ID})
				return err == nil && trace.Cost != nil
			}) {
				t.Errorf("what the answer has cost is known: %v", !told)
			}
		})
	}
}

// usedUp is how Gemini's provider says that a quota of the day is used up.
const usedUp = `{"error": {"code": 429, "message": "You exceeded your current quota.", "status": "RESOURCE_EXHAUSTED", "details": [{
  "@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]}]}}`

// Gemini CLI has no hook for it, but by the protocol its turn fails with its words.
func TestAnAgentWhoseTurnByACPFailsForItsQuotaIsOutOfQuota(t *testing.T) {
	t.Parallel()
	c := clientrig.Start(t)
	r := &testAgent{Agent: c.Machine("").Agent("gemini", "api", done), c: c}
	r.Model.Limited = func() *llm.RateLimit { return &llm.RateLimit{Body: usedUp} }
	got := r.Run("", faultrig.Binary(t), "acp", "gemini", "--model", "gemini-2.5-flash", "Deal with your mail.")
	if got.Code == 0 || !strings.Contains(got.Stderr, "daily quota") {
		t.Errorf("%+v", got)
	}
	quota := c.Agent("api").OutOfQuota
	if quota == nil || quota.Exact || !strings.Contains(quota.Evidence, "daily quota") {
		t.Errorf("it is said to be %+v", quota)
	}
}
