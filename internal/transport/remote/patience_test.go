package remote

import (
	"testing"
	"time"
)

func TestAnotherStartOfTheCoordinatorDoesNotBeginTheLimitAgain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		since time.Time
		want  time.Duration
	}{
		"it begins now":              {time.Time{}, giveUpAfter},
		"it began a minute ago":      {now.Add(-time.Minute), giveUpAfter - time.Minute},
		"it began before the outage": {now.Add(-time.Hour), giveUpAfter / 8},
	} {
		if got := patienceEnds(now, row.since, giveUpAfter).Sub(now); got != row.want {
			t.Errorf("%s: it is tried for %s", name, got)
		}
	}
}
