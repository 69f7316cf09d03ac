package hub

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// traceLife is how long what an agent was given last is taken for what it works on: its
	// next messages follow from that in a trace. Agents think for minutes.
	traceLife = 10 * time.Minute
	// maxTraced is how many answers to answers are followed back to a question.
	maxTraced = 16
)

// A Life is what can be said of a message outside of the space: its facts and its place in a
// trace. It never holds what was written.
type Life struct {
	c3po.Trace
	From, To c3po.AgentID
	Place    c3po.MessageTrace
}

// Lives are the lives of those of ids that are known.
func (h *Hub) Lives(ctx context.Context, space c3po.Space, ids []c3po.MessageID) ([]Life, error) {
	entries, err := h.store.Messages(ctx, space, ids)
	if err != nil {
		return nil, err
	}
	places := placing{spaceHub{h, space}, map[c3po.MessageID]*store.Entry{}}
	for i := range entries {
		places.known[entries[i].Message.ID] = &entries[i]
	}
	lives := make([]Life, 0, len(entries))
	for _, entry := range entries {
		place, err := places.of(ctx, entry)
		if err != nil {
			return nil, err
		}
		lives = append(lives, Life{Trace: life(entry), From: entry.Message.FromAgent, To: entry.Message.ToAgent, Place: place})
	}
	return lives, nil
}

// placing finds the places of messages in their traces.
type placing struct {
	spaceHub
	known map[c3po.MessageID]*store.Entry
}

// of also finds the place of an answer: it follows from what it answers, and is in its trace.
func (p placing) of(ctx context.Context, entry store.Entry) (c3po.MessageTrace, error) {
	var answers []store.Entry
	for e := &entry; e != nil && e.Message.Kind == c3po.KindReply && len(answers) < maxTraced; {
		answers = append(answers, *e)
		question := e.Message.MessageID
		e = p.known[question]
		if e == nil && question != "" {
			var err error
			if e, err = p.hub.store.Message(ctx, p.space, question); err != nil {
				return c3po.MessageTrace{}, err
			}
			p.known[question] = e
		}
		if e != nil {
			entry = *e
		}
	}
	place := p.placeOf(entry)
	for i := len(answers) - 1; i >= 0; i-- {
		answer := answers[i].Message
		if answer.ID == entry.Message.ID {
			continue // its question is gone
		}
		own, said := c3po.TraceIn(p.space, answer.ID, answer.Metadata)
		if said && own.Trace == place.Trace {
			place = own
			continue
		}
		next := place.Within(c3po.SpanOf(p.space, answer.ID))
		if said {
			next.Link = c3po.TraceContext{Trace: own.Trace, Span: own.From}
		}
		place = next
	}
	return place, nil
}

// placeOf is the place of a message as far as it says so itself, else by its chain.
func (s spaceHub) placeOf(entry store.Entry) c3po.MessageTrace {
	m := entry.Message
	place, said := c3po.TraceIn(s.space, m.ID, m.Metadata)
	switch {
	case said && m.Ticket != "" && m.Ticket != m.ID:
		// Handed over, it carries the metadata of the message it was.
		return place.Within(c3po.SpanOf(s.space, m.ID))
	case said:
		return place
	}
	chain := chainOf(entry)
	place = c3po.ChainTrace(s.space, chain, m.ID)
	if first, err := c3po.ParseMessageID(chain); err == nil && first != m.ID {
		place.From = c3po.SpanOf(s.space, first)
	}
	return place
}

// A followed message is what an agent works on, as far as its calls show.
type followed struct {
	id     c3po.MessageID
	thread string
	place  c3po.TraceContext
	at     time.Time
}

// follows remembers what the caller works on next. Answers to its own questions, and what the
// system writes, are no new work.
func (box *inbox) follows(entry store.Entry) {
	m := entry.Message
	if box.hub.ended == nil || m.Kind == c3po.KindReply || m.FromAgent == c3po.System || m.ID.Room() != "" {
		return
	}
	box.work = &followed{id: m.ID, thread: m.Thread, place: box.placeOf(entry).TraceContext, at: time.Now()}
}

// putInTrace gives a new message its place: after what its sender names in the metadata, else
// after where the call comes from, else after what the sender works on. A message that follows
// from nothing begins a trace.
func (o outbox) putInTrace(ctx context.Context, draft *store.Draft) {
	if o.hub.ended == nil {
		return
	}
	from, said := c3po.ContextIn(draft.Metadata)
	if !said {
		from, said = c3po.TraceOf(ctx)
	}
	if !said {
		from, said = o.workedOn(ctx, draft.Thread)
	}
	if !said {
		from = c3po.TraceContext{Flags: 1}
		_, _ = rand.Read(from.Trace[:]) // it never fails
	}
	var own c3po.SpanID
	_, _ = rand.Read(own[:])
	draft.Metadata = from.Within(own).Into(draft.Metadata, o.hub.limits.MetadataBytes)
}

// putAnswerInTrace is putInTrace for an answer, which follows from its question: only what the
// caller says itself is kept.
func (o outbox) putAnswerInTrace(ctx context.Context, metadata []byte) []byte {
	if o.hub.ended == nil || o.id == c3po.Human {
		return metadata
	}
	from, said := c3po.ContextIn(metadata)
	if !said {
		from, said = c3po.TraceOf(ctx)
	}
	if !said {
		return metadata
	}
	var own c3po.SpanID
	_, _ = rand.Read(own[:])
	return from.Within(own).Into(metadata, o.hub.limits.MetadataBytes)
}

// workedOn is the place that a message of the caller follows from: in a thread, what it was
// given of it, else how the thread began.
func (o outbox) workedOn(ctx context.Context, thread string) (c3po.TraceContext, bool) {
	work := o.hub.bindings.work(o.key())
	works := work.id != "" && time.Since(work.at) < traceLife
	if thread == "" || works && work.thread == thread {
		return work.place, works
	}
	spans, err := o.hub.store.ThreadSpans(ctx, o.space, []string{thread})
	if err != nil {
		o.hub.log.WarnContext(ctx, "the trace of a thread cannot be found, so a message begins one", "space", o.space, "err", err)
		return c3po.TraceContext{}, false
	}
	if len(spans) == 1 && spans[0].First != nil {
		return o.placeOf(*spans[0].First).TraceContext, true
	}
	return work.place, works
}

func (b *bindings) setWork(key bindingKey, now followed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[key]; ok {
		known.work = now
	}
}

func (b *bindings) work(key bindingKey) followed {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[key]; ok {
		return known.work
	}
	return followed{}
}

// endWork forgets a message that was answered: what its reader does next follows from
// something else.
func (b *bindings) endWork(key bindingKey, answered c3po.MessageID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[key]; ok && known.work.id == answered {
		known.work = followed{}
	}
}
