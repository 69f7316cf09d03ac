package hub

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// maxLettersPerCall is how many letters one call replays or purges.
const maxLettersPerCall = 1000

// maxCallTime is how long a call takes that does many things, before it answers that there
// are more. Clients wait 15 s for an answer.
const maxCallTime = 5 * time.Second

// DeadLetters lists what ended without being acked, in the order it died.
func (a *Actor) DeadLetters(ctx context.Context, in c3po.LettersInput) (c3po.LetterList, error) {
	filter, err := a.letterFilter(ctx, in.AgentID, in.Reason, in.Since)
	if err != nil {
		return c3po.LetterList{}, err
	}
	limit, err := a.hub.pageLimit(in.Limit)
	if err != nil {
		return c3po.LetterList{}, err
	}
	after, err := parseCursor(letterCursor, in.Cursor)
	if err != nil {
		return c3po.LetterList{}, err
	}
	letters, next, err := a.letters(ctx, filter, after, limit)
	if err != nil {
		return c3po.LetterList{}, err
	}
	list := c3po.LetterList{Letters: []c3po.Letter{}}
	for _, letter := range letters {
		list.Letters = append(list.Letters, letterView(letter))
	}
	if next > 0 {
		list.Next = formatCursor(letterCursor, next)
	}
	return list, nil
}

// DeadLetter shows one dead letter with its text.
func (a *Actor) DeadLetter(ctx context.Context, in c3po.MessageInput) (c3po.LetterView, error) {
	if err := checkID(in.MessageID); err != nil {
		return c3po.LetterView{}, err
	}
	entry, err := a.hub.store.Message(ctx, a.space, in.MessageID)
	if err != nil {
		return c3po.LetterView{}, err
	}
	if entry == nil || entry.State != c3po.StateDead {
		return c3po.LetterView{}, c3po.Errorf(c3po.InvalidRequest, "'%s' is no dead letter", in.MessageID).
			Suggest("dead_letters lists them; trace shows what became of any message.")
	}
	m := entry.Message
	m.BodyGone = entry.BodyGone || entry.Corrupt
	return c3po.LetterView{Letter: letterView(store.DeadLetter{Entry: *entry, At: entry.Facts.Ended}), Message: m}, nil
}

func letterView(letter store.DeadLetter) c3po.Letter {
	m := letter.Entry.Message
	return c3po.Letter{
		ID: m.ID, FromAgent: m.FromAgent, ToAgent: m.ToAgent, Kind: m.Kind, Thread: m.Thread, Reason: letter.Entry.Reason,
		Bytes: letter.Entry.Facts.Bytes, SentAt: letter.Entry.Facts.Accepted, DiedAt: letter.At,
	}
}

// DeadLetterReplay delivers dead letters again.
func (a *Actor) DeadLetterReplay(ctx context.Context, in c3po.LetterSelection) (c3po.LetterOutcome, error) {
	durability, err := a.hub.store.Durability(ctx)
	if err != nil {
		return c3po.LetterOutcome{}, err
	}
	return forLetters(ctx, &a.identity, in, func(letter store.DeadLetter) (string, error) {
		if letter.Entry.Corrupt || letter.Entry.BodyGone {
			return "its text is damaged or gone", nil
		}
		id := letter.Entry.Message.ID
		outcome, err := a.hub.store.Revive(ctx, a.space, id, store.ReviveStep{Notice: deliveredAfterAll(id), Durability: durability})
		if err != nil {
			return "", err
		}
		switch outcome {
		case store.ReviveDone:
			a.tell(ctx, c3po.EventRedelivered, letter.Entry.Message.ToAgent, id)
			return "", nil
		case store.ReviveUnknown:
			return "its recipient is not registered", nil
		case store.ReviveFull:
			return "the inbox of its recipient is full", nil
		default:
			return "it is no dead letter", nil
		}
	})
}

// DeadLetterPurge forgets dead letters at once.
func (a *Actor) DeadLetterPurge(ctx context.Context, in c3po.LetterSelection) (c3po.LetterOutcome, error) {
	return forLetters(ctx, &a.identity, in, func(letter store.DeadLetter) (string, error) {
		forgotten, err := a.hub.store.Purge(ctx, a.space, letter.Entry.Message.ID)
		if err == nil && !forgotten {
			return "it is no dead letter", nil
		}
		return "", err
	})
}

