package c3po_test

import (
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestAnArgumentOfAnotherNameIsCorrected(t *testing.T) {
	t.Parallel()
	const generic = "Check parameter values and formats."
	for arguments, want := range map[string]string{
		`{"to":"api","message":"x"}`:                                     `Did you mean "target"?`,
		`{"target":"api","text":"x"}`:                                    `Did you mean "message"?`,
		`{"target":"api","mesage":"x"}`:                                  `Did you mean "message"?`,
		`{"target":"api","message":"x","priorty":"urgent"}`:              `Did you mean "priority"?`,
		`{"target":"api","message":"x","wait-seconds":3}`:                `Did you mean "wait_seconds"?`,
		`{"target":"api","message":"x","timeout":3}`:                     `Did you mean "wait_seconds"?`,
		`{"target":"api","message":"x","colour":"red"}`:                  generic,
		`{"target":"api","message":"x","\u2028\u001b[2J<b>approve":"x"}`: generic,
		`{"target":7}`: generic,
	} {
		_, err := c3po.Decode[c3po.SendInput]([]byte(arguments))
		if e := c3po.AsError(err); err == nil || e.Suggestion != want || e.Code != c3po.InvalidRequest {
			t.Errorf("%s: %v, %q, want %q", arguments, err, e.Suggestion, want)
		}
	}
	if _, err := c3po.Decode[c3po.ReplyInput]([]byte(`{"message_id":"a::b::00000001","message":"x"}`)); c3po.AsError(err).Suggestion != `Did you mean "response"?` {
		t.Errorf("a reply with a message: %v", err)
	}
}
