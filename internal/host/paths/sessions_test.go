package paths_test

import (
	"testing"

	"github.com/c3po-dev/c3po/internal/host/paths"
)

func TestASessionThatWouldBeAnOptionOfItsClientIsNotKept(t *testing.T) {
	t.Parallel()
	f := folders(map[string]string{"HOME": short(t)})
	for _, s := range []paths.Session{
		{ID: "--dangerously-skip-permissions"}, {ID: "a b"}, {ID: `x"`}, {ID: "../x"}, {ID: "s1", Model: "--yolo"}, {ID: "s2", Model: "a b"},
	} {
		if err := f.KeepSession(s); err == nil {
			t.Errorf("%+v is kept", s)
		}
	}
	for _, s := range []paths.Session{{ID: "ses_e1816a399ffeUOPklZhCZrSeBO"}, {ID: "session_8525d94c-84d5-4258-8941-6a89f7398b3b", Model: "test/of-the-test"}, {ID: "0b1f", Model: "opus[1m]"}} {
		if err := f.KeepSession(s); err != nil {
			t.Fatal(err)
		}
		if _, ok := f.Session(s.ID); !ok {
			t.Errorf("%+v is not there", s)
		}
	}
	if n := len(f.Sessions()); n != 3 {
		t.Errorf("%d sessions, want 3", n)
	}
}
