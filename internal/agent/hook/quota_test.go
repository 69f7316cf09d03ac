package hook

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestTheEndOfALimitIsReadFromWhatAClientSays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 17, 14, 30, 0, 0, time.UTC)
	for said, want := range map[string]time.Duration{
		"API Error: Request rejected (429) · usage limit until 2026-11-17T14:30:30Z":   30 * time.Second,
		"limit reached, resets at 2026-11-17T16:30+02:00":                              0,
		"Claude AI usage limit reached|1794925860":                                     time.Minute,
		"You've hit your limit · resets 3pm (UTC)":                                     30 * time.Minute,
		"You've hit your limit · resets 2:15pm (UTC)":                                  23*time.Hour + 45*time.Minute,
		"Limit reached · resets Nov 20, 12am (UTC)":                                    57*time.Hour + 30*time.Minute,
		"Limit reached · resets at 5pm (Europe/Berlin)":                                90 * time.Minute,
		"You've hit your usage limit. Try again in 1 day 2 hours 5 minutes.":           26*time.Hour + 5*time.Minute,
		"Please retry in 30.5s":                                                        30500 * time.Millisecond,
		"Your quota will reset after 3h20m5s.":                                         3*time.Hour + 20*time.Minute + 5*time.Second,
		"You've hit your usage limit, or try again at 3:05 PM.":                        35 * time.Minute,
		"You've hit your usage limit. Try again at Nov 20th, 2026 2:30 PM.":            72 * time.Hour,
		"This request would exceed your account's rate limit. Please try again later.": -1,
		"or try again at 2:29 PM.":                                                     -1,
		"resets at 3pm (Nowhere/Town)":                                                 -1,
		"usage limit until 2026-11-17T14:29:59Z":                                       -1,
		"usage limit until 2026-12-17T14:29:59Z":                                       -1,
		"limited to 5 requests in 1 minute":                                            -1,
		"":                                                                             -1,
	} {
		got := resetTime(said, now)
		if want < 0 && !got.IsZero() || want >= 0 && !got.Equal(now.Add(want)) {
			t.Errorf("%q: %s, want %s from %s", said, got, want, now)
		}
	}
}

func TestHiddenCharactersKeepNoRefusalFromBeingReported(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 17, 14, 30, 0, 0, time.UTC)
	for said, want := range map[string]string{
		"usage limit\u200b · resets 3pm (UTC)":             `usage limit\u200b · resets 3pm (UTC)`,
		"👩\u200d💻 usage\u00ad limit, resets 3pm (UTC)":     `👩\u200d💻 usage\u00ad limit, resets 3pm (UTC)`,
		"usage limit, resets\u202e 3pm (UTC)":              `usage limit, resets\u202e 3pm (UTC)`,
		"\x1b[1musage limit\x1b[0m resets 3\u202fpm (UTC)": `\x1b[1musage limit\x1b[0m resets 3 pm (UTC)`,
	} {
		refusal, refused := Event{Name: StopFailure, Said: said}.RefusedForQuota(now)
		if !refused || refusal.Evidence != want || !refusal.Until.Equal(now.Add(30*time.Minute)) {
			t.Errorf("%q: refused: %v, %+v; want %q until 15:00", said, refused, refusal, want)
		}
	}
}

func TestOnlyATurnThatFailedForItsQuotaIsARefusal(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 17, 14, 30, 0, 0, time.UTC)
	for name, event := range map[string]Event{
		"another failure":            {Name: StopFailure, Error: "overloaded", Said: "rate limit"},
		"a client that says nothing": {Name: StopFailure},
		"a turn that went well":      {Name: StopEvent, Error: "rate_limit"},
	} {
		if refusal, refused := event.RefusedForQuota(now); refused {
			t.Errorf("%s: %+v", name, refusal)
		}
	}
	refusal, refused := Event{Name: StopFailure, Error: "rate_limit", Said: "limit\n· " + strings.Repeat("ü", 300)}.RefusedForQuota(now)
	if !refused || len(refusal.Evidence) > 200 || !strings.HasPrefix(refusal.Evidence, "limit · üü") || !refusal.Until.IsZero() {
		t.Errorf("refused: %v, %+v", refused, refusal)
	}
}

func TestAClientThatHasNoNameForARefusalIsTakenByItsWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 17, 14, 30, 0, 0, time.UTC)
	for said, want := range map[string]bool{
		"Too Many Requests": true, "exceeded retry limit, last status: 429 Too Many Requests": true,
		"You've hit your usage limit.": true, "RESOURCE_EXHAUSTED": true, "429 rate_limit_error": true, "You exceeded your current quota": true,
		"Overloaded": false, "connect ECONNREFUSED 127.0.0.1:4290": false, "context limit reached": false, "": false,
	} {
		if _, refused := (Event{Name: StopFailure, Said: said}).RefusedForQuota(now); refused != want {
			t.Errorf("%q is a refusal: %v, want %v", said, refused, want)
		}
	}
}

func TestWhenAClientAsksItsModelAgainIsReadFromItsWord(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 17, 14, 30, 0, 0, time.UTC)
	soon := now.Add(30 * time.Second)
	for at, want := range map[Word]time.Time{
		Word(strconv.FormatInt(soon.UnixMilli(), 10)):                    soon,
		Word(strconv.FormatInt(now.Add(-time.Second).UnixMilli(), 10)):   {},
		Word(strconv.FormatInt(now.Add(8*24*time.Hour).UnixMilli(), 10)): {},
		"soon": {}, "": {},
	} {
		refusal, refused := Event{Name: Refused, Said: "Too Many Requests", RetryAt: at}.RefusedForQuota(now)
		if !refused || !refusal.Again.Equal(want) || !refusal.Until.IsZero() {
			t.Errorf("%q: %v, %+v, want %s", at, refused, refusal, want)
		}
	}
}
