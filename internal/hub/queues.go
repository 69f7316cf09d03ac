package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// membersLook is how many members of a queue are asked whether they are available.
	membersLook = 50
	// membersTold is how many members' states a receipt is made from.
	membersTold = 20
	// lapseLook is how often a wait looks for queue mail that has come back:
	// nothing happens when a claim lapses, so nothing wakes it.
	lapseLook = 15 * time.Second
	// queuesTimeout is how long a call is held up by reading the caller's queues anew.
	queuesTimeout = 250 * time.Millisecond
)

// refreshQueues reads the caller's queues anew: it may have registered with others
// at another coordinator. What was known stays if the store does not answer soon:
// the call itself is not to wait for it. It says whether the caller is still
// registered, as far as is known: another coordinator may have retired it.
func (me *identity) refreshQueues(ctx context.Context, known binding) bool {
	ctx, cancel := context.WithTimeout(ctx, queuesTimeout)
	defer cancel()
	records, err := me.hub.store.Agents(ctx, me.space, []c3po.AgentID{known.id})
	if err != nil || len(records) != 1 {
		return err != nil
	}
	known.queues = c3po.QueuesOf(records[0].Profile.Capabilities)
	me.hub.bindings.setQueues(me.key(), known.queues)
	me.actAs(known)
	return true
}

// readerOf names the caller among the readers of a mailbox. Sessions of several
// agents read the mailbox of a queue.
func (me *identity) readerOf(owner c3po.AgentID) string {
	if owner.Queue() == "" {
		return me.caller.Reader()
	}
	return string(me.id) + " " + me.caller.Reader()
}

// sendToQueue stores a message for any one member of a queue.
func (o outbox) sendToQueue(ctx context.Context, step store.SendStep) (c3po.Receipt, error) {
	whole, err := o.toQueue(ctx, &step)
	if err != nil {
		return c3po.Receipt{}, err
	}
	barred := step.Barred
	stored, err := o.payingForMessage(step.Draft, func(refusal error) (store.Stored, error) {
		step.Barred = cmp.Or(refusal, barred)
		return o.hub.store.Send(ctx, o.space, step)
	})
	if err != nil {
		o.announceSpent(ctx, stored.Spent, step.To, err)
		return c3po.Receipt{}, o.dropIfSuperseded(err)
	}
	return o.accepted(ctx, stored, step.Durability, func(receipt *c3po.Receipt) { o.queueReceipt(receipt, stored.Members, whole) }), nil
}

// toQueue prepares a step for the mailbox of a queue. It reports whether the step names
// all members but the sender.
func (o outbox) toQueue(ctx context.Context, step *store.SendStep) (whole bool, err error) {
	ids, err := o.hub.store.Members(ctx, o.space, step.To, membersLook)
	if err != nil {
		return false, err
	}
	ids = slices.DeleteFunc(ids, func(id c3po.AgentID) bool { return id == o.id })
	if len(ids) == 0 {
		step.Barred = o.noMember(ctx, step.To)
	} else if step.FailIfAway {
		members, err := o.hub.store.Agents(ctx, o.space, ids)
		if err != nil {
			return false, err
		}
		if !slices.ContainsFunc(members, isAvailable) {
			step.Barred = store.RefuseAway(step.To)
		}
	}
	step.Queue, step.FailIfAway, step.Members = true, false, ids[:min(len(ids), membersTold)]
	return len(step.Members) == len(ids), nil
}

func isAvailable(r store.Record) bool {
	return r.Online && r.Availability != c3po.Away && r.Paused == ""
}

// noMember is AGENT_NOT_FOUND for a queue, with the queues there are.
func (s spaceHub) noMember(ctx context.Context, queue c3po.AgentID) *c3po.Error {
	refusal := c3po.Errorf(c3po.AgentNotFound, "no other agent has the role '%s'", queue.Queue())
	advice := "An agent takes a role on by naming it among the capabilities of register_agent."
	queues, err := s.hub.store.Queues(ctx, s.space)
	if err != nil || len(queues) == 0 {
		return refusal.Suggest("%s", advice)
	}
	var names []string
	for _, queue := range queues[:min(len(queues), suggestFrom)] {
		names = append(names, "'role:"+queue.Queue()+"'")
	}
	return refusal.Suggest("%s Roles agents have had: %s.", advice, strings.Join(names, ", "))
}

// queueReceipt says how the best placed member of the queue can be reached. If not all
// members are known, another may be better placed than those at rest.
func (o outbox) queueReceipt(receipt *c3po.Receipt, members []store.Record, whole bool) {
	receipt.Recipient, receipt.Reachability, receipt.Notice = c3po.Offline, c3po.ReachOffline, o.notice
	for _, member := range members {
		if reach := queueReach(member); slices.Index(reachOrder(), reach) <= slices.Index(reachOrder(), receipt.Reachability) {
			receipt.Recipient, receipt.Reachability = status(member), reach
		}
	}
	switch receipt.Reachability {
	case c3po.ReachNow, c3po.ReachNextStep, c3po.ReachSoon, c3po.ReachNextCall:
		return
	}
	if !whole {
		receipt.Reachability = c3po.ReachUnknown
		return
	}
	receipt.Notice = sentences(o.notice, fmt.Sprintf(
		"no agent with the role '%s' is at work now; the first that is takes this", receipt.ToAgent.Queue()))
}

