package attempt

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errRefused = errors.New("refused")

func scripted(verdicts ...Verdict) (try func(bool) (Verdict, error), made *int) {
	made = new(int)
	return func(bool) (Verdict, error) {
		v := verdicts[min(*made, len(verdicts)-1)]
		*made++
		return v, errRefused
	}, made
}

func TestADoubtOutlivesEveryLaterAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		verdicts []Verdict
		inDoubt  bool
	}{
		"never sent":            {[]Verdict{Undone, Undone, Final}, false},
		"lost, then refused":    {[]Verdict{Doubt, Final}, true},
		"lost, then never sent": {[]Verdict{Undone, Doubt, Undone, Final}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try, made := scripted(c.verdicts...)
			inDoubt, err := Repeat(t.Context(), Pace{First: 1, Max: 1}, try)
			if inDoubt != c.inDoubt || !errors.Is(err, errRefused) || *made != len(c.verdicts) {
				t.Errorf("in doubt: %v, %v, after %d attempts", inDoubt, err, *made)
			}
		})
	}
}

func TestRepeatsEndWithThePatienceOrTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		try, made := scripted(Undone)
		began := time.Now()
		if _, err := Repeat(t.Context(), Pace{First: time.Second, Max: time.Second, Patience: 10 * time.Second}, try); !errors.Is(err, errRefused) {
			t.Error(err)
		}
		if took := time.Since(began); took > 10*time.Second || *made < 5 {
			t.Errorf("%d attempts in %v", *made, took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began = time.Now()
		if _, err := Repeat(ctx, Pace{First: time.Second, Max: time.Second}, try); !errors.Is(err, errRefused) {
			t.Error(err)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
