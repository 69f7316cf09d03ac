package session_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
)

// A written transcript is one as Claude Code keeps it.
type written struct {
	t    *testing.T
	path string
}

// transcript tells a session where its transcript is.
func (r *testSession) transcript() written {
	r.t.Helper()
	w := written{r.t, filepath.Join(r.t.TempDir(), "transcript.jsonl")}
	w.says("msg_before", 1_000_000)
	r.hook(hook.Event{Name: hook.SessionStart, SessionID: "s1", Source: "resume", Transcript: w.path})
	return w
}

// says writes down what one request to the model has used so far.
func (w written) says(id string, output int64) {
	w.t.Helper()
	line, err := json.Marshal(map[string]any{
		"type": "assistant", "timestamp": time.Now().UTC().Format(time.RFC3339Nano), "message": map[string]any{
			"id": id, "usage": map[string]any{"input_tokens": 10, "output_tokens": output, "cache_read_input_tokens": 300, "cache_creation_input_tokens": 40},
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.append(string(line) + "\n")
}

func (w written) append(text string) {
	w.t.Helper()
	file, err := os.OpenFile(w.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
}

// requests is what so many of them have used that wrote so many tokens in all.
func requests(n, output int64) c3po.Usage {
	return c3po.Usage{InputTokens: 10 * n, OutputTokens: output, CacheReadTokens: 300 * n, CacheWriteTokens: 40 * n}
}

func (r *testSession) cost(id c3po.MessageID) (c3po.Cost, *c3po.Cost) {
	r.t.Helper()
	trace, err := r.as("web").Trace(r.t.Context(), c3po.MessageInput{MessageID: id})
	if err != nil {
		r.t.Fatal(err)
	}
	if trace.Cost == nil {
		return c3po.Cost{}, trace.ChainCost
	}
	return *trace.Cost, trace.ChainCost
}

func (r *testSession) replies(id c3po.MessageID) {
	r.t.Helper()
	if text, failed := r.call("answers "+string(id), "reply", map[string]any{"message_id": id, "response": "8080"}); failed {
		r.t.Fatal(text)
	}
	r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "answers " + string(id)})
}

func TestAnAnswerCostsWhatWasUsedBetweenReadingAndReplying(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.enters("web")
	said := r.transcript()
	question := r.send("web", "Which port?").ID
	said.says("msg_fetches", 7_000)
	r.reads()
	said.says("msg_1", 1)
	said.says("msg_1", 20) // the same request, as its next block is written down
	said.append(`{"type":"assistant","message":{"id":"msg_1","usage":{"output_tokens":`)
	r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "u5"})
	said.append("99999999}}\n") // no time, so nobody knows what it was for; and not twice
	said.says("msg_2", 5)
	r.replies(question)
	said.says("msg_2", 6) // the client writes down the last of it after the tool has run
	said.says("msg_ends", 9_000)
	r.stop()
	want := requests(2, 26)
	eventually(t, "the cost is known", func() bool { got, _ := r.cost(question); return got.Usage == want })
	r.hangUp() // which reports the rest, if there is any
	got, chain := r.cost(question)
	if got.Usage != want || got.Shared || chain == nil || chain.Usage != want {
		t.Errorf("the answer has cost %+v, the conversation %+v, want %+v", got, chain, want)
	}
}

func TestWhatThePersonAsksForInBetweenIsNoCostOfAnAnswer(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.enters("web")
	said := r.transcript()
	question := r.send("web", "Which port?").ID
	r.reads()
	said.says("msg_1", 20)
	r.hook(hook.Event{Name: hook.UserPromptSubmit, SessionID: "s1", Prompt: "clean up the tests"})
	said.says("msg_person", 8_000)
	r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	said.says("msg_2", 5)
	r.replies(question)
	eventually(t, "the cost is known", func() bool { got, _ := r.cost(question); return got.Usage == requests(2, 25) })
}

func TestMessagesThatAreAnsweredTogetherShareTheCost(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.enters("web")
	said := r.transcript()
	first, second := r.send("web", "Which port?").ID, r.send("web", "Which host?").ID
	r.reads()
	said.says("msg_1", 21)
	r.replies(first)
	said.says("msg_2", 4)
	r.replies(second)
	eventually(t, "the cost is known", func() bool {
		a, _ := r.cost(first)
		b, _ := r.cost(second)
		return a.Shared && b.Shared && a.Usage.OutputTokens/2 == 5 && a.Usage.Plus(b.Usage) == requests(2, 25)
	})
}

func TestARunThatEndsInTheMiddleOfAnAnswerCountsOnce(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.enters("web")
	said := r.transcript()
	question := r.send("web", "Which port?").ID
	r.reads()
	said.says("msg_1", 20)
	r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "u5"})
	eventually(t, "the cost so far is known", func() bool { got, _ := r.cost(question); return got.Usage == requests(1, 20) })
	r.hangUp()

	next := startAs(t, r.url, "box:2:2", func(*session.Config) {})
	next.hook(hook.Event{Name: hook.SessionStart, SessionID: "s1", Source: "resume", Transcript: said.path})
	next.reads()
	said.says("msg_2", 5)
	next.replies(question)
	eventually(t, "the cost is known", func() bool { got, _ := next.cost(question); return got.Usage == requests(2, 25) })
}

