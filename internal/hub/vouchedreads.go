package hub

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// The reads that give messages. TestEveryReadOfMessagesIsVouchedFor finds one that is missing.

func (s vouchedStore) vouchAll(ctx context.Context, space c3po.Space, entries []store.Entry) error {
	for i := range entries {
		if err := s.vouch(ctx, space, &entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// vouchOne is vouch for a message that need not be there.
func (s vouchedStore) vouchOne(ctx context.Context, space c3po.Space, e *store.Entry) error {
	if e == nil {
		return nil
	}
	return s.vouch(ctx, space, e)
}

// Inbox implements Store.
func (s vouchedStore) Inbox(ctx context.Context, space c3po.Space, owner c3po.AgentID, q store.InboxQuery) (store.InboxPage, error) {
	page, err := s.FreshStore.Inbox(ctx, space, owner, q)
	if err == nil {
		err = s.vouchAll(ctx, space, page.Entries)
	}
	return page, err
}

// Next implements Store.
func (s vouchedStore) Next(ctx context.Context, space c3po.Space, owner c3po.AgentID, q store.NextQuery) (store.NextMessage, error) {
	next, err := s.FreshStore.Next(ctx, space, owner, q)
	if err == nil {
		err = s.vouchOne(ctx, space, next.Entry)
	}
	return next, err
}

// Message implements Store.
func (s vouchedStore) Message(ctx context.Context, space c3po.Space, id c3po.MessageID) (*store.Entry, error) {
	entry, err := s.FreshStore.Message(ctx, space, id)
	if err == nil {
		err = s.vouchOne(ctx, space, entry)
	}
	return entry, err
}

// Messages implements Store.
func (s vouchedStore) Messages(ctx context.Context, space c3po.Space, ids []c3po.MessageID) ([]store.Entry, error) {
	entries, err := s.FreshStore.Messages(ctx, space, ids)
	if err == nil {
		err = s.vouchAll(ctx, space, entries)
	}
	return entries, err
}

// Answers implements Store.
func (s vouchedStore) Answers(ctx context.Context, space c3po.Space, id c3po.MessageID) ([]store.Entry, error) {
	entries, err := s.FreshStore.Answers(ctx, space, id)
	if err == nil {
		err = s.vouchAll(ctx, space, entries)
	}
	return entries, err
}

// Thread implements Store.
func (s vouchedStore) Thread(ctx context.Context, space c3po.Space, thread string, after int64, limit int) ([]store.Entry, error) {
	entries, err := s.FreshStore.Thread(ctx, space, thread, after, limit)
	if err == nil {
		err = s.vouchAll(ctx, space, entries)
	}
	return entries, err
}

// ThreadSpans implements Store.
func (s vouchedStore) ThreadSpans(ctx context.Context, space c3po.Space, threads []string) ([]store.ThreadSpan, error) {
	spans, err := s.FreshStore.ThreadSpans(ctx, space, threads)
	for _, span := range spans {
		if err == nil {
			err = s.vouchOne(ctx, space, span.First)
		}
		if err == nil && span.Last != span.First {
			err = s.vouchOne(ctx, space, span.Last)
		}
	}
	return spans, err
}

// Kept implements Store.
func (s vouchedStore) Kept(ctx context.Context, space c3po.Space, after string, below int64, limit int) ([]store.KeptEntry, string, error) {
	kept, place, err := s.FreshStore.Kept(ctx, space, after, below, limit)
	for i := range kept {
		if err == nil {
			err = s.vouch(ctx, space, &kept[i].Entry)
		}
	}
	return kept, place, err
}

// Claim implements Store.
func (s vouchedStore) Claim(ctx context.Context, space c3po.Space, step store.ClaimStep) (store.Claimed, error) {
	claimed, err := s.FreshStore.Claim(ctx, space, step)
	if err == nil {
		err = s.vouchOne(ctx, space, claimed.Entry)
	}
	return claimed, err
}

// DeadLetters implements Store.
func (s vouchedStore) DeadLetters(ctx context.Context, space c3po.Space, after int64, limit int) ([]store.DeadLetter, error) {
	letters, err := s.FreshStore.DeadLetters(ctx, space, after, limit)
	for i := range letters {
		if err == nil {
			err = s.vouch(ctx, space, &letters[i].Entry)
		}
	}
	return letters, err
}
