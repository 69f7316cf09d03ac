package storetest

import (
	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// queueX is the mailbox of a capability some agents register with.
const queueX c3po.AgentID = "role/x"

func (d *comparison) claim(a *comparedSpace) {
	agent := d.agent(a, "agent")
	in := store.ClaimStep{
		Queue: queueX, Agent: agent, Run: d.run(a, agent), Reader: d.reader(),
		MinSeq: draw(d, "min seq", []int64{0, a.seq / 2}), Positioned: d.oneIn(2, "positioned"),
	}
	switch draw(d, "which", []string{"next", "next", "given", "one"}) {
	case "given":
		in.Given = d.some(a, queueX)
	case "one":
		in.ID = d.taskOf(a)
	}
	_, _ = both(d, "claim", func(s store.Store) (store.Claimed, error) { return s.Claim(d.ctx, a.space, in) }, listed())
	_, _ = both(d, "members", func(s store.Store) ([]c3po.AgentID, error) { return s.Members(d.ctx, a.space, queueX, 2) })
	_, _ = both(d, "queues", func(s store.Store) ([]c3po.AgentID, error) { return s.Queues(d.ctx, a.space) })
	_, _ = both(d, "inbox of a role", func(s store.Store) (store.InboxPage, error) {
		return s.Inbox(d.ctx, a.space, queueX, store.InboxQuery{Member: agent, Run: in.Run, Limit: 2, Bytes: 1000})
	}, listed())
}

// taskOf is a message of the queue, or one that never was.
func (d *comparison) taskOf(a *comparedSpace) c3po.MessageID {
	var tasks []c3po.MessageID
	for _, id := range a.mail {
		if _, to, _ := id.Split(); to == queueX {
			tasks = append(tasks, id)
		}
	}
	return draw(d, "task", append(latest(tasks), c3po.NewMessageID("a", queueX, "00000000")))
}

func (d *comparison) ackClaimed(a *comparedSpace) {
	agent, id := d.agent(a, "agent"), d.taskOf(a)
	run, ids := d.run(a, agent), []c3po.MessageID{id, d.taskOf(a)}
	_, _ = both(d, "ack claimed", func(s store.Store) ([]store.AckOutcome, error) {
		return s.AckClaimed(d.ctx, a.space, queueX, agent, run, ids)
	})
}
