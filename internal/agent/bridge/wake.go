package bridge

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// wakePauses are how long a line waits for the turn it should start, before it is
// sent again. Claude Code drops lines that come too quickly one after the other,
// and ends a monitor that goes on regardless.
var wakePauses = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

// rousePauses are the same for a client that is roused: Codex looks for what was
// queued every ten seconds, and a line that is sent again is another turn.
var rousePauses = []time.Duration{time.Minute, 10 * time.Minute}

// rouseTimeout is how long a client may take to be told.
const rouseTimeout = 30 * time.Second

// rousing starts turns of an idle session, as a monitor of our own.
func (b *Bridge) rousing(ctx context.Context) {
	lines := make(chan string, 8)
	b.listen(lines, false)
	defer b.unlisten(lines)
	for {
		select {
		case <-ctx.Done():
			return
		case line := <-lines:
			b.mu.Lock()
			session := b.session.id
			b.mu.Unlock()
			limited, cancel := context.WithTimeout(ctx, rouseTimeout)
			if err := b.rouse(limited, session, line); err != nil {
				b.log.WarnContext(ctx, "cannot wake the session", "err", err)
			}
			cancel()
		}
	}
}

// listen makes a channel one that lines are sent to. One of a turn is closed when
// the next begins.
func (b *Bridge) listen(lines chan string, ofTurn bool) {
	b.mu.Lock()
	b.session.monitors[lines] = ofTurn
	b.mu.Unlock()
	b.slept()
	b.wake() // what came before somebody listened
}

func (b *Bridge) unlisten(lines chan string) {
	defer b.slept()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.session.monitors, lines)
}

// wake tells the monitors of mail that has arrived, if the session is idle.
func (b *Bridge) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.session.arrived) == 0 || len(b.session.monitors) == 0 || b.session.alone || b.off() {
		return
	}
	if b.unanswered || b.trouble != nil {
		return // a turn could read nothing
	}
	if b.rouse != nil && b.session.id == "" {
		return // there is no session to be roused yet
	}
	now := time.Now()
	if b.session.activity.Alone(now) {
		if b.session.activity.Busy(now) {
			b.hurry()
		}
		return // observe looks again
	}
	var arrived []hook.Letter
	for _, l := range b.session.audible() {
		if b.session.arrived[l.ID] {
			arrived = append(arrived, l)
		}
	}
	clear(b.session.arrived)
	decision, memory := hook.Wake(b.session.memory, arrived, now)
	b.session.memory = memory
	if decision.Context == "" {
		return
	}
	b.expectTurn(arrived, now)
	b.tellMonitors(b.bring(decision))
}

// hurry tells of urgent mail in the middle of a turn by way of the monitors, if
// the client does not listen to hooks then. It is called with the lock held.
func (b *Bridge) hurry() {
	if !b.dialect.Deaf() {
		return
	}
	var decision hook.Decision
	if decision, b.session.memory = hook.Step(b.session.memory, b.session.letters()); decision.Context != "" {
		b.tellMonitors(decision.Context)
	}
}

// tellMonitors is called with the lock held.
func (b *Bridge) tellMonitors(line string) {
	for lines := range b.session.monitors {
		select {
		case lines <- line:
		default: // it has not read the last eight: it is woken already
		}
	}
}

// expectTurn looks later whether the line has started a turn. Mail that comes before
// that is waited for together with what was sent first. It is called with the lock held.
func (b *Bridge) expectTurn(letters []hook.Letter, sent time.Time) {
	more := len(b.session.waking) > 0
	for _, l := range letters {
		b.session.waking = append(b.session.waking, l.ID)
	}
	if more {
		return
	}
	b.session.wokenAt = sent
	if b.session.noticed.IsZero() {
		b.session.noticed = sent
	}
	pauses := wakePauses
	if b.rouse != nil || b.dialect == hook.OpenCode { // its plugin sends again by itself
		pauses = rousePauses
	}
	if b.session.wakes < len(pauses) {
		time.AfterFunc(pauses[b.session.wakes], func() { b.wakeAgain(sent) })
	}
	b.session.wakes++
}

// wakeAgain repeats a line that nothing has followed.
func (b *Bridge) wakeAgain(sent time.Time) {
	b.mu.Lock()
	taken := !b.session.wokenAt.Equal(sent)
	if !taken {
		b.session.rearm(b.session.waking)
		b.session.waking = nil
	}
	b.mu.Unlock()
	if !taken {
		b.wake()
		b.slept()
	}
}
