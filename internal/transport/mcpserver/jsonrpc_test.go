package mcpserver_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/internal/transport/mcpserver"
)

// FuzzMembersAreWhatEncodingJSONFinds holds the reader of the front door, which
// copies nothing, against the one that everybody uses.
func FuzzMembersAreWhatEncodingJSONFinds(f *testing.F) {
	for _, b := range bodies {
		f.Add(b.body)
	}
	f.Add(`{"a":{"b":"}"},"":["]",{"\"":1}],"a\\":-1.5e3 , "c" : "\\" ,"d":tr` + `ue}`)
	f.Fuzz(func(t *testing.T, text string) {
		var want map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			if json.Valid([]byte(text)) && mcpserver.Members([]byte(text), func(string, json.RawMessage) {}) {
				t.Errorf("%q was taken for an object", text)
			}
			return
		}
		got := map[string]json.RawMessage{}
		if !mcpserver.Members([]byte(text), func(name string, value json.RawMessage) { got[name] = value }) {
			got = nil // null
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q has other members (-encoding/json +ours):\n%s", text, diff)
		}
	})
}
