package hook

import (
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// silenceTimeout is how long a turn, or a dialog, is believed in without a sign. A
// person who interrupts a turn ends it, and no hook says so.
const silenceTimeout = 90 * time.Second

// typedWithin is how exactly it is known when somebody has typed: two keys within it may
// look like one.
const typedWithin = 8 * time.Second

// interruptTimeout is how long after an interrupted call the turn may go on.
const interruptTimeout = 2 * time.Second

// stoppedFor is how long mail starts no turn after a person has stopped one, unless they
// write something sooner.
const stoppedFor = time.Minute

// reactTimeout is how long a session may take to begin a turn after a notice, before it is
// said not to react.
const reactTimeout = 30 * time.Second

// An Activity is what a session is known to do. It is made of evidence alone, each
// piece with its time: hooks, calls of our tools, the process of the client, and
// what the client says of itself. The zero value is a session that has shown
// nothing yet. Its methods return a new one.
type Activity struct {
	phase  phase
	at     time.Time // of the latest evidence
	step   time.Time // when its turn last moved
	until  time.Time // how long that is believed
	alone  time.Time // it is left alone until then, whatever its client says meanwhile
	failed bool      // because its last turn failed
	turn   bool      // a prompt has begun a turn that no hook has ended
	halted bool      // its user stopped its last turn
	says   bool      // the client itself says what it does: silence means no change
	calls  int       // of our tools, under way
	notice time.Time // the first of the notices that no turn has followed
	frozen bool      // the process is stopped
	shell  bool      // something that it has started runs in the background
}

type phase int

const (
	resting phase = iota
	working
	dialog
)

// Works is a turn that begins or goes on.
func (a Activity) Works(now time.Time) Activity {
	a.phase, a.at, a.step, a.until = working, now, now, now.Add(silenceTimeout)
	return a
}

// Begins is a turn that a prompt begins.
func (a Activity) Begins(now time.Time) Activity {
	if a.halted {
		a.halted, a.alone = false, time.Time{}
	}
	a = a.Works(now)
	a.turn = true
	return a
}

// StillWorks is the client's word that its turn goes on, which is no step of it.
func (a Activity) StillWorks(now time.Time) Activity {
	if a.phase != working {
		return a.Works(now)
	}
	a.at, a.until = now, now.Add(silenceTimeout)
	return a
}

// Asks is a dialog that opens: only the user can close it.
func (a Activity) Asks(now time.Time) Activity {
	a.phase, a.at, a.until = dialog, now, now.Add(silenceTimeout)
	return a
}

// StillAsks is a dialog that must still be open, if one was.
func (a Activity) StillAsks(now time.Time) Activity {
	if a.phase == dialog {
		a.until = now.Add(silenceTimeout)
	}
	return a
}

// Typed is when somebody last typed at the terminal, as known now and before. A dialog
// that was open is believed to be while nobody can have closed it, and not once somebody
// may have.
func (a Activity) Typed(at, before, now time.Time) Activity {
	switch {
	case a.phase != dialog || a.says || at.IsZero():
	case at.After(before) && !before.IsZero() && !at.Before(a.at.Truncate(time.Second)):
		return a.Works(now)
	case a.at.Sub(at) > typedWithin:
		return a.StillAsks(now)
	}
	return a
}

// Rests is the end of a turn. The session is left alone for a while if its turns
// would not end.
func (a Activity) Rests(now time.Time, alone time.Duration) Activity {
	a = a.rests(now)
	a.alone, a.failed, a.halted = now.Add(alone), false, false
	return a
}

// Fails is the end of a turn in which the model could not be asked. Its mail starts
// another at a time that nothing but a turn that ends well changes.
func (a Activity) Fails(now, again time.Time) Activity {
	a = a.rests(now)
	a.alone, a.failed, a.halted = again, true, false
	return a
}

// rests is a session that does nothing.
func (a Activity) rests(since time.Time) Activity {
	a.phase, a.at, a.until, a.turn = resting, since, since, false
	return a
}

// Calls is a call of a tool of ours that begins.
func (a Activity) Calls() Activity {
	a.calls++
	return a
}

// Returns is the end of such a call. One that was interrupted ends the turn.
func (a Activity) Returns(now time.Time, interrupted bool) Activity {
	a.calls--
	a = a.Works(now)
	if interrupted {
		a.until = now.Add(interruptTimeout)
	}
	return a
}

// Says is what the client says of itself, since when. If it says so, silence is no
// evidence: its word stands until there is a newer one, or a newer hook.
func (a Activity) Says(word string, since time.Time) Activity {
	var next Activity
	switch word {
	case "busy":
		next = a.Works(since)
	case "waiting":
		next = a.Asks(since)
	case "idle", "shell": // a shell in the background does not keep it from a turn
		next = a.rests(since)
		if a.turn { // no hook has ended it, so its user has
			next.alone, next.failed, next.halted = since.Add(stoppedFor), false, true
		}
	default:
		a.says = false
		return a
	}
	if since.After(a.at) {
		a = next
	}
	a.says, a.shell = true, word == "shell"
	return a
}

// Stopped says whether the process of the client is halted.
func (a Activity) Stopped(halted bool) Activity {
	a.frozen = halted
	return a
}

// Noticed is when the session was first given a notice that no turn has followed; the
// zero time if there is none. Any turn is a reaction, whatever the model does in it.
func (a Activity) Noticed(first time.Time) Activity {
	a.notice = first
	return a
}

// Busy says that a turn or a dialog is believed in.
func (a Activity) Busy(now time.Time) bool {
	return a.calls > 0 || now.Before(a.until) || a.says && a.phase != resting
}

// Alone says that nothing should start a turn of the session now: one runs, or it is
// left alone for a while.
func (a Activity) Alone(now time.Time) bool { return a.Busy(now) || now.Before(a.alone) }

// Again is when the mail of a turn that failed starts another, if it is to.
func (a Activity) Again(now time.Time) (at time.Time, waits bool) {
	return a.alone, a.failed && now.Before(a.alone)
}

// Idle is since when the session does nothing, and nothing that it has started runs on,
// if that is known. c3po's own monitor is such a shell: a session with one always reports
// that something runs on, which then means nothing.
func (a Activity) Idle(now time.Time, monitored bool) (since time.Time, known bool) {
	left := a.Alone(now)
	if a.failed || a.halted {
		left = a.Busy(now)
	}
	return a.at, a.phase == resting && !a.at.IsZero() && !a.frozen && (!a.shell || monitored) && !left
}

// SilentTurn is since when a turn has made no step, if one runs as far as
// is known, and no call of ours and no dialog explains it.
func (a Activity) SilentTurn() (since time.Time, runs bool) {
	return a.step, a.phase == working && a.calls == 0
}

// BelievedUntil is when the evidence ends.
func (a Activity) BelievedUntil() time.Time { return a.until }

// A Switch is what a person has set for the session, or who runs it.
type Switch struct {
	Off   bool // c3po is switched off here
	Alone bool // a script runs the session
	Armed bool // something listens that can start a turn
	Early bool // it has begun so lately that what can start a turn may still be starting
}

// State is the word for what the session does. No state is claimed without its
// evidence.
func (a Activity) State(s Switch, now time.Time) c3po.SessionState {
	switch {
	case s.Off:
		return c3po.SessionOff
	case a.frozen:
		return c3po.SessionUnknown
	case s.Alone:
		return c3po.SessionUnattended
	case a.Busy(now) && a.phase == dialog:
		return c3po.SessionDialog
	case a.Busy(now):
		return c3po.SessionWorking
	case a.phase != resting:
		return c3po.SessionUnknown // its last sign is too old
	case !s.Armed && s.Early:
		return c3po.SessionStarting
	case !s.Armed:
		return c3po.SessionUnarmed
	case a.halted && now.Before(a.alone):
		return c3po.SessionStopped
	case a.failed && now.Before(a.alone):
		return c3po.SessionFailed
	case !a.notice.IsZero() && now.Sub(a.notice) >= reactTimeout:
		return c3po.SessionUnknown
	default:
		return c3po.SessionIdle
	}
}
