package redisstore

import (
	"context"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// noteBatch keeps one step short, whatever a node has to write down.
const noteBatch = 64

// servedPostBatch is noteBatch for notes of which each looks at all of its agent.
const servedPostBatch = 25

// Attach implements store.Store.
func (s *Store) Attach(ctx context.Context, space c3po.Space, id c3po.AgentID, node string, state c3po.SessionState) error {
	k := keysOf(space)
	var alike []string
	for _, same := range state.Alike() {
		alike = append(alike, string(same))
	}
	answer, err := s.run(ctx, "agent_attach", k,
		with{"agent": k.agent(id), "id": id, "node": node, "lease": millis(s.limits.NodeLease), "state": state, "alike": alike})
	if err != nil {
		return err
	}
	if word(answer[0]) == "open" {
		return store.RefuseNotClosed(id)
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
	var agents []with
	for _, id := range ids {
		agents = append(agents, with{"agent": k.agent(id), "id": id})
	}
	answer, err := s.run(ctx, "agent_detach", k, with{"agents": agents, "node": node, "hung_up": hungUp, "ago": millis(max(0, ago))})
	if err != nil {
		return "", err
	}
	return word(answer[0]), nil
}

// RenewLease implements store.Store.
func (s *Store) RenewLease(ctx context.Context, space c3po.Space, node string) error {
	_, err := s.run(ctx, "lease_renew", keysOf(space), with{"node": node, "length": millis(s.limits.NodeLease)})
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
	_, err := s.run(ctx, "lease_renew", k, with{"node": node, "length": 0})
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
	for batch := range slices.Chunk(notes.ServedPosts, servedPostBatch) {
		if err := s.writeServedPosts(ctx, space, batch); err != nil {
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
	var calls, served, told, given []with
	for _, id := range notes.Seen {
		calls = append(calls, with{"agent": k.agent(id), "id": id, "ago": 0})
	}
	for _, n := range notes.Late {
		calls = append(calls, with{"agent": k.agent(n.Agent), "id": n.Agent, "ago": max(1, n.Ago.Milliseconds())})
	}
	for _, n := range notes.Served {
		from, to, hex := n.ID.Split()
		first := n.First
		if first.IsZero() {
			first = n.At
		}
		served = append(served, with{
			"fact": k.fact(to), "from": from, "owner": to, "hex": hex, "reader": n.Reader, "route": n.Route,
			"at": n.At.UnixMilli(), "cursor": n.Cursor, "times": max(1, n.Times), "first": first.UnixMilli(),
		})
	}
	for _, n := range notes.Notified {
		told = append(told, with{"mark": k.mark(n.Agent), "reader": n.Reader, "route": n.Route, "seq": n.Seq, "at": n.At.UnixMilli()})
	}
	for _, n := range notes.Given {
		given = append(given, with{"mark": k.mark(n.Agent), "reader": n.Reader, "seq": n.Seq})
	}
	_, err := s.run(ctx, "note_write", k, with{
		"calls": calls, "served": served, "told": told, "given": given,
		"max_served": store.MaxServedReaders, "max_marks": store.MaxMarkedReaders, "max_told": store.MaxToldNotices,
	})
	return err
}

// OnlineCount implements store.Store.
func (s *Store) OnlineCount(ctx context.Context, space c3po.Space) (int, error) {
	answer, err := s.run(ctx, "agent_count", keysOf(space), nil)
	if err != nil {
		return 0, err
	}
	return int(integer(answer[1])), nil
}