func TestACodexRequestIsCountedByWhenItsAnswerBegan(t *testing.T) {
	t.Parallel()
	r := startAs(t, coordinator(t).URL(), "box:1:1", func(cfg *session.Config) { cfg.Dialect = hook.Codex })
	r.enters("web")
	said := r.transcript()
	question := r.send("web", "Which port?").ID
	r.reads()
	now := func() string { return time.Now().UTC().Format(time.RFC3339Nano) }
	count := func(total string) string {
		return `{"timestamp":"` + now() + `","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":` + total +
			`},"last_token_usage":{"input_tokens":100,"cached_input_tokens":80,"output_tokens":7}}}}` + "\n"
	}
	said.append(`{"timestamp":"` + now() + `","type":"response_item","payload":{"type":"function_call","name":"reply"}}` + "\n")
	r.replies(question)
	said.append(count("107") + count("107")) // once for the request, once for its limits
	said.append(`{"timestamp":"` + now() + `","type":"response_item","payload":{"type":"message","role":"assistant"}}` + "\n" + count("214"))
	r.stop()
	want := c3po.Usage{InputTokens: 20, CacheReadTokens: 80, OutputTokens: 7}
	eventually(t, "the cost is known", func() bool { got, _ := r.cost(question); return got.Usage == want })
	r.hangUp()
	if got, _ := r.cost(question); got.Usage != want {
		t.Errorf("it has cost %+v, want %+v", got.Usage, want)
	}
}

// begins makes its own agent be there.
func (r *testSession) begins() {
	r.t.Helper()
	r.hook(hook.Event{Name: hook.SessionStart, SessionID: "s1", Source: "startup"})
	eventually(r.t, "it is there", func() bool { return r.agents()["api"].ID != "" })
}

// enters makes an agent known.
func (r *testSession) enters(id c3po.AgentID) {
	r.t.Helper()
	if _, err := r.as(id).Ping(r.t.Context(), c3po.None{}); err != nil {
		r.t.Fatal(err)
	}
}

func TestASessionThatEndsReportsWhatItsClientHasWrittenDownLast(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.enters("web")
	said := r.transcript()
	question := r.send("web", "Which port?").ID
	r.reads()
	said.says("msg_1", 20)
	r.replies(question)
	eventually(t, "it has just looked", func() bool { got, _ := r.cost(question); return got.Usage == requests(1, 20) })
	said.says("msg_1", 26)
	r.hangUp()
	if got, _ := r.cost(question); got.Usage != requests(1, 26) {
		t.Errorf("the answer has cost %+v, want %+v", got.Usage, requests(1, 26))
	}
}

// OpenCode's plugin tells what each request has used, with the time at which it was made.
func TestARequestThatAClientTellsOfIsCountedOnceForWhatWasOpen(t *testing.T) {
	t.Parallel()
	r := startAs(t, coordinator(t).URL(), "box:1:1", func(cfg *session.Config) { cfg.Dialect = hook.OpenCode })
	r.enters("web")
	r.begins()
	tells := func(id string, output int64) {
		r.hook(hook.Event{Name: hook.Counted, SessionID: "s1", Used: &hook.Used{Request: id, At: time.Now().UnixMilli(), Input: 10, Output: output, CacheRead: 3, USD: 0.5}})
	}
	question := r.send("web", "Which port?").ID
	tells("msg_before", 1_000)
	r.reads()
	tells("msg_1", 7)
	tells("msg_1", 7)
	tells("msg_1", 9) // the same, as it grows
	r.replies(question)
	tells("msg_after", 1_000)
	want := c3po.Usage{InputTokens: 10, OutputTokens: 9, CacheReadTokens: 3, MicroUSD: 500_000}
	eventually(t, "the cost is known", func() bool { got, _ := r.cost(question); return got.Usage == want })
	r.hangUp()
	if got, _ := r.cost(question); got.Usage != want {
		t.Errorf("it has cost %+v, want %+v", got.Usage, want)
	}
}

// By the Agent Client Protocol an agent tells only what a whole turn has used.
func TestATurnIsSharedByTheMessagesItWasFor(t *testing.T) {
	t.Parallel()
	r := startAs(t, coordinator(t).URL(), "box:1:1", nil)
	r.enters("web")
	r.begins()
	first, second := r.send("web", "Which port?").ID, r.send("web", "Which host?").ID
	r.reads()
	r.replies(first)
	r.replies(second)
	for range 2 {
		r.hook(hook.Event{Name: hook.Counted, Used: &hook.Used{Input: 101, Output: 8}})
	}
	eventually(t, "the cost is known", func() bool {
		a, chain := r.cost(first)
		b, _ := r.cost(second)
		return a.Shared && b.Shared && chain != nil && a.Usage.Plus(b.Usage) == c3po.Usage{InputTokens: 101, OutputTokens: 8}
	})
}
