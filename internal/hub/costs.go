package hub

import (
	"context"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// checkUsed holds a report to what one session can have used.
func (h *Hub) checkUsed(used []c3po.Used) error {
	if len(used) > h.limits.BatchIDs {
		return refuse("used has %d entries, and may have %d", len(used), h.limits.BatchIDs)
	}
	for _, u := range used {
		if err := checkID(u.MessageID); err != nil {
			return err
		}
		for _, n := range []int64{u.Usage.InputTokens, u.Usage.OutputTokens, u.Usage.CacheReadTokens, u.Usage.CacheWriteTokens, u.Usage.MicroUSD} {
			if n < 0 || n > c3po.MaxUsage {
				return refuse("a number in used is from 0 to %d", c3po.MaxUsage)
			}
		}
	}
	return nil
}

// reportUsed records what the caller has used for messages in its mailbox. It says nothing
// of other messages: they are not the caller's to count.
func (box *inbox) reportUsed(ctx context.Context, used []c3po.Used) error {
	if len(used) == 0 {
		return nil
	}
	ids := make([]c3po.MessageID, len(used))
	for i, u := range used {
		ids[i] = u.MessageID
	}
	ids, err := box.ownAll(ctx, ids)
	if err != nil {
		return err
	}
	for i, u := range used {
		step := store.UsageStep{Agent: box.id, Run: box.caller.Run, Client: clientName(box.caller.Client), ID: ids[i], Usage: u.Usage, Shared: u.Shared}
		if _, err := box.hub.store.Use(ctx, box.space, step); err != nil {
			return box.dropIfSuperseded(err)
		}
	}
	return nil
}

// maxClientName bounds what is kept of a client's name with every message it answers.
const maxClientName = 40

// clientName is the coding agent in "c3po/1.2 claude-code".
func clientName(client string) string {
	_, name, _ := strings.Cut(client, " ")
	name, _, _ = strings.Cut(name, " ")
	name = strings.ToValidUTF8(name, "")
	return name[:min(len(name), maxClientName)]
}

// costOf adds up what the runs say that a message has cost; nil if none has said so.
func costOf(runs []store.RunUsage) *c3po.Cost {
	if len(runs) == 0 {
		return nil
	}
	cost := &c3po.Cost{}
	for _, run := range runs {
		cost.Usage, cost.Shared = cost.Usage.Plus(run.Usage), cost.Shared || run.Shared
		if run.Client != "" && !slices.Contains(cost.Clients, run.Client) {
			cost.Clients = append(cost.Clients, run.Client)
		}
	}
	return cost
}
