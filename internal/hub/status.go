package hub

import (
	"fmt"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// view is an agent as others see it.
func view(r store.Record) c3po.Agent {
	agent := c3po.Agent{
		ID:           r.ID,
		Name:         r.Profile.Name,
		Status:       status(r),
		Availability: r.Availability,
		Alive:        alive(r),
		Paused:       paused(r.Paused),
		Reachability: reachability(r),
		State:        r.State,
		StateSince:   stateSince(r),
		OutOfQuota:   r.OutOfQuota,
		Capabilities: r.Profile.Capabilities,
		Type:         r.Profile.Type,
		Host:         r.Profile.Host,
		Cwd:          r.Profile.Cwd,
		Rooms:        []c3po.RoomName{},
		CurrentTask:  r.CurrentTask,
		Client:       r.Profile.Client,
		Heartbeat:    r.Profile.Heartbeat,
		Metadata:     r.Profile.Metadata,
		RegisteredAt: r.RegisteredAt,
		LastSeen:     r.Seen,
	}
	if agent.Availability == "" {
		agent.Availability = c3po.Available
	}
	if agent.Capabilities == nil {
		agent.Capabilities = []string{}
	}
	if agent.Host == "" {
		agent.Host = r.ID.Host()
	}
	return agent
}

// stateSince is when the session was first said to be in its state.
func stateSince(r store.Record) *time.Time {
	if r.State == "" || r.StateAt.IsZero() {
		return nil
	}
	return &r.StateAt
}

// alive says what is known of the run: that it is there, because it holds a
// connection; that it is over; or nothing. Silence proves neither, nor does a call
// that was made: the program that made it may have ended since.
func alive(r store.Record) *bool {
	yes, no := true, false
	switch {
	case r.Profile.PID > 0 && !r.Died.IsZero(): // the process it named is not there, whoever calls in its name
		return &no
	case r.Online && (r.Attached || r.Watched):
		return &yes
	case r.Gone && !r.Online:
		return &no
	}
	return nil
}

func status(r store.Record) c3po.Status {
	switch {
	case r.Online:
		return c3po.Online
	default:
		return c3po.Offline
	}
}

func paused(why string) *string {
	if why == "" {
		return nil
	}
	return &why
}

// reachability says what becomes of mail sent now. A pause outweighs a
// connection: the session would wake, but it has been told not to act.
func reachability(r store.Record) c3po.Reachability {
	switch {
	case r.Paused == c3po.PausedForHuman:
		return c3po.ReachWaitingForHuman
	case r.Paused != "":
		return c3po.ReachResumed
	case r.OutOfQuota != nil && waitsForQuota(r):
		return c3po.ReachQuota
	case r.Attached && r.State != "":
		return reachOf(r.State) // of one that is closed, its host is attached
	case r.Online:
		return c3po.ReachNextCall
	default:
		return c3po.ReachOffline
	}
}

// reachOfMail says what becomes of one message. A session at work hears of questions, answers
// and urgent mail between two steps, and of the rest when its turn ends.
func reachOfMail(r store.Record, m c3po.Message) c3po.Reachability {
	reach := reachability(r)
	if calls := m.ExpectsReply || m.Kind == c3po.KindReply && !m.Quiet; reach == c3po.ReachNextStep && !calls && m.Priority != c3po.Urgent {
		return c3po.ReachTurnEnd
	}
	return reach
}

// waitsForQuota says that nothing but its quota keeps an agent from its mail.
func waitsForQuota(r store.Record) bool {
	if !r.Attached || r.State == "" {
		return r.Online
	}
	switch r.State {
	case c3po.SessionIdle, c3po.SessionWaiting, c3po.SessionWorking, c3po.SessionStarting, c3po.SessionStopped, c3po.SessionFailed, c3po.SessionClosed:
		return true
	}
	return false
}

// reachOf is what becomes of mail to a session in a state.
func reachOf(state c3po.SessionState) c3po.Reachability {
	switch state {
	case c3po.SessionIdle, c3po.SessionWaiting:
		return c3po.ReachNow
	case c3po.SessionWorking:
		return c3po.ReachNextStep
	case c3po.SessionStarting, c3po.SessionStopped:
		return c3po.ReachSoon
	case c3po.SessionFailed:
		return c3po.ReachRetry
	case c3po.SessionDialog:
		return c3po.ReachDialog
	case c3po.SessionUnarmed:
		return c3po.ReachPersonReturns
	case c3po.SessionOff:
		return c3po.ReachOff
	case c3po.SessionUnattended:
		return c3po.ReachNextSession
	case c3po.SessionClosed:
		return c3po.ReachStarts
	default:
		return c3po.ReachUnknown
	}
}

// prospect says in words why a message will not be read soon; empty if it will.
func prospect(r store.Record) string {
	reach := reachability(r)
	when := reach.When()
	switch reach {
	case c3po.ReachWaitingForHuman:
		return fmt.Sprintf("'%s' has asked its user; it reads this %s", r.ID, when)
	case c3po.ReachPersonReturns:
		return fmt.Sprintf("'%s' is idle and nothing can wake it; it reads this %s", r.ID, when)
	case c3po.ReachResumed:
		if r.Paused == c3po.PausedByPerson {
			return fmt.Sprintf("'%s' is paused; it reads this %s", r.ID, when)
		}
		return fmt.Sprintf("'%s' is paused (%s); it reads this %s", r.ID, r.Paused, when)
	case c3po.ReachRetry:
		return fmt.Sprintf("the last turn of '%s' failed; it gets this with its next try, within 15 minutes", r.ID)
	case c3po.ReachQuota:
		return fmt.Sprintf("'%s' is out of quota %s; its mail waits until then", r.ID, r.OutOfQuota.When())
	case c3po.ReachDialog:
		return fmt.Sprintf("'%s' has a dialog open; it reads this %s", r.ID, when)
	case c3po.ReachOff:
		return fmt.Sprintf("the user of '%s' has switched c3po off there; it reads this %s", r.ID, when)
	case c3po.ReachNextSession:
		return fmt.Sprintf("a script runs '%s', which hears of no mail; its next session reads this", r.ID)
	case c3po.ReachUnknown:
		return fmt.Sprintf("'%s' has not reacted since %s; when it reads this is unknown", r.ID, r.StateAt.UTC().Format(time.TimeOnly))
	case c3po.ReachOffline:
		return fmt.Sprintf("'%s' is offline; it reads this %s", r.ID, when)
	default:
		return ""
	}
}

// sentences joins notices, leaving out the empty ones.
func sentences(notices ...string) string {
	var said []string
	for _, notice := range notices {
		if notice != "" {
			said = append(said, notice)
		}
	}
	return strings.Join(said, ". ")
}
