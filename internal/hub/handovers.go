package hub

import (
	"context"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// withHandover adds to a message that was handed over what the agent before said with it.
// That is kept once, as the answer which the asker got; only those few messages cost a look.
func (s spaceHub) withHandover(ctx context.Context, entry *store.Entry) error {
	m := &entry.Message
	if m.HandedFrom == "" || m.Ticket == "" {
		return nil
	}
	_, _, own := m.ID.Split()
	form := m.Ticket
	for range ticketMoves {
		before, err := s.hub.store.Message(ctx, s.space, form)
		if err != nil || before == nil {
			return err
		}
		moved := slices.IndexFunc(before.Facts.Answers, func(answer c3po.Answered) bool { return answer.MovedTo != "" })
		if moved < 0 {
			return nil
		}
		answer := before.Facts.Answers[moved]
		if _, _, next := answer.MovedTo.Split(); next != own {
			form = answer.MovedTo
			continue
		}
		said, err := s.hub.store.Message(ctx, s.space, answer.ID)
		if err != nil || said == nil || said.BodyGone || said.Corrupt {
			return err
		}
		m.Handover = &c3po.Handover{Response: said.Message.Response, Metadata: c3po.WithoutTrace(said.Message.Metadata)}
		return nil
	}
	return nil
}

// mayRead says whether the caller, under its names, has a part in a message: it wrote it or
// was written to, itself or as a member of a queue, or its work was handed over with it.
func (me *identity) mayRead(mine []c3po.AgentID, m c3po.Message) bool {
	return slices.Contains(mine, m.FromAgent) || slices.Contains(mine, m.ToAgent) || slices.Contains(me.queues(), m.ToAgent) ||
		m.HandedTo != "" && slices.Contains(mine, m.HandedTo)
}