// queueReach is when a member hears of its queue's mail. Nothing starts a closed session for
// that: it is for members that are there.
func queueReach(r store.Record) c3po.Reachability {
	reach := reachability(r)
	if r.State == c3po.SessionClosed && (reach == c3po.ReachStarts || reach == c3po.ReachQuota) {
		return c3po.ReachOffline
	}
	return reach
}

// reachOrder is from the soonest to the latest.
func reachOrder() []c3po.Reachability {
	return []c3po.Reachability{c3po.ReachNow, c3po.ReachNextStep, c3po.ReachSoon, c3po.ReachNextCall, c3po.ReachRetry, c3po.ReachQuota, c3po.ReachDialog, c3po.ReachWaitingForHuman, c3po.ReachPersonReturns, c3po.ReachResumed, c3po.ReachUnknown, c3po.ReachOff, c3po.ReachNextSession, c3po.ReachOffline}
}

// Claim takes a message of a queue, so that no other agent works on it.
func (a *Actor) Claim(ctx context.Context, in c3po.MessageInput) (c3po.Message, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.Message{}, err
	}
	if err := checkID(in.MessageID); err != nil {
		return c3po.Message{}, err
	}
	_, queue, _ := in.MessageID.Split()
	if queue.Queue() == "" {
		return c3po.Message{}, c3po.Errorf(c3po.InvalidRequest, "message '%s' was not sent to a role", in.MessageID).
			Suggest("Only a role's mail is claimed; what is in your own inbox is yours already.")
	}
	claimed, err := a.inbox.claim(ctx, store.ClaimStep{Queue: queue, ID: in.MessageID})
	if err != nil {
		return c3po.Message{}, err
	}
	if claimed.Entry.Corrupt {
		a.bury(ctx, *claimed.Entry)
		return c3po.Message{}, store.RefuseNoMessage(in.MessageID)
	}
	return a.inbox.serve(*claimed.Entry, claimed.Now), nil
}

// claim fills in who claims, and keeps the books of this coordinator.
func (box *inbox) claim(ctx context.Context, step store.ClaimStep) (store.Claimed, error) {
	step.Agent, step.Run, step.Reader = box.id, box.caller.Run, box.readerOf(step.Queue)
	claimed, err := box.hub.store.Claim(ctx, box.space, step)
	if err != nil {
		return store.Claimed{}, box.dropIfSuperseded(err)
	}
	if claimed.Entry != nil {
		box.tell(ctx, c3po.EventClaimed, box.id, claimed.Entry.Message.ID)
	}
	return claimed, nil
}

// claimNext takes the next free message of the caller's queues for a wait that
// found nothing in the caller's own inbox.
func (box *inbox) claimNext(ctx context.Context, after *int64) (store.Claimed, error) {
	for _, queue := range box.queues() {
		step := store.ClaimStep{Queue: queue, Given: box.hub.notes.GivenTo(box.space, queue, box.readerOf(queue), after)}
		if after != nil {
			step.MinSeq, step.Positioned = *after, true
		}
		for {
			claimed, err := box.claim(ctx, step)
			if errors.Is(err, c3po.Forbidden) {
				// It gave the queue up at another coordinator.
				break
			}
			if err != nil {
				return store.Claimed{}, err
			}
			if claimed.Entry == nil {
				break
			}
			if !claimed.Entry.Corrupt {
				return claimed, nil
			}
			box.bury(ctx, *claimed.Entry)
			step.Given = append(step.Given, claimed.Entry.Message.ID)
		}
	}
	return store.Claimed{}, nil
}

// queues are the mailboxes the caller reads beside its own.
func (me *identity) queues() []c3po.AgentID {
	if acting := me.acting.Load(); acting != nil {
		return acting.queues
	}
	return nil
}

