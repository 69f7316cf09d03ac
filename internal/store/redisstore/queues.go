package redisstore

import (
	"context"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func queueNames(capabilities []string) []string {
	var names []string
	for _, queue := range c3po.QueuesOf(capabilities) {
		names = append(names, queue.Queue())
	}
	return names
}

// Claim implements store.Store.
func (s *Store) Claim(ctx context.Context, space c3po.Space, step store.ClaimStep) (store.Claimed, error) {
	k, queue := keysOf(space), step.Queue
	from, _, hex := step.ID.Split()
	var hexes []string
	for _, id := range step.Given {
		_, _, hex := id.Split()
		hexes = append(hexes, hex)
	}
	given := with{
		"agent": k.agent(step.Agent), "inbox": k.inbox(queue), "body": k.body(queue), "fact": k.fact(queue),
		"id": step.Agent, "run": step.Run, "role": queue.Queue(), "mailbox": queue, "lease": millis(s.limits.ClaimLease), "from": from, "hex": hex,
		"reader": step.Reader, "min": step.MinSeq, "positioned": step.Positioned, "most": s.looks, "position": 0, "given": hexes,
	}
	answer, err := s.run(ctx, "task_claim", k, given)
	for err == nil && word(answer[0]) == "ok" && integer(answer[6]) != 0 {
		given["position"] = integer(answer[6])
		answer, err = s.run(ctx, "task_claim", k, given)
	}
	if err != nil {
		return store.Claimed{}, err
	}
	switch word(answer[0]) {
	case "superseded":
		return store.Claimed{}, store.RefuseSuperseded(step.Agent)
	case "stranger":
		return store.Claimed{}, store.RefuseNotMember(queue, step.Agent)
	case "paused":
		return store.Claimed{}, store.RefusePaused(step.Agent)
	case "no_message":
		return store.Claimed{}, store.RefuseNoMessage(step.ID)
	case "ended":
		return store.Claimed{}, store.RefuseEnded(step.ID, word(answer[1]))
	case "held":
		return store.Claimed{}, store.RefuseHeld(step.ID, c3po.AgentID(word(answer[1])))
	}
	out := store.Claimed{Count: int(integer(answer[1])), Now: instant(integer(answer[2]))}
	if hex := word(answer[3]); hex != "" {
		e := entry(queue, hex, word(answer[4]), word(answer[5]))
		out.Entry = &e
	}
	return out, nil
}

// AckClaimed implements store.Store.
func (s *Store) AckClaimed(ctx context.Context, space c3po.Space, queue, agent c3po.AgentID, run string, ids []c3po.MessageID) ([]store.AckOutcome, error) {
	k := keysOf(space)
	var messages []with
	for _, id := range ids {
		from, _, hex := id.Split()
		messages = append(messages, with{"from": from, "hex": hex})
	}
	answer, err := s.run(ctx, "task_ack", k, with{
		"agent": k.agent(agent), "mail": k.of(queue), "mailbox": queue, "id": agent, "run": run, "role": queue.Queue(), "messages": messages,
	})
	if err != nil {
		return nil, err
	}
	if word(answer[0]) == "superseded" {
		return nil, store.RefuseSuperseded(agent)
	}
	outcomes := make([]store.AckOutcome, len(ids))
	for i := range ids {
		outcomes[i] = store.AckOutcome(word(answer[i+1]))
	}
	return outcomes, nil
}

// Members implements store.Store.
func (s *Store) Members(ctx context.Context, space c3po.Space, queue c3po.AgentID, limit int) ([]c3po.AgentID, error) {
	// Behind the entry without an id, before the next character after the space.
	from, to := "("+queue.Queue()+" ", "("+queue.Queue()+"!"
	rows, err := s.strings(ctx, s.commands.B().Zrangebylex().Key(keysOf(space).queues()).Min(from).Max(to).Limit(0, int64(limit)).Build())
	if err != nil {
		return nil, err
	}
	var ids []c3po.AgentID
	for _, row := range rows {
		_, id, _ := strings.Cut(row, " ")
		ids = append(ids, c3po.AgentID(id))
	}
	return ids, nil
}

// Queues implements store.Store.
func (s *Store) Queues(ctx context.Context, space c3po.Space) ([]c3po.AgentID, error) {
	rows, err := s.strings(ctx, s.commands.B().Zrange().Key(keysOf(space).queues()).Min("0").Max("-1").Build())
	if err != nil {
		return nil, err
	}
	var queues []c3po.AgentID
	for _, row := range rows {
		if name, marker := strings.CutSuffix(row, " "); marker {
			queues = append(queues, c3po.QueuesOf([]string{name})...)
		}
	}
	return queues, nil
}
