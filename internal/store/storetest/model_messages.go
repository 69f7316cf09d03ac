package storetest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

type message struct {
	view    c3po.Message
	listed  c3po.MessageID // the id it came with: threads and tickets have it by that
	state   string
	reason  string
	facts   store.Facts // without Notified, which is kept by agent
	endSeq  int64       // number of the event that ended it
	endedAt int64       // in lived seconds
	spoilt  bool
	lapsed  bool                        // its deadline passed unanswered, and nobody waits on
	heldUp  map[store.HoldUpReason]bool // what was said of it
}

// alias is what a bare name was last resolved to.
type alias struct {
	to c3po.AgentID
	at int64 // in lived seconds
}

type keyName struct {
	from c3po.AgentID
	name string
}

// keyRecord remembers the message an idempotency key stands for. It knows
// enough to answer a repeat when the message itself is forgotten.
type keyRecord struct {
	fingerprint string
	id          c3po.MessageID
	thread      string
	at          time.Time
	bornAt      int64 // in lived seconds
	seq         int64 // of a post
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// Send implements store.Store.
func (m *Model) Send(_ context.Context, name c3po.Space, step store.SendStep) (store.Stored, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	stored, err := sp.send(step, now)
	if err == nil && step.Queue {
		stored.Recipient = store.Record{ID: step.To}
		for _, id := range step.Members {
			if sp.agents[id] != nil {
				stored.Members = append(stored.Members, sp.record(id, now).Told())
			}
		}
	}
	return stored, store.NothingStored(step.Key, err)
}

func (sp *space) send(step store.SendStep, now time.Time) (store.Stored, error) {
	print := step.Fingerprint()
	key, first, err := sp.repeated(step.Draft, step.To, print, now)
	if err != nil {
		return store.Stored{}, err
	}
	if first != nil && step.Key != "" && !sp.meant(first, step.To) {
		_, to, _ := first.id.Split()
		return store.Stored{Meant: to}, store.RefuseKeyConflict(step.Key)
	}
	if first != nil {
		return sp.repeat(first, step.To, now), nil
	}
	if sp.superseded(step.From, step.Run) {
		return store.Stored{}, store.RefuseSuperseded(step.From)
	}
	if step.Barred != nil {
		return store.Stored{}, step.Barred
	}
	if sp.halted(step.From) && !step.Mailbox {
		return store.Stored{}, store.RefuseHalted(sp.paused)
	}
	if err := sp.attachable(step.Draft); err != nil {
		return store.Stored{}, err
	}
	if err := sp.mayCome(step, now); err != nil {
		return store.Stored{}, err
	}
	sent, err := sp.rate(step, now)
	if err != nil {
		return store.Stored{}, err
	}
	if err := sp.roomFor(step.Draft, step.Bytes(), !step.Mailbox); err != nil {
		return store.Stored{}, err
	}
	if sp.crowded(step.From, step.To, step.Bytes()) {
		return store.Stored{}, store.RefuseSpaceFull(sp.limits.SpaceBytes)
	}
	bill, spent := sp.reckon(step.Draft, cmp.Or(step.Chain, step.Thread), store.TextDigest(step.From, step.To, step.Draft), now)
	if spent != nil {
		return store.Stored{Spent: spent}, store.RefuseSpent(*spent, sp.limits)
	}

	msg := sp.accept(step.Draft, c3po.EventAccepted, "", step.Durability, now)
	sp.attach(msg)
	msg.facts.KeyBytes = step.KeyBytes()
	if !step.Mailbox {
		msg.facts.Expires = sp.books.Lived + seconds(sp.limits.MessageLife)
	}
	sp.keys[key] = keyFor(print, msg, sp.books.Lived)
	if step.Chain != step.Thread {
		msg.facts.Chain = step.Chain
	}
	sp.charge(bill, msg.view.ID, now)
	spending := bill.spending()
	if step.RateLimit > 0 {
		spending.Sent = len(sent) + 1
	}
	if step.RateLimit > 0 {
		sp.sends[step.Counted()] = append(sent, now)
	}
	if step.ExpectsReply {
		msg.facts.AskedBy = step.Run
	}
	if step.Within > 0 {
		msg.facts.Deadline = now.Add(step.Within)
		sp.deadlines[msg.view.ID] = msg.facts.Deadline
	}
	if step.Alias != "" {
		sp.aliases[step.Alias] = alias{step.To, sp.books.Lived}
	}
	paused := sp.ownPause(step.From)
	if a := sp.agents[step.From]; a != nil && step.PauseFrom != "" {
		a.asks = append(a.asks, msg.view.ID)
		sp.pause(a.id, &a.paused, step.PauseFrom, now)
	}
	stored := sp.stored(msg, now)
	stored.Fill = sp.fill(step.To, step.From)
	stored.Fill.Spending, stored.SenderPaused = spending, paused
	return stored, nil
}

// mayCome checks the recipient: is it there, is it meant, does it want mail.
func (sp *space) mayCome(step store.SendStep, now time.Time) error {
	known := sp.agents[step.To] != nil
	if !known && !step.Mailbox && !step.Queue {
		return store.RefuseNoAgent(step.To)
	}
	was, ok := sp.aliases[step.Alias]
	if step.Alias != "" && ok && was.to != step.To && sp.books.Lived-was.at < seconds(sp.limits.NameLife) {
		return store.RefuseMoved(step.Alias, was.to, step.To)
	}
	if step.FailIfAway && known {
		r := sp.record(step.To, now)
		starts := r.Attached && step.ExpectsReply
		if !r.Online && !starts || r.Availability == c3po.Away || r.Paused != "" {
			return store.RefuseAway(step.To)
		}
	}
	return nil
}

// rate gives the sends that still count.
func (sp *space) rate(step store.SendStep, now time.Time) ([]time.Time, error) {
	if step.RateLimit <= 0 {
		return nil, nil
	}
	var sent []time.Time
	for _, at := range sp.sends[step.Counted()] {
		if now.Sub(at) < store.RateWindow && !at.After(now) {
			sent = append(sent, at)
		}
	}
	if len(sent) >= step.RateLimit {
		return nil, store.RefuseRate(len(sent), step.RateLimit)
	}
	return sent, nil
}

// repeated gives the key of a draft and, if the draft was sent before, the
// record of the first message. It is for an agent that is called to today.
func (sp *space) repeated(d store.Draft, to c3po.AgentID, fingerprint string, now time.Time) (keyName, *keyRecord, error) {
	key := keyName{d.From, "h:" + fingerprint}
	if d.Key != "" {
		key.name = "k:" + d.Key
	}
	for _, first := range sp.recalled(key) {
		if d.Key != "" {
			if first.fingerprint != fingerprint {
				return key, nil, store.RefuseKeyConflict(d.Key)
			}
			return key, first, nil
		}
		msg := sp.messages[first.idFor(to)]
		if msg != nil && msg.state == c3po.StatePending && now.Sub(first.at) < sp.limits.RepeatWindow {
			return key, first, nil
		}
	}
	return key, nil, nil
}

// recalled is what is remembered under a key of a sender, and under the names that
// it gave up no longer ago than a key lives. What came after that under such a name
// is of whoever has it now.
func (sp *space) recalled(key keyName) []*keyRecord {
	life := seconds(sp.limits.KeyLife)
	var found []*keyRecord
	if first := sp.keys[key]; first != nil && sp.books.Lived-first.bornAt < life {
		found = append(found, first)
	}
	a := sp.agents[key.from]
	if a == nil {
		return found
	}
	for _, name := range a.former {
		was, first := sp.renamed[name], sp.keys[keyName{name, key.name}]
		if was.to == key.from && sp.books.Lived-was.at < life && first != nil && sp.books.Lived-first.bornAt < life && first.bornAt <= was.at {
			found = append(found, first)
		}
	}
	return found
}

// meant says whether a key was used for this recipient, by whichever of its names.
func (sp *space) meant(first *keyRecord, to c3po.AgentID) bool {
	_, today, _ := first.id.Split()
	if today == to {
		return true
	}
	if was, ok := sp.renamed[today]; ok && first.bornAt <= was.at {
		today = was.to
	}
	if was, ok := sp.renamed[to]; ok && sp.agents[to] == nil {
		to = was.to
	}
	return today == to
}

func keyFor(fingerprint string, msg *message, lived int64) *keyRecord {
	return &keyRecord{
		fingerprint: fingerprint, id: msg.view.ID, thread: msg.view.Thread,
		at: msg.view.Timestamp, bornAt: lived,
	}
}

// idFor is the id that the first message has in the mailbox of an agent.
func (first *keyRecord) idFor(to c3po.AgentID) c3po.MessageID {
	from, _, hex := first.id.Split()
	return c3po.NewMessageID(from, to, hex)
}

// repeat answers with the first message.
func (sp *space) repeat(first *keyRecord, to c3po.AgentID, now time.Time) store.Stored {
	id := first.idFor(to)
	if msg := sp.messages[id]; msg != nil {
		out := sp.stored(msg, now)
		out.Repeat = true
		return out
	}
	from, _, _ := id.Split()
	return store.Stored{
		Message: c3po.Message{
			ID: id, FromAgent: from, ToAgent: to, Thread: first.thread, Timestamp: first.at, BodyGone: true,
		},
		Repeat: true, State: c3po.StateAcked, Recipient: sp.record(to, now).Told(), Now: now,
	}
}

func (sp *space) stored(msg *message, now time.Time) store.Stored {
	return store.Stored{
		Message: sp.entry(msg).Message, State: msg.state, Recipient: sp.record(msg.view.ToAgent, now).Told(), Now: now,
	}
}

// accept gives a draft its number and puts it into the inbox. It never
// expires unless the caller says when.
func (sp *space) accept(d store.Draft, kind c3po.EventKind, answers c3po.MessageID, durability c3po.Durability, now time.Time) *message {
	return sp.acceptFor(d.To, d, d.Bytes(), kind, answers, durability, now)
}

// acceptFor is accept for a message that wakes nobody, if wakes is empty.
func (sp *space) acceptFor(wakes c3po.AgentID, d store.Draft, bytes int, kind c3po.EventKind, answers c3po.MessageID, durability c3po.Durability, now time.Time) *message {
	sp.books.Seq++
	for sp.hexTaken(d.To, store.MessageHex(sp.books.Seq)) {
		sp.books.Seq++
	}
	id := c3po.NewMessageID(d.From, d.To, store.MessageHex(sp.books.Seq))
	msg := &message{
		view: c3po.Message{
			ID: id, MessageID: answers, FromAgent: d.From, ToAgent: d.To, Kind: d.Kind, Context: d.Context, Status: d.Status,
			Timestamp: now, Thread: cmp.Or(d.Thread, string(id)), Priority: cmp.Or(d.Priority, c3po.Normal), ExpectsReply: d.ExpectsReply,
			ContentType: d.ContentType, Metadata: slices.Clone(d.Metadata), HandedTo: d.HandedTo, Room: d.Room, Seq: sp.books.Seq,
			Choices: slices.Clone(d.Choices), Proof: d.Proof, GoesBackTo: d.GoesBackTo, Attachments: slices.Clone(d.Attachments),
		},
		state:  c3po.StatePending,
		listed: id,
		facts:  store.Facts{Accepted: now, Durability: durability, Bytes: bytes},
	}
	if d.Kind == c3po.KindReply {
		msg.view.Response = d.Text
	} else {
		msg.view.Message = d.Text
	}
	sp.messages[id] = msg
	sp.books.Sent++
	sp.books.Pending++
	sp.books.PendingBytes += int64(msg.facts.Bytes)
	msg.view.Quiet = wakes == ""
	sp.log(c3po.Event{Seq: sp.books.Seq, Kind: kind, Agent: wakes, ID: id, At: now})
	return msg
}

func (sp *space) hexTaken(to c3po.AgentID, hex string) bool {
	for id := range sp.messages {
		if _, other, taken := id.Split(); other == to && taken == hex {
			return true
		}
	}
	return false
}