// withQueues merges the pages of several mailboxes that were read from the same place
// with the same limits. Positions come from one sequence, so the merged page is in the
// order of one inbox.
func withQueues(own store.InboxPage, others []store.InboxPage, limit, bytes int) store.InboxPage {
	merged := own
	pages := append([]store.InboxPage{own}, others...)
	merged.Entries, merged.Count, merged.Next = nil, 0, 0
	bound := int64(-1) // behind the end of a page that goes on, nothing is known
	for _, page := range pages {
		merged.Count += page.Count
		merged.Seq = min(merged.Seq, page.Seq)
		merged.Entries = append(merged.Entries, page.Entries...)
		if page.Next != 0 && (bound < 0 || page.Next < bound) {
			bound = page.Next
		}
	}
	slices.SortFunc(merged.Entries, func(x, y store.Entry) int { return cmp.Compare(readingPosition(x), readingPosition(y)) })
	size, last := 0, int64(0)
	for i, entry := range merged.Entries {
		at := readingPosition(entry)
		if i == limit || i > 0 && size+entry.Facts.Bytes > bytes || bound >= 0 && at > bound {
			merged.Entries, merged.Next = merged.Entries[:i], last
			return merged
		}
		size, last = size+entry.Facts.Bytes, at
	}
	if bound >= 0 {
		merged.Next = max(last, bound)
	}
	return merged
}

// readQueues completes a page of the caller's own inbox with its queues' mail.
func (box *inbox) readQueues(ctx context.Context, own store.InboxPage, q store.InboxQuery) (store.InboxPage, error) {
	var others []store.InboxPage
	for _, queue := range box.queues() {
		page, err := box.hub.store.Inbox(ctx, box.space, queue, q)
		if err != nil {
			return store.InboxPage{}, err
		}
		others = append(others, page)
	}
	return withQueues(own, others, q.Limit, q.Bytes), nil
}

func readingPosition(e store.Entry) int64 {
	return store.ReadingPosition(e.Message.Priority, e.Message.Seq)
}

// undecided is the outcome of an id whose mailbox was not reached any more.
const undecided store.AckOutcome = ""

// takeAll records what the caller's client has taken of its own inbox and of its
// queues.
func (box *inbox) takeAll(ctx context.Context, ids []c3po.MessageID) ([]store.AckOutcome, error) {
	return byMailbox(ids, func(owner c3po.AgentID) c3po.AgentID {
		if !slices.Contains(box.queues(), owner) {
			return box.id
		}
		return owner
	}, func(owner c3po.AgentID, group []c3po.MessageID) ([]store.AckOutcome, error) {
		return box.hub.store.Received(ctx, box.space, owner, box.readerOf(owner), box.caller.Route, group)
	})
}

// ackAll acks ids of the caller's own inbox, of its queues and of its rooms.
func (box *inbox) ackAll(ctx context.Context, ids []c3po.MessageID) ([]store.AckOutcome, error) {
	const posts = c3po.AgentID("#") // those of all rooms go in one step
	ids, err := box.ownAll(ctx, ids)
	if err != nil {
		return nil, err
	}
	left := map[c3po.AgentID]bool{}
	for _, id := range ids {
		_, owner, _ := id.Split()
		if owner == box.id || owner.Queue() != "" || owner.Room() != "" || left[owner] {
			continue
		}
		place, err := box.successor(ctx, owner)
		if err != nil {
			return nil, err
		}
		left[owner] = place != nil
	}
	return byMailbox(ids, func(owner c3po.AgentID) c3po.AgentID {
		switch {
		case owner.Room() != "":
			return posts
		case owner.Queue() == "" && !left[owner]:
			return box.id
		}
		return owner
	}, func(owner c3po.AgentID, group []c3po.MessageID) ([]store.AckOutcome, error) {
		switch {
		case owner == box.id:
			return box.hub.store.Ack(ctx, box.space, box.id, box.caller.Run, group)
		case left[owner]:
			return box.hub.store.Ack(ctx, box.space, owner, "", group)
		case owner == posts:
			return box.hub.store.AckPosts(ctx, box.space, box.id, box.caller.Run, group)
		default:
			return box.hub.store.AckClaimed(ctx, box.space, owner, box.id, box.caller.Run, group)
		}
	})
}

// byMailbox takes one step for each mailbox that ids are in, which box names. If
// the first fails there are no outcomes. If a later one does, its ids and those
// of the mailboxes after it are undecided: what was done before stays done.
func byMailbox(ids []c3po.MessageID, box func(owner c3po.AgentID) c3po.AgentID, step func(c3po.AgentID, []c3po.MessageID) ([]store.AckOutcome, error)) ([]store.AckOutcome, error) {
	groups := map[c3po.AgentID][]int{}
	var order []c3po.AgentID
	for i, id := range ids {
		_, owner, _ := id.Split()
		owner = box(owner)
		if groups[owner] == nil {
			order = append(order, owner)
		}
		groups[owner] = append(groups[owner], i)
	}
	outcomes := make([]store.AckOutcome, len(ids))
	for n, owner := range order {
		group := make([]c3po.MessageID, 0, len(groups[owner]))
		for _, i := range groups[owner] {
			group = append(group, ids[i])
		}
		done, err := step(owner, group)
		switch {
		case err != nil && n == 0:
			return nil, err
		case err != nil:
			return outcomes, err
		}
		for n, i := range groups[owner] {
			outcomes[i] = done[n]
		}
	}
	return outcomes, nil
}
