package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

func TestAQuestionIsToldAtTheNextStepAndOtherMailWhenTheTurnEnds(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	lines := r.idles()
	r.prompt()
	if _, err := r.as("ui").SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "<b>deployed</b>", ExpectsReply: new(bool)}); err != nil {
		t.Fatal(err)
	}
	question := r.send("web", "<i>Which port?</i>")
	eventually(t, "the question is told at a step", func() bool {
		said := shownBy(t, r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "other"}))
		return said == "c3po: 1 new message expecting an answer from 'web'. get_messages shows it."
	})
	if text := r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "other"}); text != "{}" {
		t.Errorf("the next step says %s", text)
	}
	if text, failed := r.call("u1", "ack_messages", map[string]any{"message_ids": []c3po.MessageID{question.ID}}); failed {
		t.Fatal(text)
	}
	if text := r.stop(); text != "{}" {
		t.Errorf("the end of the turn says %s", text)
	}
	select {
	case line := <-lines:
		if !strings.Contains(line, "1 new message from 'ui'. get_messages shows it.") {
			t.Errorf("after the turn it is told %q", line)
		}
	case <-time.After(deadline):
		t.Error("after the turn it is not told of the rest")
	}
}

func TestASessionWithoutOurToolsIsToldOnceAndThenLeftAloneUntilItsUserWrites(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	lines := r.idles()
	r.send("web", "<i>Which port?</i>")
	r.woken(lines)
	if text := r.stop(); !strings.Contains(text, "get_messages shows it") {
		t.Errorf("the end of the turn says %s", text)
	}
	text := r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1", Again: "true"})
	if !strings.Contains(text, "systemMessage") || !strings.Contains(text, "called none of c3po's tools") {
		t.Errorf("the person reads %s", text)
	}
	eventually(t, "nothing wakes it", func() bool { return r.agents()["api"].State == c3po.SessionUnarmed })
	r.types("go on")
	r.stop()
	eventually(t, "mail wakes it again", func() bool { return r.agents()["api"].State == c3po.SessionIdle })
}
