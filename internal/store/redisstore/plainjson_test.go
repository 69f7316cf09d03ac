package redisstore

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The short way reads nothing that encoding/json reads differently.
func FuzzPlainFactsAndBodiesAreReadAsJSON(f *testing.F) {
	for _, stored := range []string{
		`{"q":12,"f":"ann","t":"ann::bob::0123abcd","k":"question","a":1763510000000,"d":"disk","z":120,"h":"0123abcd","e":1,"x":99}`,
		`{"q":12,"f":"ann","s":"acked","an":[{"h":"01","a":1}]}`, `{"f":"a/b/c","q":1}`, `{"q":01}`, `{"q":1.5}`, `{"q":-1}`, `{"q":"1"}`, `{"f":1}`, `{"q":1234567890123456789}`,
		`{"m":"hello","c":"world","s":"done","t":"text/plain"}`, `{"m":"a\"b"}`, `{"m":"é"}`, `{"m":null}`, `{"m":"a","m":"b"}`, `{"M":"a"}`, `{"m":"a"} `, `{"m":"a",}`, `{}`, `{`, ``, `[]`,
	} {
		f.Add(stored)
	}
	f.Fuzz(func(t *testing.T, stored string) {
		if got, plain := plainFact(stored); plain {
			var want fact
			if err := json.Unmarshal([]byte(stored), &want); err != nil {
				t.Fatalf("%q is no JSON of facts: %v", stored, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("facts of %q (-json +plain):\n%s", stored, diff)
			}
		}
		if got, plain := plainBody(stored); plain {
			var want body
			if err := json.Unmarshal([]byte(stored), &want); err != nil {
				t.Fatalf("%q is no JSON of a body: %v", stored, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("body of %q (-json +plain):\n%s", stored, diff)
			}
		}
	})
}

func TestWhatANewMessageIsStoredAsIsReadTheShortWay(t *testing.T) {
	t.Parallel()
	if _, plain := plainFact(`{"q":12,"f":"ann","t":"ann::bob::0123abcd","k":"question","a":1763510000000,"d":"disk","z":120,"h":"0123abcd","p":"urgent","e":1,"x":99}`); !plain {
		t.Error("the facts of a new message are not plain")
	}
	if _, plain := plainBody(`{"m":"hello","c":"world"}`); !plain {
		t.Error("the body of a plain message is not plain")
	}
}
