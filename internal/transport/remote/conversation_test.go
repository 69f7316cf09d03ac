package remote_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/hub"
)

// asksOnce answers its first message with a question, and the next ones with an invoice.
func asksOnce(method string, times int) (int, string) {
	if times == 0 {
		return 200, result(`{"task":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"role":"ROLE_AGENT","parts":[{"text":"Which order?"}]}}}}`)
	}
	return 200, result(`{"task":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"parts":[{"text":"Refunded"}]}]}}`)
}

func TestAReplyToTheQuestionOfARemoteReachesIt(t *testing.T) {
	t.Parallel()
	f := newForeign(t, "1.0", asksOnce)
	s := newSite(t)
	s.run()
	s.add(f.URL, "")
	asked := s.ask("Refund the customer")
	if asked.Status != c3po.ReplyAsksBack || !asked.ExpectsReply || !strings.HasSuffix(asked.Response, ": Which order?") {
		t.Fatalf("its question comes as %+v", asked)
	}
	if _, err := s.as("web").Reply(t.Context(), c3po.ReplyInput{MessageID: asked.ID, Response: "order seven please"}); err != nil {
		t.Fatal(err)
	}
	got, err := s.as("web").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 60, Kind: c3po.KindIncoming})
	if err != nil || got.Message.Message != "Refunded" || got.FromAgent != "billing" || got.Thread != asked.Thread {
		t.Errorf("then it says %+v, %v", got, err)
	}
	for _, want := range []string{`"text":"order seven please"`, `"taskId":"t-1"`, `"contextId":"c-1"`} {
		if !strings.Contains(f.lastBody(), want) {
			t.Errorf("it was sent %s, without %s", f.lastBody(), want)
		}
	}
}

func TestAThreadGoesOnWhereTheRemoteLeftOff(t *testing.T) {
	t.Parallel()
	f := newForeign(t, "1.0", asksOnce)
	s := newSite(t)
	s.run()
	s.add(f.URL, "")
	send := func(from c3po.AgentID, text, thread string) c3po.Message {
		t.Helper()
		receipt, err := s.as(from).SendMessage(t.Context(), c3po.SendInput{Target: "billing", Message: text, Thread: thread, WaitSeconds: 60})
		if err != nil || receipt.Reply == nil {
			t.Fatalf("no answer to %q: %+v, %v", text, receipt.Wait, err)
		}
		return *receipt.Reply
	}
	first := send("web", "Refund the customer", "")
	for _, step := range []struct {
		from          c3po.AgentID
		text, thread  string
		task, context bool
	}{
		{"web", "order seven", first.Thread, true, true},
		{"web", "and order eight", first.Thread, false, true},
		{"web", "something else", "", false, false},
		{"spy", "what did they say", first.Thread, false, false},
	} {
		if got := send(step.from, step.text, step.thread); got.Response != "Refunded" {
			t.Errorf("to %q it says %+v", step.text, got)
		}
		if body := f.lastBody(); strings.Contains(body, `"taskId":"t-1"`) != step.task || strings.Contains(body, `"contextId":"c-1"`) != step.context {
			t.Errorf("%q goes as %s", step.text, body)
		}
	}
}

func TestAFileGoesToARemoteOrTheSenderHearsWhyNot(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ version, part string }{
		{"1.0", `{"filename":"fix.diff","mediaType":"text/x-diff","raw":"cGF0Y2g="}`},
		{"0.3", `{"file":{"bytes":"cGF0Y2g=","mimeType":"text/x-diff","name":"fix.diff"},"kind":"file"}`},
	} {
		f := newForeign(t, row.version, func(string, int) (int, string) {
			return 200, result(`{"kind":"message","message":{"role":"ROLE_AGENT","parts":[{"text":"Applied"}]},"parts":[{"text":"Applied"}]}`)
		})
		s := newSite(t)
		s.run()
		s.add(f.URL, "")
		sendFile := func(content string) c3po.Message {
			t.Helper()
			sum := sha256.Sum256([]byte(content))
			web := s.as("web")
			state, err := web.FileBegin(t.Context(), c3po.FileInput{Name: "fix.diff", Type: "text/x-diff", Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])})
			for err == nil && !state.Complete {
				state, err = web.FileAppend(t.Context(), c3po.FileChunkInput{ID: state.ID, Offset: state.Offset, Data: []byte(content[state.Offset:min(len(content), int(state.Offset)+c3po.FileChunkBytes)])})
			}
			if err != nil {
				t.Fatal(err)
			}
			receipt, err := web.SendMessage(t.Context(), c3po.SendInput{Target: "billing", Message: "apply this", Attach: []c3po.FileID{state.ID}, WaitSeconds: 60})
			if err != nil || receipt.Reply == nil {
				t.Fatalf("no answer: %+v, %v", receipt.Wait, err)
			}
			return *receipt.Reply
		}
		if got := sendFile("patch"); got.Response != "Applied" || !strings.Contains(f.lastBody(), row.part) {
			t.Errorf("after %s it says %+v", f.lastBody(), got)
		}
		if got := sendFile(strings.Repeat("x", 4<<20+1)); got.Status != c3po.ReplyError || !strings.Contains(got.Response, "the files with the message have 4194305 bytes, and at most 4194304 are forwarded") {
			t.Errorf("of a large file it says %+v", got)
		}
	}
}

func TestARemoteIsShownTheTraceOfAMessage(t *testing.T) {
	t.Parallel()
	f := newForeign(t, "1.0", func(string, int) (int, string) { return 200, result(`{"task":` + completed + `}`) })
	s := newSite(t)
	s.hub = hub.New(hub.Config{Store: s.store, Node: s.node, Ended: func(c3po.Space, c3po.EventKind, c3po.MessageID) {}})
	s.keeper = auth.New(auth.Config{Store: s.store, Mode: auth.Tokens})
	s.run()
	s.add(f.URL, "")
	receipt, err := s.as("web").SendMessage(t.Context(), c3po.SendInput{Target: "billing", Message: "order 7", WaitSeconds: 60,
		Metadata: []byte(`{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}`)})
	if err != nil || receipt.Reply == nil {
		t.Fatalf("no answer: %+v, %v", receipt.Wait, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !strings.HasPrefix(f.trace, "00-0af7651916cd43dd8448eb211c80319c-") || strings.Contains(f.trace, "b7ad6b7169203331") || !strings.Contains(f.bodies[0], `"traceparent":"`+f.trace+`"`) {
		t.Errorf("it was shown the trace %q, and sent %s", f.trace, f.bodies[0])
	}
}
