package c3po

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

func FuzzEventCursor(f *testing.F) {
	for _, seed := range []string{"1:0", "2:1004", "", ":", "0:1", "1:-1", "+1:1", "01:1", "1:1:1", "9223372036854775808:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, err := ParseEventCursor(text)
		if err != nil {
			if e := AsError(err); e.Code != InvalidRequest || e.Suggestion == "" {
				t.Errorf("%q is refused with %v", text, err)
			}
			return
		}
		if again, err := ParseEventCursor(at.String()); err != nil || again != at {
			t.Errorf("%q is read as %v, which is read as %v, %v", text, at, again, err)
		}
		if at.Epoch < 1 || at.Seq < 0 {
			t.Errorf("%q is read as %v", text, at)
		}
	})
}

// A kind that is not listed could not be asked for.
func TestEveryKindOfEventIsListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("event.go")
	if err != nil {
		t.Fatal(err)
	}
	written := regexp.MustCompile(`EventKind += "([a-z_]+)"`).FindAllStringSubmatch(string(text), -1)
	if len(written) == 0 {
		t.Fatal("no kind was found")
	}
	for _, kind := range written {
		if !slices.Contains(EventKinds(), EventKind(kind[1])) {
			t.Errorf("EventKinds does not list %s", kind[1])
		}
	}
}
