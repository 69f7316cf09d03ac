package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// end takes a pending message out of its inbox for good.
func (sp *space) end(msg *message, state string, kind c3po.EventKind, about c3po.AgentID, now time.Time) {
	msg.state, msg.facts.Ended = state, now
	sp.books.Pending--
	sp.books.PendingBytes -= int64(msg.facts.Bytes)
	sp.event(kind, about, msg.view.ID, now)
	msg.endSeq, msg.endedAt = sp.books.Seq, sp.books.Lived
}

// ack ends a message as acked.
func (sp *space) ack(msg *message, now time.Time) {
	sp.books.Acked++
	sp.endKept(msg, c3po.StateAcked, c3po.EventAcked, "", now)
}

// endKept ends a message whose record is kept for a while. Ended mail has a
// budget of bytes; who adds to it pays with up to two of its own oldest.
func (sp *space) endKept(msg *message, state string, kind c3po.EventKind, about c3po.AgentID, now time.Time) {
	sp.end(msg, state, kind, about, now)
	sp.books.EndedBytes += msg.keptBytes()
	own := sp.find(func(other *message) bool {
		return other.kept() && other.view.ToAgent == msg.view.ToAgent
	}, byEnd)
	for _, old := range own[:min(len(own), 2)] {
		if sp.overBudget() {
			sp.forget(old)
		}
	}
}

// kept says that the message has ended and counts against the budget.
func (msg *message) kept() bool {
	return msg.state == c3po.StateAcked || msg.state == c3po.StateCancelled
}

// keptBytes is what a message weighs once it has ended.
func (msg *message) keptBytes() int64 { return int64(msg.facts.Bytes - msg.facts.KeyBytes) }

func byEnd(msg *message) int64 { return msg.endSeq }

func (sp *space) overBudget() bool { return sp.books.EndedBytes > int64(sp.limits.EndedBytes) }

func (sp *space) forget(msg *message) {
	delete(sp.messages, msg.view.ID)
	if msg.kept() {
		sp.books.EndedBytes -= msg.keptBytes()
	}
}

// Reaper implements store.Store.
func (m *Model) Reaper(_ context.Context, node string, length time.Duration) (time.Duration, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := m.term.until.Sub(m.now())
	// A term that ends later than it can was given before the clock was set back.
	if m.term.node != "" && m.term.node != node && left > 0 && left <= m.term.length {
		return left, nil
	}
	switch {
	case length > 0:
		m.term = term{node: node, until: m.now().Add(length), length: length}
	case m.term.node == node:
		m.term = term{}
	}
	return 0, nil
}

// A term is for how long a node is the one that reaps.
type term struct {
	node   string
	until  time.Time
	length time.Duration
}

// Tick implements store.Store.
func (m *Model) Tick(_ context.Context, name c3po.Space, node string, interval time.Duration) (store.Pulse, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	passed := now.Sub(sp.lastTick)
	if sp.lastTick.IsZero() {
		passed = 0
	}
	// A clock that was set back starts over from here, or no time would be
	// lived until it has caught up.
	if sp.lastTick.IsZero() || passed < 0 || passed >= interval/2 {
		sp.lastTick, sp.ticker = now, node
		sp.livedFor += max(0, min(passed, 2*interval))
		sp.books.Lived = seconds(sp.livedFor)
	}
	won := sp.ticker == node
	return store.Pulse{Lived: sp.books.Lived, Won: won, Due: won && sp.isDue(now)}, nil
}

// isDue says whether there is anything to do for a reaper.
func (sp *space) isDue(now time.Time) bool {
	if sp.sweep <= sp.books.Lived || sp.overBudget() {
		return true
	}
	for _, msg := range sp.messages {
		switch {
		case msg.state == c3po.StatePending && msg.facts.Expires > 0 && msg.facts.Expires <= sp.books.Lived,
			msg.state == c3po.StateDead && msg.reason == c3po.ReasonRecipientRemoved:
			return true
		}
	}
	for _, at := range sp.deadlines {
		if !at.After(now) {
			return true
		}
	}
	for _, a := range sp.agents {
		if retire := seconds(sp.limits.RetireAfter); retire > 0 && sp.books.Lived-a.lastKnown >= retire {
			return true
		}
	}
	for _, r := range sp.retired {
		if r.look <= sp.books.Lived {
			return true
		}
	}
	for _, key := range sp.keys {
		if sp.books.Lived-key.bornAt >= seconds(sp.limits.KeyLife) {
			return true
		}
	}
	return len(sp.unused(now)) > 0
}

