package hub

import (
	"context"
	"fmt"

	"github.com/c3po-dev/c3po/c3po"
)

// auditPage is how many agents fsck reads at once.
const auditPage = 500

// Fsck proves that no message is missing: every one that was sent is pending or
// has ended, and the inboxes hold exactly what the books call pending. It also proves
// that rooms and agents agree on who is where.
func (a *Actor) Fsck(ctx context.Context, _ c3po.None) (c3po.Audit, error) { return a.fsck(ctx) }

// Fsck is for a program that holds the store itself, so that nobody could refuse it.
func (h *Hub) Fsck(ctx context.Context, space c3po.Space) (c3po.Audit, error) {
	return spaceHub{hub: h, space: space}.fsck(ctx)
}

// fsck reads all there is, so a coordinator does it once at a time.
func (s spaceHub) fsck(ctx context.Context) (c3po.Audit, error) {
	if !s.hub.auditing.CompareAndSwap(false, true) {
		return c3po.Audit{}, c3po.Errorf(c3po.RateLimited, "an fsck is already running").Suggest("Wait for that to end.")
	}
	defer s.hub.auditing.Store(false)
	audit, err := s.audit(ctx)
	if err == nil && !audit.Balanced {
		// Mail that moves while the inboxes are counted looks like a hole.
		audit, err = s.audit(ctx)
	}
	return audit, err
}

func (s spaceHub) audit(ctx context.Context) (c3po.Audit, error) {
	books, err := s.hub.store.Counters(ctx, s.space)
	if err != nil {
		return c3po.Audit{}, err
	}
	found, bytes, agents, err := s.countInboxes(ctx)
	if err != nil {
		return c3po.Audit{}, err
	}
	at, err := s.hub.store.Sequence(ctx, s.space)
	if err != nil {
		return c3po.Audit{}, err
	}
	rooms, problems, err := s.auditRooms(ctx)
	if err != nil {
		return c3po.Audit{}, err
	}
	audit := c3po.Audit{
		Space: s.space, Epoch: at.Epoch, Sent: books.Sent, Pending: books.Pending, Acked: books.Acked, Cancelled: books.Cancelled,
		Dead: books.Dead, Bytes: books.PendingBytes, Found: found, FoundBytes: bytes, Agents: agents, Rooms: rooms,
		Problems: append([]string{}, problems...),
	}
	if ended := books.Acked + books.Cancelled + books.Dead; books.Sent != books.Pending+ended {
		audit.Problems = append(audit.Problems, fmt.Sprintf(
			"%d messages were sent, but %d are pending and %d have ended", books.Sent, books.Pending, ended))
	}
	if books.Pending != found {
		audit.Problems = append(audit.Problems, fmt.Sprintf(
			"the books say %d messages are pending, but the inboxes hold %d", books.Pending, found))
	}
	if books.PendingBytes != bytes {
		audit.Problems = append(audit.Problems, fmt.Sprintf(
			"the books say %d bytes are pending, but the inboxes hold %d", books.PendingBytes, bytes))
	}
	audit.Balanced = len(audit.Problems) == 0
	return audit, nil
}

func (s spaceHub) countInboxes(ctx context.Context) (found, bytes, agents int64, err error) {
	count := func(id c3po.AgentID) error {
		size, err := s.hub.store.InboxSize(ctx, s.space, id)
		if err != nil || size == 0 {
			return err
		}
		of, err := s.hub.store.InboxBytes(ctx, s.space, id)
		found, bytes = found+int64(size), bytes+of
		return err
	}
	mailboxes, err := s.hub.store.Queues(ctx, s.space)
	if err != nil {
		return 0, 0, 0, err
	}
	for _, mailbox := range append(mailboxes, c3po.Human) {
		if err := count(mailbox); err != nil {
			return 0, 0, 0, err
		}
	}
	for after := int64(0); ; {
		records, err := s.hub.store.AgentPage(ctx, s.space, after, auditPage)
		if err != nil {
			return 0, 0, 0, err
		}
		if len(records) == 0 {
			break
		}
		for _, record := range records {
			if err := count(record.ID); err != nil {
				return 0, 0, 0, err
			}
			agents++
			after = record.RegSeq
		}
	}
	// An agent that was retired has left its mail behind.
	for skip := 0; ; {
		ids, err := s.hub.store.Retired(ctx, s.space, skip, auditPage)
		if err != nil || len(ids) == 0 {
			return found, bytes, agents, err
		}
		for _, id := range ids {
			if err := count(id); err != nil {
				return 0, 0, 0, err
			}
		}
		skip += len(ids)
	}
}
