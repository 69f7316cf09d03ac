package c3po

import (
	"fmt"
	"time"
)

// MaxOutOfQuota bounds for how long an agent is out of quota by one report: the longest
// period for which providers count.
const MaxOutOfQuota = 7 * 24 * time.Hour

// OutOfQuota is what is known of an agent whose model is refused to it because its quota
// is used up.
type OutOfQuota struct {
	Until    time.Time `json:"until"`              // its client asks the model again then
	Exact    bool      `json:"exact"`              // its provider has named that time; else the end is not known
	Evidence string    `json:"evidence,omitempty"` // what the client said
	Since    time.Time `json:"since"`              // when the coordinator heard of it last
}

// Left says how long that is still so: "out of quota for another 12 min", or, if the end is not
// known, when it tries again.
func (q OutOfQuota) Left(now time.Time) string {
	left := Age(q.Until.Sub(now))
	if q.Exact {
		return "out of quota for another " + left
	}
	return "out of quota, tries again in " + left
}

// When says at which time the agent goes on, with the date unless that is the day on which
// the coordinator heard of it.
func (q OutOfQuota) When() string {
	at := q.Until.UTC().Format("15:04:05 UTC")
	if q.Until.UTC().Format(time.DateOnly) != q.Since.UTC().Format(time.DateOnly) {
		at = q.Until.UTC().Format("2006-01-02 15:04 UTC")
	}
	if q.Exact {
		return "until " + at
	}
	return fmt.Sprintf("until a time that is not known; it tries again at %s", at)
}

// A QuotaReport is a session's word that its model is refused to it, or no longer is.
type QuotaReport struct {
	RetryInMS int64  `json:"retry_in_ms,omitempty" jsonschema:"Milliseconds until the client asks the model again; 0: the model has answered"`
	Exact     bool   `json:"exact,omitempty" jsonschema:"The provider has named that time"`
	Evidence  string `json:"evidence,omitempty" jsonschema:"What the client said; more than 200 bytes are cut"`
}
