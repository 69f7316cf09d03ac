package c3po

import (
	"fmt"
	"time"
)

// Age is a length of time as people say it: "40 s", "3 min", "2 h", "5 days".
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	default:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	}
}

// Ago says when something was.
func Ago(now, then time.Time) string {
	switch d := now.Sub(then); {
	case then.IsZero():
		return "never"
	case d < 10*time.Second:
		return "just now"
	default:
		return Age(d) + " ago"
	}
}

// When says when mail that is sent now is read. Every surface says it in these words,
// and top in fewer; web/src/plain.ts is the same for the dashboard.
func (r Reachability) When() string {
	switch r {
	case ReachNextStep:
		return "at its next step"
	case ReachTurnEnd:
		return "when its turn ends"
	case ReachSoon:
		return "within a minute"
	case ReachNextCall:
		return "when it next calls"
	case ReachRetry:
		return "at its next try, within 15 min"
	case ReachQuota:
		return "once its quota is back"
	case ReachPersonReturns:
		return "when its person returns"
	case ReachResumed:
		return "once resumed"
	case ReachWaitingForHuman:
		return "when its user answers"
	case ReachDialog:
		return "when its user answers a dialog"
	case ReachOff:
		return "once switched on"
	case ReachNextSession:
		return "in its next session"
	case ReachStarts:
		return "when mail starts it"
	case ReachOffline:
		return "when it starts again"
	default:
		return string(r)
	}
}

// Prospect says what an agent does with mail that is sent to it now: "wakes now".
func (r Reachability) Prospect() string {
	switch r {
	case ReachNow:
		return "wakes now"
	case ReachStarts:
		return "starts when mailed"
	case ReachUnknown:
		return "does not react; when it reads it is unknown"
	default:
		return "reads it " + r.When()
	}
}

// freshFor is how long what was read of an agent may be shown as if it were so now.
const freshFor = 10 * time.Second

// words are a state as people say it, before and after its age.
func (s SessionState) words() (before, after string) {
	switch s {
	case SessionDialog:
		return "waiting at its terminal", ""
	case SessionUnarmed:
		return "idle", ", nothing wakes it"
	case SessionStopped:
		return "idle", ", its user stopped it"
	case SessionFailed:
		return "idle", ", its last turn failed"
	case SessionOff:
		return "switched off", ""
	case SessionUnattended:
		return "run by a script", ""
	case SessionUnknown:
		return "no reaction", ""
	default:
		return string(s), ""
	}
}

// For says a state and how long it has been known: "idle for 40 s". The age is left
// out if it is not known, also because the clocks of two hosts differ.
func (s SessionState) For(since *time.Time, now time.Time) string {
	before, after := s.words()
	if since == nil || now.Sub(*since) < time.Second {
		return before + after
	}
	return before + " for " + Age(now.Sub(*since)) + after
}

// Standing says what is known of an agent and how old that is: the state of its
// session while that is connected, else when the agent was last seen. The agent was
// read at some time; if that is long ago, nothing is said of now: "idle 40 s ago".
// Every surface shows this. web/src/plain.ts is the same for the dashboard.
func (a Agent) Standing(read, now time.Time) string {
	seen := "seen " + Ago(now, a.LastSeen)
	fresh := now.Sub(read) < freshFor
	switch {
	case a.OutOfQuota != nil && now.Before(a.OutOfQuota.Until) && a.Reachability == ReachQuota:
		return a.OutOfQuota.Left(now)
	case a.State != "" && fresh:
		return a.State.For(a.StateSince, read)
	case a.State != "":
		before, _ := a.State.words()
		return before + " " + Ago(now, read)
	case a.Status == Online: // the program that made the call may have ended since
		return "last call " + Ago(now, a.LastSeen)
	case fresh:
		return string(a.Status) + ", " + seen
	default:
		return seen
	}
}
