package paths_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAProjectIsOffUntilItIsSwitchedOnAgain(t *testing.T) {
	t.Parallel()
	home := short(t)
	project, other := filepath.Join(home, "api"), filepath.Join(home, "web")
	link := filepath.Join(home, "link")
	if err := errors.Join(os.Mkdir(project, 0o700), os.Mkdir(other, 0o700), os.Symlink(project, link)); err != nil {
		t.Fatal(err)
	}
	f := folders(map[string]string{"HOME": home})
	state := func() [3]bool { return [3]bool{f.Off(project), f.Off(link), f.Off(other)} }
	for i, step := range []struct {
		act  func(string) error
		on   string
		want [3]bool
	}{
		{f.SwitchOn, project, [3]bool{}}, // what is on already can be switched on
		{f.SwitchOff, link, [3]bool{true, true, false}},
		{f.SwitchOff, project, [3]bool{true, true, false}},
		{f.SwitchOff, "", [3]bool{true, true, true}},
		{f.SwitchOn, project, [3]bool{true, true, true}},
		{f.SwitchOn, "", [3]bool{}},
	} {
		if err := step.act(step.on); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if got := state(); got != step.want {
			t.Errorf("after step %d: %v, want %v", i, got, step.want)
		}
	}
}

func TestAskingWhetherAProjectIsOffLeavesNoTrace(t *testing.T) {
	t.Parallel()
	home := short(t)
	if folders(map[string]string{"HOME": home}).Off(home) {
		t.Error("it is off")
	}
	if left, err := os.ReadDir(home); err != nil || len(left) != 0 {
		t.Errorf("the home holds %v, %v", left, err)
	}
}
