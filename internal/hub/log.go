package hub

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/node"
	"github.com/c3po-dev/c3po/internal/store"
)

// TailLog reads the log of the caller's space. An event says no more than a trace does,
// so anyone who may trace may read it.
func (a *Actor) TailLog(ctx context.Context, in c3po.LogInput) (c3po.LogPage, error) {
	limit, err := a.hub.pageLimit(in.Limit)
	if err != nil {
		return c3po.LogPage{}, err
	}
	if err := checkKinds(in.Kinds); err != nil {
		return c3po.LogPage{}, err
	}
	at, err := a.hub.store.Sequence(ctx, a.space)
	if err != nil {
		return c3po.LogPage{}, err
	}
	s := logSearch{identity: &a.identity, in: in, limit: limit, at: at}
	if err := s.findThread(ctx); err != nil {
		return c3po.LogPage{}, err
	}
	switch {
	case in.After != "" && in.Since != "":
		return c3po.LogPage{}, c3po.Errorf(c3po.InvalidRequest, "give either after or since").Suggest("Use after to go on, since to begin.")
	case in.After != "":
		return s.pageAfter(ctx)
	case in.Since != "":
		return s.pageSince(ctx)
	default:
		return s.newest(ctx)
	}
}

func checkKinds(kinds []c3po.EventKind) error {
	known := c3po.EventKinds()
	for _, kind := range kinds {
		if !slices.Contains(known, kind) {
			return c3po.Errorf(c3po.InvalidRequest, "there is no event of kind %.80q", string(kind)).
				Suggest("The kinds are %s.", strings.Trim(fmt.Sprint(known), "[]"))
		}
	}
	return nil
}

// A logSearch is one look into a log that stood at a place when it began.
type logSearch struct {
	*identity
	in       c3po.LogInput
	limit    int
	at       store.Sequence
	messages map[c3po.MessageID]bool // of the thread that was asked for; nil for all
}

// findThread learns which messages the thread has, since events do not say.
func (s *logSearch) findThread(ctx context.Context) error {
	if s.in.Thread == "" {
		return nil
	}
	if err := checkLabels(label{"thread", s.in.Thread, maxThreadBytes}); err != nil {
		return err
	}
	thread, err := s.threadOf(ctx, s.in.Thread)
	if err != nil {
		return err
	}
	s.messages = map[c3po.MessageID]bool{}
	for after := int64(0); len(s.messages) < maxScanned; {
		entries, err := s.hub.store.Thread(ctx, s.space, thread, after, s.hub.limits.PageItems)
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, entry := range entries {
			s.messages[entry.Message.ID] = true
			after = entry.Message.Seq
		}
	}
	return nil
}

func (s *logSearch) wants(e c3po.Event) bool {
	return s.in.Wants(e) && (s.messages == nil || s.messages[e.ID])
}

// pageAfter goes on from a place, or says that it cannot.
func (s *logSearch) pageAfter(ctx context.Context) (c3po.LogPage, error) {
	place, err := c3po.ParseEventCursor(s.in.After)
	if err != nil {
		return c3po.LogPage{}, err
	}
	from, reset := s.at.Resume(place)
	if reset == c3po.ResetTrimmed {
		from = max(s.at.Oldest, 1) - 1
	}
	page, err := s.forward(ctx, from)
	page.Reset = reset
	return page, err
}

// pageSince begins with the first event that is not older than asked for.
func (s *logSearch) pageSince(ctx context.Context) (c3po.LogPage, error) {
	now, err := s.hub.store.Now(ctx)
	if err != nil {
		return c3po.LogPage{}, err
	}
	then, err := c3po.ParseSince(s.in.Since, now)
	if err != nil {
		return c3po.LogPage{}, err
	}
	from, err := s.lastBefore(ctx, then)
	if err != nil {
		return c3po.LogPage{}, err
	}
	return s.forward(ctx, from)
}

// lastBefore finds the number of the last event that is older than a time, by
// halving what is left of the log: it can hold a hundred thousand.
func (s *logSearch) lastBefore(ctx context.Context, then time.Time) (int64, error) {
	older, younger := max(s.at.Oldest, 1)-1, s.at.Last
	for older < younger {
		middle := older + (younger-older)/2
		events, err := s.hub.store.Events(ctx, s.space, middle, 1)
		if err != nil {
			return 0, err
		}
		if len(events) == 0 || !events[0].At.Before(then) {
			younger = middle
		} else {
			older = events[0].Seq
		}
	}
	return older, nil
}

// forward reads on from a place, until there are enough or much was looked at.
func (s *logSearch) forward(ctx context.Context, from int64) (c3po.LogPage, error) {
	page := c3po.LogPage{Events: []c3po.Event{}}
	for looked := 0; from < s.at.Last && looked < maxScanned && len(page.Events) < s.limit; {
		events, err := s.hub.store.Events(ctx, s.space, from, node.WatchPage)
		if err != nil {
			return c3po.LogPage{}, err
		}
		if len(events) == 0 {
			from = s.at.Last
			break
		}
		for _, e := range events {
			if len(page.Events) == s.limit {
				break
			}
			from = e.Seq
			looked++
			if e = node.Discreet(e); s.wants(e) {
				page.Events = append(page.Events, e)
			}
		}
	}
	page.At = c3po.EventCursor{Epoch: s.at.Epoch, Seq: from}.String()
	page.More = from < s.at.Last
	return page, nil
}

// newest reads the log backwards, a stretch of numbers at a time.
func (s *logSearch) newest(ctx context.Context) (c3po.LogPage, error) {
	page := c3po.LogPage{Events: []c3po.Event{}, At: c3po.EventCursor{Epoch: s.at.Epoch, Seq: s.at.Last}.String()}
	for to, looked := s.at.Last, int64(0); to >= max(s.at.Oldest, 1) && looked < maxScanned && len(page.Events) < s.limit; {
		from := max(to-node.WatchPage, s.at.Oldest-1, 0)
		events, err := s.hub.store.Events(ctx, s.space, from, node.WatchPage)
		if err != nil {
			return c3po.LogPage{}, err
		}
		var wanted []c3po.Event
		for _, e := range events {
			if e = node.Discreet(e); e.Seq <= to && s.wants(e) {
				wanted = append(wanted, e)
			}
		}
		page.Events = append(wanted, page.Events...)
		looked += to - from
		to = from
	}
	page.Events = page.Events[max(0, len(page.Events)-s.limit):]
	return page, nil
}
