package redisstore

import (
	"context"
	"slices"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// noteBatch keeps one step short, whatever a node has to write down.
const noteBatch = 64

// heardBatch is noteBatch for notes of which each looks at all of its agent.
const heardBatch = 25

// Attach implements store.Store.
func (s *Store) Attach(ctx context.Context, space c3po.Space, id c3po.AgentID, node string, state c3po.SessionState) error {
	k := keysOf(space)
	answer, err := s.run(ctx, s.scripts.attach, []string{k.agent(id), k.seen(), k.attached(), k.nodes(), k.meta(), k.heard()},
		[]string{s.nowArg(), string(id), node, millis(s.limits.NodeLease), string(state)})
	if err != nil {
		return err
	}
	return agentOutcome(word(answer[0]), id)
}

// Detach implements store.Store.
func (s *Store) Detach(ctx context.Context, space c3po.Space, id c3po.AgentID, node string, hungUp bool, ago time.Duration) error {
	outcome, err := s.detach(ctx, space, node, hungUp, ago, []c3po.AgentID{id})
	if err != nil {
		return err
	}
	return agentOutcome(outcome, id)
}

func (s *Store) detach(ctx context.Context, space c3po.Space, node string, hungUp bool, ago time.Duration, ids []c3po.AgentID) (outcome string, err error) {
	k := keysOf(space)
	keyNames, args := []string{k.seen(), k.attached(), k.meta(), k.heard()}, []string{s.nowArg(), node, flag(hungUp), k.wake(), millis(s.limits.OnlineWindow), millis(max(0, ago))}
	for _, id := range ids {
		keyNames, args = append(keyNames, k.agent(id)), append(args, string(id))
	}
	answer, err := s.run(ctx, s.scripts.detach, keyNames, args)
	if err != nil {
		return "", err
	}
	return word(answer[0]), nil
}

// RenewLease implements store.Store.
func (s *Store) RenewLease(ctx context.Context, space c3po.Space, node string) error {
	_, err := s.run(ctx, s.scripts.lease, []string{keysOf(space).nodes()}, []string{s.nowArg(), node, millis(s.limits.NodeLease)})
	return err
}

// EndLease implements store.Store.
func (s *Store) EndLease(ctx context.Context, space c3po.Space, node string) error {
	k := keysOf(space)
	for {
		ids, err := s.ids(ctx, s.commands.B().Zrangebylex().Key(k.attached()).Min("["+node+" ").Max("("+node+"!").Limit(0, noteBatch).Build())
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			break
		}
		if _, err := s.detach(ctx, space, node, false, 0, ids); err != nil {
			return err
		}
	}
	_, err := s.run(ctx, s.scripts.lease, []string{k.nodes()}, []string{s.nowArg(), node, "0"})
	return err
}

// WriteNotes implements store.Store.
func (s *Store) WriteNotes(ctx context.Context, space c3po.Space, notes store.Notes) error {
	for len(notes.Seen)+len(notes.Late)+len(notes.Served)+len(notes.Notified)+len(notes.Given) > 0 {
		var batch store.Notes
		batch.Seen, notes.Seen = split(notes.Seen)
		batch.Late, notes.Late = split(notes.Late)
		batch.Served, notes.Served = split(notes.Served)
		batch.Notified, notes.Notified = split(notes.Notified)
		batch.Given, notes.Given = split(notes.Given)
		if err := s.writeNotes(ctx, space, batch); err != nil {
			return err
		}
	}
	for batch := range slices.Chunk(notes.Heard, heardBatch) {
		if err := s.writeHeard(ctx, space, batch); err != nil {
			return err
		}
	}
	return nil
}

func split[T any](all []T) (batch, rest []T) {
	n := min(noteBatch, len(all))
	return all[:n], all[n:]
}

func (s *Store) writeNotes(ctx context.Context, space c3po.Space, notes store.Notes) error {
	k := keysOf(space)
	keyNames := []string{k.seen(), k.attached(), k.nodes(), k.meta(), k.events(), k.heard()}
	args := []string{s.nowArg(), itoa(len(notes.Seen) + len(notes.Late)), itoa(len(notes.Served)), itoa(store.MostServed), k.wake(), itoa(s.limits.EventEntries), itoa(store.MostMarks), itoa(len(notes.Notified)), millis(s.limits.OnlineWindow), itoa(store.MostTold)}
	for _, id := range notes.Seen {
		keyNames, args = append(keyNames, k.agent(id)), append(args, string(id), "0")
	}
	for _, n := range notes.Late {
		keyNames, args = append(keyNames, k.agent(n.Agent)), append(args, string(n.Agent), itoa(max(1, n.Ago.Milliseconds())))
	}
	for _, n := range notes.Served {
		from, to, hex := n.ID.Split()
		first := n.First
		if first.IsZero() {
			first = n.At
		}
		keyNames = append(keyNames, k.fact(to))
		args = append(args, string(from), string(to), hex, n.Reader, n.Route, itoa(n.At.UnixMilli()), itoa(n.Cursor), itoa(max(1, n.Times)), itoa(first.UnixMilli()))
	}
	for _, n := range notes.Notified {
		keyNames = append(keyNames, k.mark(n.Agent))
		args = append(args, n.Reader, n.Route, itoa(n.Seq), itoa(n.At.UnixMilli()))
	}
	for _, n := range notes.Given {
		keyNames = append(keyNames, k.mark(n.Agent))
		args = append(args, n.Reader, itoa(n.Seq))
	}
	_, err := s.run(ctx, s.scripts.notes, keyNames, args)
	return err
}
