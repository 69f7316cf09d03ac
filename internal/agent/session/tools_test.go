package session_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is always before the model costs in every session. An argument that is
// added to an operation is not shown until somebody has decided that it is worth
// that.
func TestTheToolsThatAreAlwaysBeforeTheModelShowTheArgumentsChosenForIt(t *testing.T) {
	t.Parallel()
	list, err := start(t, "http://127.0.0.1:9", "box:1:1").session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, tool := range list.Tools {
		if tool.Meta["anthropic/alwaysLoad"] != true {
			continue
		}
		text, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema struct{ Properties map[string]any }
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
		got[tool.Name] = slices.Sorted(maps.Keys(schema.Properties))
	}
	want := map[string][]string{
		"send_message": {"context", "expects_reply", "message", "priority", "target", "wait_seconds"},
		"get_messages": {"cursor"},
		"reply":        {"handed_to", "message_id", "response", "status"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}
