package bridge

import (
	"time"

	"github.com/c3po-dev/c3po/internal/hook"
)

// wakePauses are how long a line waits for the turn it should start, before it is
// sent again. Claude Code drops lines that come too quickly one after the other,
// and ends a monitor that goes on regardless.
var wakePauses = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

// wake tells the monitors of mail that has arrived, if the session is idle.
func (b *Bridge) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.session.arrived) == 0 || len(b.session.monitors) == 0 || b.off() {
		return
	}
	now := time.Now()
	if b.session.busy(now) {
		if b.session.calls == 0 {
			// Should the turn have been interrupted, nothing else will call us.
			time.AfterFunc(b.session.busyUntil.Sub(now)+time.Millisecond, b.wake)
		}
		return
	}
	var arrived []hook.Letter
	for _, l := range b.session.letters() {
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
	b.session.told = memory.Notified()
	b.reportSoon()
	b.expectHook(arrived, now)
	for lines := range b.session.monitors {
		select {
		case lines <- decision.Context:
		default: // it has not read the last eight: it is woken already
		}
	}
}

// expectHook looks later whether the line has started a turn, which calls hooks.
// It is called with the lock held.
func (b *Bridge) expectHook(letters []hook.Letter, sent time.Time) {
	b.session.wokenAt, b.session.waking = sent, nil
	for _, l := range letters {
		b.session.waking = append(b.session.waking, l.ID)
	}
	if b.session.wakes < len(wakePauses) {
		time.AfterFunc(wakePauses[b.session.wakes], func() { b.wakeAgain(sent) })
	}
	b.session.wakes++
}

// wakeAgain repeats a line that nothing has followed.
func (b *Bridge) wakeAgain(sent time.Time) {
	b.mu.Lock()
	taken := b.session.heardAt.After(sent) || !b.session.wokenAt.Equal(sent)
	if !taken {
		b.session.memory = b.session.memory.Unwoken(b.session.waking...)
		for _, id := range b.session.waking {
			if _, here := b.session.mail[id]; here {
				b.session.arrived[id] = true
			}
		}
	}
	b.mu.Unlock()
	if !taken {
		b.wake()
	}
}
