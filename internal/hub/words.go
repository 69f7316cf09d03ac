package hub

import (
	"context"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// wordLife is how long what a person wrote is carried on by new messages of an agent that
	// was given it. Replies and hand-overs carry it on whenever they come.
	wordLife = 24 * time.Hour
	// givenKept is how many of the messages that a caller was given are known by their ids.
	givenKept = 64
)

// A given is the mail that an agent was given last.
type given struct {
	word *c3po.Word       // what a person wrote and all of it goes back to; nil if there is no such thing
	ids  []c3po.MessageID // with what it was given before, the latest last
}

// wordOf is what everything that follows from a message goes back to: the message itself if a
// person wrote it, else what it goes back to.
func wordOf(m c3po.Message) *c3po.Word {
	if m.FromAgent != c3po.Human || m.GoesBackTo != nil {
		return m.GoesBackTo
	}
	word := &c3po.Word{ID: m.ID, At: m.Timestamp}
	if m.Proof != nil {
		word.Passkey = m.Proof.Passkey
	}
	return word
}

// sameWord says that both are the same word of a person.
func sameWord(a, b *c3po.Word) bool { return a != nil && b != nil && a.ID == b.ID }

// with is what an answer carries, and one message more. Several that do not go back to the
// same word go back to none: nobody knows which of them the caller acts on. What the system
// writes, and verdicts, which no model reads, do not count.
func (g *given) with(m c3po.Message) *given {
	if m.FromAgent == c3po.System || m.FromAgent == c3po.Human && m.ContentType == c3po.VerdictType {
		return g
	}
	word := wordOf(m)
	switch {
	case g == nil:
		g = &given{word: word}
	case !sameWord(word, g.word):
		g.word = nil
	}
	g.ids = append(g.ids, m.ID)
	return g
}

// gives notes what the answer of the call gives the caller.
func (box *inbox) gives(m c3po.Message) { box.given = box.given.with(m) }

// shows notes what the answer lets the caller read without giving it: by peek, or from a
// conversation or a room. What a model has read may lead to what it writes next, so it ends
// what led before. It never leads itself: what is not given need not be for the caller.
func (box *inbox) shows(all ...c3po.Message) {
	for _, m := range all {
		if m.FromAgent != box.id {
			box.shown = box.shown.with(m)
		}
	}
}

// takes is gives for mail that reached the caller's model without an answer that carried it:
// with a notice, for example.
func (box *inbox) takes(ctx context.Context, ids []c3po.MessageID) {
	for _, id := range box.hub.bindings.notGiven(box.key(), ids) {
		entry, err := box.hub.store.Message(ctx, box.space, id)
		switch {
		case err != nil:
			box.hub.log.WarnContext(ctx, "what an agent was given cannot be read", "space", box.space, "message_id", id, "err", err)
			box.given = &given{}
			return
		case entry != nil && !entry.Corrupt && box.owns(*entry):
			box.gives(entry.Message)
			box.follows(*entry)
		}
	}
}

// owns says that a message is in the caller's inbox, or claimed by it from a queue.
func (box *inbox) owns(entry store.Entry) bool {
	to := entry.Message.ToAgent
	return to == box.id || to.Queue() != "" && entry.Facts.Claim != nil && entry.Facts.Claim.By == box.id
}

// leading is the person's word that a new message of the caller goes back to; nil if there is
// none.
func (o outbox) leading() *c3po.Word {
	word := o.hub.bindings.word(o.key())
	if word == nil || o.id == c3po.Human || time.Since(word.At) >= wordLife {
		return nil
	}
	return word
}

func (b *bindings) setGiven(key bindingKey, now given) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[key]; ok {
		now.ids = append(slices.Clone(known.given.ids), now.ids...)
		now.ids = now.ids[max(0, len(now.ids)-givenKept):]
		known.given = now
	}
}

// endWord forgets the word that led, unless what was read since goes back to it as well.
func (b *bindings) endWord(key bindingKey, read *c3po.Word) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[key]; ok && !sameWord(read, known.given.word) {
		known.given.word = nil
	}
}

func (b *bindings) word(key bindingKey) *c3po.Word {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[key]; ok {
		return known.given.word
	}
	return nil
}

// notGiven are those of ids that the caller was not given by an answer, as far as is known.
func (b *bindings) notGiven(key bindingKey, ids []c3po.MessageID) []c3po.MessageID {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, ok := b.known[key]
	if !ok {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id c3po.MessageID) bool { return slices.Contains(known.given.ids, id) })
}
