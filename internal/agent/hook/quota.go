package hook

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // Windows and small images have no list of time zones

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// rateLimited is what Claude Code calls the failure of a turn whose model was refused to
// it because a quota is used up.
const rateLimited = "rate_limit"

// maxEvidence is how much of what a client said is passed on.
const maxEvidence = 200

// quotaWords are how providers and clients say it that have no such name for it.
var quotaWords = regexp.MustCompile(`(?i)\b429\b|too many requests|rate.?limit|usage.?limit|\bquota\b|resource.?exhausted`)

// A Refusal is a client's word that its model is refused to it because its quota is used
// up.
type Refusal struct {
	Until    time.Time // when that ends; zero if the client did not say
	Again    time.Time // when the client asks its model again by itself; zero if it does not
	Evidence string
}

// RefusedForQuota says whether the failure of a turn, or of a request that its client makes
// again, is such a refusal.
func (e Event) RefusedForQuota(now time.Time) (Refusal, bool) {
	named := e.Error == rateLimited || e.Error == "" && quotaWords.MatchString(sanitise.Plain(e.Said))
	if e.Name != StopFailure && e.Name != Refused || !named {
		return Refusal{}, false
	}
	refusal := Refusal{Until: resetTime(sanitise.Plain(e.Said), now), Evidence: cmp.Or(sanitise.Label(e.Said, maxEvidence), rateLimited)}
	if ms, err := strconv.ParseInt(string(e.RetryAt), 10, 64); err == nil && e.Name == Refused {
		if at := time.UnixMilli(ms); at.After(now) && at.Sub(now) <= c3po.MaxOutOfQuota {
			refusal.Again = at
		}
	}
	return refusal, true
}

// How providers and clients name the end of a limit.
var (
	instantForm = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)`)
	epochForm   = regexp.MustCompile(`\|(1\d{9})\b`)
	afterForm   = regexp.MustCompile(`(?i)(?:again|retry|resets?)(?: in| after)((?: *\d+(?:\.\d+)? *(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s),?(?: and)?)+)`)
	partForm    = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?) *([dhms])`)
	clockForm   = regexp.MustCompile(`(?i)(?:resets?|until|again)(?: at)?(?: ([a-z]{3}) (\d{1,2})(?:st|nd|rd|th)?,?(?: \d{4})?(?: at)?)? (\d{1,2})(?::(\d\d))? ?(am|pm)(?: \(([A-Za-z0-9_/+-]+)\))?`)
)

// resetTime finds in a text when a limit ends; zero if it does not say, or says what
// cannot be.
func resetTime(text string, now time.Time) time.Time {
	at := namedTime(text, now)
	if at.Before(now) || at.Sub(now) > c3po.MaxOutOfQuota {
		return time.Time{}
	}
	return at
}

func namedTime(text string, now time.Time) time.Time {
	if found := instantForm.FindString(text); found != "" {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"} {
			if at, err := time.Parse(layout, found); err == nil {
				return at
			}
		}
	}
	if found := epochForm.FindStringSubmatch(text); found != nil {
		if seconds, err := strconv.ParseInt(found[1], 10, 64); err == nil {
			return time.Unix(seconds, 0)
		}
	}
	if found := afterForm.FindStringSubmatch(text); found != nil {
		return now.Add(lengthOf(found[1]))
	}
	if found := clockForm.FindStringSubmatch(text); found != nil {
		return clockTime(found, now)
	}
	return time.Time{}
}

// lengthOf is the length of "2 hours 5 minutes", or "3h20m5s".
func lengthOf(text string) time.Duration {
	units := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}
	var sum time.Duration
	for _, part := range partForm.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.ParseFloat(part[1], 64); err == nil {
			sum += time.Duration(n * float64(units[strings.ToLower(part[2])]))
		}
	}
	return sum
}

// justPassed is how long after a time of the day that time is not the next day's.
const justPassed = 2 * time.Minute

// clockTime is the next time that a clock shows what a text names, in its zone or here.
func clockTime(found []string, now time.Time) time.Time {
	zone := now.Location()
	if found[6] != "" {
		named, err := time.LoadLocation(found[6])
		if err != nil {
			return time.Time{}
		}
		zone = named
	}
	hour, _ := strconv.Atoi(found[3])
	minute, _ := strconv.Atoi(found[4])
	if hour %= 12; strings.EqualFold(found[5], "pm") {
		hour += 12
	}
	there := now.In(zone)
	if found[1] == "" {
		at := time.Date(there.Year(), there.Month(), there.Day(), hour, minute, 0, 0, zone)
		switch late := now.Sub(at); {
		case late > 0 && late < justPassed:
			return time.Time{} // a clock without seconds: it is soon, and not tomorrow
		case late > 0:
			at = at.AddDate(0, 0, 1)
		}
		return at
	}
	month, err := time.Parse("Jan", strings.ToUpper(found[1][:1])+strings.ToLower(found[1][1:]))
	day, err2 := strconv.Atoi(found[2])
	if err != nil || err2 != nil {
		return time.Time{}
	}
	at := time.Date(there.Year(), month.Month(), day, hour, minute, 0, 0, zone)
	if at.Before(now) {
		at = at.AddDate(1, 0, 0)
	}
	return at
}
