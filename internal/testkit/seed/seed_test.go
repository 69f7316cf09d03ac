package seed_test

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"github.com/c3po-dev/c3po/internal/testkit/seed"
)

// drawn is what a child process of this test prints.
var drawn = regexp.MustCompile(`drew (\d+) and (\d+)`)

// choices runs this test's binary again and gives what a property and a test
// drew there first.
func choices(t *testing.T, setting string, args ...string) string {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], append([]string{"-test.run=^TestRunsDrawTheSameUnlessToldOtherwise$", "-test.v"}, args...)...)
	child.Env = append(os.Environ(), "C3PO_SEED="+setting, "C3PO_SEED_TEST=draw")
	out, err := child.CombinedOutput()
	found := drawn.Find(out)
	if err != nil || found == nil {
		t.Fatalf("the child says %v:\n%s", err, out)
	}
	return string(found)
}

func TestRunsDrawTheSameUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	if os.Getenv("C3PO_SEED_TEST") == "draw" {
		first := uint64(0)
		seed.Check(t, func(t *rapid.T) {
			if n := rapid.Uint64().Draw(t, "n"); first == 0 {
				first = n
			}
		})
		t.Logf("drew %d and %d", first, seed.Rand(t, 1).Uint64())
		return
	}
	usual := choices(t, "")
	if again := choices(t, ""); again != usual {
		t.Errorf("two runs: %s, then %s", usual, again)
	}
	if one, other := choices(t, "random"), choices(t, "random"); one == usual || one == other {
		t.Errorf("usual %s, random %s and %s", usual, one, other)
	}
	if one, other := choices(t, "7"), choices(t, "7"); one == usual || one != other {
		t.Errorf("usual %s, seed 7 %s and %s", usual, one, other)
	}
	if one, other := choices(t, "", "-rapid.seed=7"), choices(t, "7"); one != other {
		t.Errorf("-rapid.seed=7 %s, C3PO_SEED=7 %s", one, other)
	}
}

func TestASeedThatIsNoNumberIsRefused(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"0", "-1", "yes", "1.5"} {
		if n, err := seed.Of(setting); err == nil {
			t.Errorf("C3PO_SEED=%s gives %d", setting, n)
		}
	}
}