// DueMail implements store.Store.
func (m *Model) DueMail(_ context.Context, name c3po.Space, limit int) ([]store.Due, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	found := sp.find(func(msg *message) bool {
		return msg.state == c3po.StatePending && msg.facts.Expires > 0 && msg.facts.Expires <= sp.books.Lived
	}, func(msg *message) int64 { return msg.facts.Expires })
	var due []store.Due
	for _, msg := range found[:min(len(found), limit)] {
		due = append(due, store.Due{ID: msg.view.ID, From: msg.view.FromAgent})
	}
	return due, nil
}

// Bury implements store.Store.
func (m *Model) Bury(_ context.Context, name c3po.Space, id c3po.MessageID, reason, bounce string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	msg := sp.messages[id]
	if msg == nil || msg.state != c3po.StatePending {
		return false, nil
	}
	msg.reason = reason
	sp.end(msg, c3po.StateDead, c3po.EventDead, "", now)
	sp.books.Dead++
	if bounce != "" {
		sp.tellSender(msg, c3po.KindBounce, bounce, m.durability, now)
	}
	return true, nil
}

// tellSender puts word of what became of a message into its sender's inbox, if
// there is one that waits for it.
func (sp *space) tellSender(msg *message, kind c3po.Kind, text string, durability c3po.Durability, now time.Time) {
	if sp.agents[msg.view.FromAgent] == nil || msg.view.Kind == c3po.KindBounce || msg.view.Kind == c3po.KindNotice {
		return
	}
	told := sp.accept(store.Draft{
		From: c3po.System, To: msg.view.FromAgent, Kind: kind, Thread: msg.view.Thread, Priority: c3po.Normal, Text: text,
	}, c3po.EventAccepted, msg.view.ID, durability, now)
	told.facts.Expires = sp.books.Lived + seconds(sp.limits.MessageLife)
}

// Trim implements store.Store.
func (m *Model) Trim(_ context.Context, name c3po.Space, limit int) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	now := m.now()
	sp.trimAccounts(limit, now)
	forgotten := sp.trimEnded(limit) + sp.trimDead(limit) + sp.trimRetired(limit) + sp.trimKeys(limit)
	if forgotten == 0 {
		sp.sweepUp(now)
		sp.noteEmpty()
		sp.swept()
	}
	return forgotten, nil
}

// sweepUp forgets what has no clock of its own and is of no use any more.
func (sp *space) sweepUp(now time.Time) {
	sp.dropEdits(store.LeaseMemory, now)
	maps.DeleteFunc(sp.leases, func(_ string, until time.Time) bool { return store.LeaseOver(sp.limits, until, now) })
	maps.DeleteFunc(sp.aliases, func(_ string, is alias) bool { return store.AliasOver(sp.limits, sp.books.Lived, is.at) })
	maps.DeleteFunc(sp.renamed, func(_ c3po.AgentID, is alias) bool { return store.NameOver(sp.limits, sp.books.Lived, is.at) })
	maps.DeleteFunc(sp.accounts, func(name string, a *account) bool {
		return isChain(name) && a.spent() && store.PauseOver(sp.limits, a.start, now) &&
			len(sp.find(func(msg *message) bool { return msg.view.Thread == name[2:] }, bySeq)) == 0
	})
	for name, r := range sp.rooms {
		if name != c3po.Everybody && store.RoomOver(sp.limits, sp.books.Lived, r.record(name, "")) {
			sp.endRoom(name, r, sp.limits.RoomLife, now)
		}
	}
	sp.trimFiles()
	maps.DeleteFunc(sp.queues, func(queue c3po.AgentID, _ bool) bool {
		for _, a := range sp.agents {
			if slices.Contains(c3po.QueuesOf(a.profile.Capabilities), queue) {
				return false
			}
		}
		return len(sp.find(func(msg *message) bool { return msg.view.ToAgent == queue }, bySeq)) == 0
	})
}

// An emptiness is since when nothing is left in a space.
type emptiness struct {
	since, seq int64
	over       bool
}

func (sp *space) isEmpty() bool {
	rooms := len(sp.rooms)
	if sp.rooms[c3po.Everybody] != nil {
		rooms--
	}
	return sp.paused == "" && rooms+len(sp.agents)+len(sp.retired)+len(sp.renamed)+len(sp.keys)+len(sp.messages)+len(sp.deadlines)+
		len(sp.accounts)+len(sp.queues)+len(sp.aliases)+len(sp.files) == 0
}

// noteEmpty says whether the space was empty for so long that it can be forgotten.
func (sp *space) noteEmpty() {
	switch {
	case !sp.isEmpty():
		sp.empty = nil
	case sp.empty == nil || sp.empty.seq != sp.books.Seq:
		sp.empty = &emptiness{since: sp.books.Lived, seq: sp.books.Seq}
	default:
		sp.empty.over = sp.books.Lived-sp.empty.since >= seconds(store.EmptyLife(sp.limits))
	}
}

