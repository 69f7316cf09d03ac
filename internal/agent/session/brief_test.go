package session_test

import (
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestASendAndAReplyAreAnsweredWithALineAndNotWithTheirOwnText(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.prompt()
	question := r.send("web", "Which port?")
	long := strings.Repeat("0123456789 ", 500)
	sent, failed := r.call("u1", "send_message", map[string]any{"target": "web", "message": long})
	if failed || strings.Contains(sent, "0123456789") || len(sent) > 200 || !strings.HasPrefix(sent, "c3po: sent api::web::") {
		t.Errorf("a send is answered with %d bytes: %.300s", len(sent), sent)
	}
	replied, failed := r.call("u2", "reply", map[string]any{"message_id": question.ID, "response": long})
	if failed || replied != "c3po: answered and acked.\n" {
		t.Errorf("a reply is answered with %d bytes: %.300s", len(replied), replied)
	}
	got, err := r.as("web").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: question.ID, Timeout: 10})
	if err != nil || got.Response != long {
		t.Errorf("the answer is not what was written: %v", err)
	}
}
