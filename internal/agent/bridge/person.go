package bridge

import (
	"context"
	"strings"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// personWrites notes that the user writes in the session, and says whether that
// settles questions of the agent to them: whoever is asked has come themselves.
func (b *Bridge) personWrites(event hook.Event) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.session
	if !event.ByPerson() || s.scripted || s.paused.why != c3po.PausedForHuman {
		return false
	}
	news := s.unsettled == nil
	s.unsettled = map[c3po.MessageID]bool{}
	b.settleSoon()
	return news
}

// personSwitches lets the person switch c3po on and off in the session itself. The
// commands are a person's and are refused where an agent runs, and here it is the
// prompt that says who asks: no script, and no model.
func (b *Bridge) personSwitches(event hook.Event) {
	b.mu.Lock()
	scripted := b.session.scripted
	b.mu.Unlock()
	words := strings.Fields(event.Prompt)
	if !event.ByPerson() || scripted || len(words) < 2 || words[0] != "/c3po:coordinate" || words[1] != "on" && words[1] != "off" {
		return
	}
	if err := b.switched(words[1] == "on", len(words) > 2 && words[2] == "all"); err != nil {
		b.log.Warn("cannot switch c3po", "to", words[1], "err", err)
	}
}

// settleSoon is called with the lock held.
func (b *Bridge) settleSoon() {
	select {
	case b.settling <- struct{}{}:
	default:
	}
}

// settleAsks withdraws the questions to the user who has come to the session, also
// those of an earlier session of the agent, as soon as the coordinator can be had.
func (b *Bridge) settleAsks(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.settling:
		}
		limited, cancel := context.WithTimeout(ctx, reportTimeout)
		err := b.withdrawAsks(limited)
		cancel()
		if err == nil || ctx.Err() != nil {
			continue
		}
		b.log.InfoContext(ctx, "cannot withdraw a question that is settled", "err", err)
		time.AfterFunc(reportPause, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.settleSoon()
		})
	}
}

func (b *Bridge) withdrawAsks(ctx context.Context) error {
	in := c3po.TicketsInput{Which: c3po.TicketsAsked, State: c3po.TicketsOpen}
	for {
		page, err := b.to().Tickets(ctx, in)
		if err != nil {
			return err
		}
		for _, t := range page.Tickets {
			if t.ToAgent != c3po.Human || b.askedSince(t.ID) {
				continue
			}
			// Other mail to the person is no question that keeps the agent waiting.
			trace, err := b.to().Trace(ctx, c3po.MessageInput{MessageID: t.ID})
			if err != nil {
				return err
			}
			if trace.Kind != c3po.KindEscalation {
				continue
			}
			if _, err := b.to().Cancel(ctx, c3po.MessageInput{MessageID: t.ID}); err != nil {
				return err
			}
		}
		if page.Next == "" {
			b.mu.Lock()
			b.session.unsettled = nil
			b.mu.Unlock()
			return nil
		}
		in.Cursor = page.Next
	}
}

// askedSince says that a question was asked after the user came.
func (b *Bridge) askedSince(id c3po.MessageID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.session.unsettled[id]
}

// asks says that the agent waits for its person from now on: its turn may end
// before the coordinator has said so.
func (b *Bridge) asks(done c3po.Escalation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.session.paused.why = done.Paused
	if b.session.unsettled != nil {
		b.session.unsettled[done.MessageID] = true
	}
	b.session.asking = done.MessageID
}

// showAsk tells the person, once, that the agent has asked them.
func (b *Bridge) showAsk(d hook.Decision) hook.Decision {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session.asking != "" && !b.session.scripted {
		d.Person = hook.AsksYou(b.session.asking)
	}
	b.session.asking = ""
	return d
}