// ForgetSpaces implements store.Store.
func (m *Model) ForgetSpaces(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, sp := range m.spaces {
		if sp.empty != nil && sp.empty.over && sp.isEmpty() && sp.empty.seq == sp.books.Seq {
			m.floor = store.Sequence{Last: max(m.floor.Last, sp.books.Seq), Epoch: max(m.floor.Epoch, sp.epoch+1)}
			delete(m.spaces, name)
		}
	}
	return nil
}

// swept notes when the next sweep is due.
func (sp *space) swept() {
	var ends []int64
	for _, msg := range sp.messages {
		if msg.kept() {
			ends = append(ends, msg.endedAt+seconds(sp.limits.EndedLife))
		} else if msg.state == c3po.StateDead {
			ends = append(ends, msg.endedAt+seconds(sp.limits.DeadLife))
		}
	}
	sp.sweep = store.NextSweep(sp.limits, sp.books.Lived, ends...)
}

func (sp *space) outlived(msg *message, life time.Duration) bool {
	return sp.books.Lived-msg.endedAt >= seconds(life)
}

func (sp *space) trimEnded(limit int) (forgotten int) {
	ended := sp.find((*message).kept, byEnd)
	for _, msg := range ended[:min(len(ended), limit)] {
		if !sp.overBudget() && !sp.outlived(msg, sp.limits.EndedLife) {
			break
		}
		sp.forget(msg)
		forgotten++
	}
	return forgotten
}

func (sp *space) trimDead(limit int) (forgotten int) {
	for _, msg := range sp.deadLetters() {
		if forgotten < limit && sp.outlived(msg, sp.limits.DeadLife) {
			sp.forget(msg)
			forgotten++
		}
	}
	return forgotten
}

// trimKeys forgets the oldest keys first, those of one second by name: which of
// two old keys is left decides how many are counted the next time.
func (sp *space) trimKeys(limit int) int {
	var old []keyName
	for key, record := range sp.keys {
		if sp.books.Lived-record.bornAt >= seconds(sp.limits.KeyLife) {
			old = append(old, key)
		}
	}
	slices.SortFunc(old, func(a, b keyName) int {
		return cmp.Or(cmp.Compare(sp.keys[a].bornAt, sp.keys[b].bornAt), cmp.Compare(a.from, b.from), cmp.Compare(a.name, b.name))
	})
	old = old[:min(len(old), limit)]
	for _, key := range old {
		delete(sp.keys, key)
	}
	return len(old)
}

func (sp *space) deadLetters() []*message {
	return sp.find(func(msg *message) bool { return msg.state == c3po.StateDead }, byEnd)
}

// DeadLetters implements store.Store.
func (m *Model) DeadLetters(_ context.Context, name c3po.Space, after int64, limit int) ([]store.DeadLetter, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	var letters []store.DeadLetter
	for _, msg := range sp.deadLetters() {
		if msg.endSeq > after && len(letters) < limit {
			letters = append(letters, store.DeadLetter{Entry: sp.entry(msg), Seq: msg.endSeq, At: msg.facts.Ended})
		}
	}
	return letters, nil
}

// Counters implements store.Store.
func (m *Model) Counters(_ context.Context, name c3po.Space) (store.Counters, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	books := sp.books
	books.Paused = sp.paused
	return books, nil
}

// Oldest implements store.Store.
func (m *Model) Oldest(_ context.Context, name c3po.Space) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.space(name).find(func(msg *message) bool {
		return msg.state == c3po.StatePending && msg.facts.Expires > 0
	}, func(msg *message) int64 { return msg.facts.Expires })
	if len(found) == 0 {
		return time.Time{}, nil
	}
	return found[0].facts.Accepted, nil
}

// InboxSize implements store.Store.
func (m *Model) InboxSize(_ context.Context, name c3po.Space, id c3po.AgentID) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.space(name).pending(id)), nil
}

// InboxSizes implements store.Store.
func (m *Model) InboxSizes(_ context.Context, name c3po.Space, ids []c3po.AgentID) ([]int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sizes := make([]int, len(ids))
	for i, id := range ids {
		sizes[i] = len(m.space(name).pending(id))
	}
	return sizes, nil
}

// Spaces implements store.Store.
func (m *Model) Spaces(context.Context) ([]c3po.Space, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := slices.Sorted(maps.Keys(m.spaces))
	return slices.DeleteFunc(names, func(name c3po.Space) bool { return !m.spaces[name].written }), nil
}