// forLetters does something with each letter of a selection. What it does says
// why it did not, or nothing. Letters that were left are passed over, so that a
// call after this one gets to the rest.
func forLetters(ctx context.Context, me *identity, in c3po.LetterSelection, do func(store.DeadLetter) (string, error)) (c3po.LetterOutcome, error) {
	letters, more, err := me.selectLetters(ctx, in)
	if err != nil {
		return c3po.LetterOutcome{}, err
	}
	out := c3po.LetterOutcome{Done: []c3po.MessageID{}, Left: []c3po.LetterLeft{}, More: more}
	began := time.Now()
	for i, letter := range letters {
		if i > 0 && time.Since(began) > maxCallTime {
			out.More, out.Notice = true, "There was no time for all of them. Call again with the undecided ones"
			for _, rest := range letters[i:] {
				out.Undecided = append(out.Undecided, rest.Entry.Message.ID)
			}
			break
		}
		id := letter.Entry.Message.ID
		why := "it is no dead letter"
		if letter.Entry.State == c3po.StateDead {
			why, err = do(letter)
		}
		if err != nil {
			if len(out.Done) == 0 {
				return c3po.LetterOutcome{}, err
			}
			for _, rest := range letters[i:] {
				out.Undecided = append(out.Undecided, rest.Entry.Message.ID)
			}
			out.Notice = me.stoppedAt(ctx, err)
			break
		}
		if why == "" {
			out.Done = append(out.Done, id)
		} else {
			out.Left = append(out.Left, c3po.LetterLeft{ID: id, Why: why})
		}
	}
	if len(out.Done) > 0 {
		me.hub.marks.Touch(me.space, 0)
	}
	// If nothing could be done, calling again would not help.
	out.More = out.More && len(out.Done) > 0
	return out, nil
}

// selectLetters finds the letters of a selection. An id that names no dead letter gets an
// entry that says so.
func (s spaceHub) selectLetters(ctx context.Context, in c3po.LetterSelection) (letters []store.DeadLetter, more bool, err error) {
	filtered := in.AgentID != "" || in.Reason != "" || in.Since != ""
	ways := 0
	for _, way := range []bool{len(in.MessageIDs) > 0, filtered, in.All} {
		if way {
			ways++
		}
	}
	if ways != 1 {
		return nil, false, c3po.Errorf(c3po.InvalidRequest, "give message_ids, or a filter (agent_id, reason, since), or all").
			Suggest("dead_letters lists what there is.")
	}
	if len(in.MessageIDs) > 0 {
		return s.lettersNamed(ctx, in.MessageIDs)
	}
	filter, err := s.letterFilter(ctx, in.AgentID, in.Reason, in.Since)
	if err != nil {
		return nil, false, err
	}
	letters, next, err := s.letters(ctx, filter, 0, maxLettersPerCall)
	return letters, next > 0, err
}

func (s spaceHub) lettersNamed(ctx context.Context, ids []c3po.MessageID) ([]store.DeadLetter, bool, error) {
	if err := s.hub.checkIDs(ids); err != nil {
		return nil, false, err
	}
	var letters []store.DeadLetter
	for _, id := range ids {
		entry, err := s.hub.store.Message(ctx, s.space, id)
		if err != nil {
			return nil, false, err
		}
		if entry == nil {
			entry = &store.Entry{Message: c3po.Message{ID: id}}
		}
		letters = append(letters, store.DeadLetter{Entry: *entry, At: entry.Facts.Ended})
	}
	return letters, false, nil
}

// A letterFilter selects dead letters; what is zero selects nothing out.
type letterFilter struct {
	to     c3po.AgentID
	reason string
	since  time.Time
}

func (f letterFilter) takes(letter store.DeadLetter) bool {
	return (f.to == "" || letter.Entry.Message.ToAgent == f.to) &&
		(f.reason == "" || letter.Entry.Reason == f.reason) && !letter.At.Before(f.since)
}

func (s spaceHub) letterFilter(ctx context.Context, to, reason, since string) (letterFilter, error) {
	filter := letterFilter{reason: reason}
	switch reason {
	case "", c3po.ReasonExpired, c3po.ReasonCorrupt, c3po.ReasonRecipientRemoved:
	default:
		return letterFilter{}, refuse("%q is not a reason: expired, corrupt or recipient_removed", reason)
	}
	if to != "" {
		id, err := c3po.ParseAgentID(to)
		if err != nil {
			return letterFilter{}, err
		}
		filter.to = id
	}
	if since == "" {
		return filter, nil
	}
	if at, err := time.Parse(time.RFC3339, since); err == nil {
		filter.since = at
		return filter, nil
	}
	ago, err := parseAge("since", since)
	if err != nil {
		return letterFilter{}, err
	}
	now, err := s.hub.store.Now(ctx)
	if err != nil {
		return letterFilter{}, err
	}
	filter.since = now.Add(-ago)
	return filter, nil
}

// letters gives up to limit letters that pass the filter, and where to go on
// if there may be more.
func (s spaceHub) letters(ctx context.Context, filter letterFilter, after int64, limit int) (found []store.DeadLetter, next int64, err error) {
	for scanned := 0; scanned < maxScanned; {
		page, err := s.hub.store.DeadLetters(ctx, s.space, after, s.hub.limits.PageItems)
		if err != nil {
			return nil, 0, err
		}
		if len(page) == 0 {
			return found, 0, nil
		}
		for _, letter := range page {
			if len(found) == limit && filter.takes(letter) {
				return found, after, nil
			}
			after = letter.Seq
			if filter.takes(letter) {
				found = append(found, letter)
			}
		}
		scanned += len(page)
	}
	return found, after, nil
}

// parseAge reads a length of time as people write it: 90m, 24h, 7d.
func parseAge(field, text string) (time.Duration, error) {
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n <= 10_000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	age, err := time.ParseDuration(text)
	if err != nil || age < 0 {
		return 0, c3po.Errorf(c3po.InvalidRequest, "%s is %q, which is not a duration", field, text).
			Suggest("Write it as 90m, 24h or 7d.")
	}
	return age, nil
}
