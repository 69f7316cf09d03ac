package storetest

import (
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (d *comparison) send(a *comparedSpace) {
	to := draw(d, "to", slices.Concat(a.agents, a.agents, []c3po.AgentID{c3po.Human, "nobody", queueX, queueX}))
	from := d.agent(a, "from")
	run := d.run(a, from)
	if to != c3po.Human && d.oneIn(10, "a person writes") {
		from, run = c3po.Human, ""
	}
	in := store.SendStep{
		Draft: store.Draft{
			From: from, To: to, Kind: c3po.KindMessage, Thread: d.threadName(a),
			Priority: draw(d, "priority", []c3po.Priority{c3po.Normal, c3po.Normal, c3po.Urgent}), ExpectsReply: d.oneIn(2, "expects reply"),
			Text: draw(d, "text", []string{"x", "y", "z", strings.Repeat("w", 600), strings.Repeat("v", 600)}), Context: draw(d, "context", []string{"", "c"}),
			Metadata: draw(d, "metadata", [][]byte{nil, []byte(`{"m":[1]}`)}),
			Key:      draw(d, "key", []string{"", "", "k1", "k2", "k3", "k4"}),
			Within:   draw(d, "within", []time.Duration{0, 0, time.Millisecond, 30 * time.Second}),
			Distinct: d.oneIn(4, "distinct"), Barred: d.barred(),
		},
		Run: run, Durability: c3po.OnDisk, RateLimit: draw(d, "rate limit", []int{0, 2}), Payer: draw(d, "payer", []string{"", "", sharedPayer}), FailIfAway: d.oneIn(8, "fail if away"),
	}
	switch {
	case from == c3po.Human && d.oneIn(2, "proved"):
		in.Proof = &c3po.Proof{ID: "p", Passkey: "my phone"}
	case from != c3po.Human:
		in.GoesBackTo = d.word()
	}
	if to.Name() == "a" && d.oneIn(2, "by name") {
		in.Alias = "|a"
	}
	if to == c3po.Human {
		in.Mailbox, in.FailIfAway, in.Kind = true, false, c3po.KindEscalation
		in.PauseFrom = draw(d, "pauses", []string{"", c3po.PausedForHuman})
	}
	if d.oneIn(4, "follows from") {
		in.Chain = d.threadName(a)
	}
	if to == queueX {
		in.Queue, in.FailIfAway, in.Members = true, false, []c3po.AgentID{d.agent(a, "member"), d.agent(a, "other member")}
	}
	in.Attachments = d.someFiles(a, from)
	a.sends = append(a.sends, in)
	d.sendStep(a, in)
}

func (d *comparison) barred() error {
	if d.oneIn(12, "barred") {
		return c3po.Errorf(c3po.BudgetSpent, "barred")
	}
	return nil
}

func (d *comparison) sendAgain(a *comparedSpace) {
	if len(a.sends) > 0 {
		in := d.today(a, draw(d, "earlier send", latest(a.sends)))
		in.From, in.Run = d.sender(a, in.From, in.Run)
		d.sendStep(a, in)
	}
}

func (d *comparison) sendStep(a *comparedSpace, in store.SendStep) {
	stored, err := both(d, "send", func(s store.Store) (store.Stored, error) { return s.Send(d.ctx, a.space, in) })
	d.keep(a, stored, err)
}

func (d *comparison) keep(a *comparedSpace, stored store.Stored, err error) {
	if err == nil && !slices.Contains(a.mail, stored.Message.ID) {
		a.mail = append(a.mail, stored.Message.ID)
	}
}

// threadName is none, a name, or an earlier message's.
func (d *comparison) threadName(a *comparedSpace) string {
	if len(a.mail) > 0 && d.oneIn(4, "thread of a message") {
		return string(draw(d, "thread", a.mail))
	}
	return draw(d, "thread", []string{"", "", "t"})
}

func (d *comparison) reply(a *comparedSpace) {
	from := d.owner(a)
	answers := d.mailOf(a, from)
	if from == queueX {
		from = d.agent(a, "member")
	}
	in := store.ReplyStep{
		Draft: store.Draft{
			From: from, Priority: draw(d, "priority", []c3po.Priority{c3po.Normal, c3po.Urgent}),
			Text: draw(d, "text", []string{"yes", "no", strings.Repeat("n", 400)}), Status: c3po.ReplySuccess,
			Key: draw(d, "key", []string{"", "", "k1", "k5"}),
		},
		Run: d.run(a, from), Durability: c3po.OnDisk, Answers: answers, ResumeTo: from == c3po.Human,
	}
	if from != c3po.Human {
		in.GoesBackTo = d.word()
	}
	if d.oneIn(3, "hands over") {
		in.Status, in.HandedTo = c3po.ReplyHandedOver, draw(d, "handed to", append(slices.Clone(a.agents), "nobody"))
	}
	in.Attachments = d.someFiles(a, from)
	stored, err := both(d, "reply", func(s store.Store) (store.Stored, error) { return s.Reply(d.ctx, a.space, in) })
	d.keep(a, stored, err)
}

// word is what a message goes back to, sometimes.
func (d *comparison) word() *c3po.Word {
	if !d.oneIn(4, "goes back") {
		return nil
	}
	return &c3po.Word{ID: "human::a::0000002a", At: time.UnixMilli(1_700_000_000_000).UTC(), Passkey: draw(d, "passkey", []string{"", "my phone"})}
}

func (d *comparison) some(a *comparedSpace, owner c3po.AgentID) []c3po.MessageID {
	ids := []c3po.MessageID{d.mailOf(a, owner)}
	for d.oneIn(2, "more") && len(ids) < 4 {
		ids = append(ids, d.mailOf(a, owner))
	}
	return ids
}

func (d *comparison) ack(a *comparedSpace) {
	owner := d.owner(a)
	run, ids := d.run(a, owner), d.some(a, owner)
	_, _ = both(d, "ack", func(s store.Store) ([]store.AckOutcome, error) { return s.Ack(d.ctx, a.space, owner, run, ids) })
}

func (d *comparison) received(a *comparedSpace) {
	owner := d.owner(a)
	reader, ids := d.reader(), d.some(a, owner)
	_, _ = both(d, "received", func(s store.Store) ([]store.AckOutcome, error) {
		return s.Received(d.ctx, a.space, owner, reader, "hook", ids)
	})
}

func (d *comparison) inbox(a *comparedSpace) {
	owner := d.owner(a)
	q := store.InboxQuery{
		Quiet: d.oneIn(2, "quiet"),
		Run:   d.run(a, owner), Limit: draw(d, "limit", []int{1, 2, 10}), Bytes: draw(d, "bytes", []int{300, 1000, 1 << 20}),
		MinSeq: draw(d, "min seq", []int64{0, 0, a.seq / 2}),
	}
	for {
		page, err := both(d, "inbox", func(s store.Store) (store.InboxPage, error) { return s.Inbox(d.ctx, a.space, owner, q) }, listed())
		if err != nil || page.Next == 0 {
			return
		}
		q.After = page.Next
	}
}

func (d *comparison) next(a *comparedSpace) {
	owner := d.owner(a)
	q := store.NextQuery{
		Run: d.run(a, owner), Reader: d.reader(), MinSeq: draw(d, "min seq", []int64{0, 0, a.seq / 2}),
		Given: d.some(a, owner), Incoming: d.oneIn(3, "incoming"), Positioned: d.oneIn(2, "positioned"),
	}
	_, _ = both(d, "next", func(s store.Store) (store.NextMessage, error) { return s.Next(d.ctx, a.space, owner, q) }, listed())
}

func (d *comparison) message(a *comparedSpace) {
	id := d.mailOf(a, d.owner(a))
	_, _ = both(d, "message", func(s store.Store) (*store.Entry, error) { return s.Message(d.ctx, a.space, id) })
	_, _ = both(d, "answers", func(s store.Store) ([]store.Entry, error) { return s.Answers(d.ctx, a.space, id) })
}

func (d *comparison) thread(a *comparedSpace) {
	thread, after := d.threadName(a), draw(d, "after", []int64{0, 0, a.seq / 2})
	limit := draw(d, "limit", []int{1, 2, 10})
	_, _ = both(d, "thread", func(s store.Store) ([]store.Entry, error) { return s.Thread(d.ctx, a.space, thread, after, limit) })
	_, _ = both(d, "ends of a thread", func(s store.Store) ([]store.ThreadSpan, error) {
		return s.ThreadSpans(d.ctx, a.space, []string{thread, "nothing"})
	})
	_, _ = both(d, "all that is kept", func(s store.Store) (all []store.KeptEntry, err error) {
		for place, more := "", true; more; more = place != "" {
			var some []store.KeptEntry
			if some, place, err = s.Kept(d.ctx, a.space, place, max(1, after), 10*limit); err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
		return all, nil
	})
}
