package envelope_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/text/envelope"
)

func TestJSONHidesNothingAndLosesNothing(t *testing.T) {
	t.Parallel()
	sent := "a\u0085b\u202ec\u200bd\U000e0041e\u2028f\x1bg<h>&\n"
	got, err := envelope.JSON(map[string]string{"text": sent})
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(string(got), "\n\u0085\u202e\u200b\U000e0041\u2028\x1b") {
		t.Errorf("an unseen character got through: %q", got)
	}
	if !strings.Contains(string(got), "g<h>&") {
		t.Errorf("plain characters were escaped: %s", got)
	}
	var back map[string]string
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if back["text"] != sent {
		t.Errorf("came back as %q", back["text"])
	}
}
