package hub

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/c3po-dev/c3po"
)

const (
	// noticeMost is how long a channel may take for one notice. It is less than
	// the first pause, so that nobody else takes it on meanwhile.
	noticeMost = 10 * time.Second
	// noticeSweep is how often all spaces are looked at for questions that other
	// coordinators accepted, and for notices that failed.
	noticeSweep = 10 * time.Second
	noticePage  = 100
)

// A Notifier tells the person of questions, outside of c3po.
type Notifier interface {
	// Channels are the ways it has, by name.
	Channels() []string
	// Notify tells the person by one channel. An error means that it can be tried
	// again later.
	Notify(ctx context.Context, channel string, n c3po.Notification) error
}

// notices tell the person of every question once by each channel, whichever
// coordinator it was asked at. What was told is a fact of the question, so that
// nothing is forgotten when a coordinator dies. Each channel has a goroutine of
// its own: a slow one holds up nobody else.
type notices struct {
	store    Store
	log      *slog.Logger
	notifier Notifier
	channels []*noticeChannel
}

type noticeChannel struct {
	name string
	wake chan struct{} // holds one signal: there are spaces to look at

	mu     sync.Mutex
	spaces map[c3po.Space]bool
}

func newNotices(store Store, log *slog.Logger, notifier Notifier) *notices {
	n := &notices{store: store, log: log, notifier: notifier}
	if notifier == nil {
		return n
	}
	for _, name := range notifier.Channels() {
		n.channels = append(n.channels, &noticeChannel{name: name, wake: make(chan struct{}, 1), spaces: map[c3po.Space]bool{}})
	}
	return n
}

// asked says that a question of the space may wait to be told of. It never blocks.
func (n *notices) asked(space c3po.Space) {
	for _, c := range n.channels {
		c.mu.Lock()
		c.spaces[space] = true
		c.mu.Unlock()
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

func (n *notices) run(ctx context.Context) {
	var work sync.WaitGroup
	for _, c := range n.channels {
		work.Go(func() { n.serve(ctx, c) })
	}
	work.Wait()
}

func (n *notices) serve(ctx context.Context, c *noticeChannel) {
	sweep := time.NewTicker(noticeSweep)
	defer sweep.Stop()
	for {
		spaces, err := n.store.Spaces(ctx)
		n.complain(ctx, c, "", err)
		n.look(ctx, c, spaces)
	heard:
		for {
			select {
			case <-ctx.Done():
				return
			case <-sweep.C:
				break heard
			case <-c.wake:
				n.look(ctx, c, c.take())
			}
		}
	}
}

func (c *noticeChannel) take() []c3po.Space {
	c.mu.Lock()
	defer c.mu.Unlock()
	var spaces []c3po.Space
	for space := range c.spaces {
		spaces = append(spaces, space)
	}
	clear(c.spaces)
	return spaces
}

func (n *notices) look(ctx context.Context, c *noticeChannel, spaces []c3po.Space) {
	for _, space := range spaces {
		due, err := n.due(ctx, c.name, space)
		n.complain(ctx, c, space, err)
		inBatches(due, func(d dueNotice) { n.complain(ctx, c, space, n.tell(ctx, space, d)) })
	}
}

func (n *notices) complain(ctx context.Context, c *noticeChannel, space c3po.Space, err error) {
	if err != nil && ctx.Err() == nil {
		n.log.WarnContext(ctx, "the person was not told of a question; it is tried again", "channel", c.name, "space", space, "err", err)
	}
}

type dueNotice struct {
	Notice
	entry Entry
}

// due finds the open questions a channel has not told of yet.
func (n *notices) due(ctx context.Context, channel string, space c3po.Space) ([]dueNotice, error) {
	var due []dueNotice
	query := InboxQuery{Limit: noticePage, Bytes: 1 << 20}
	for {
		page, err := n.store.Inbox(ctx, space, c3po.Human, query)
		if err != nil {
			return due, err
		}
		for _, entry := range page.Entries {
			if entry.Message.Kind != c3po.KindEscalation || entry.Corrupt {
				continue
			}
			for _, late := range []bool{false, true} {
				notice := Notice{ID: entry.Message.ID, Channel: channel, Late: late}
				if late && (entry.Facts.Deadline.IsZero() || page.Now.Before(entry.Facts.Deadline)) || isTaken(entry.Facts.Notices, notice, page.Now) {
					continue
				}
				due = append(due, dueNotice{notice, entry})
			}
		}
		if page.Next == 0 {
			return due, nil
		}
		query.After = page.Next
	}
}

// isTaken spares the store a claim that it would refuse.
func isTaken(facts []NoticeFact, notice Notice, now time.Time) bool {
	return slices.ContainsFunc(facts, func(f NoticeFact) bool {
		return f.Notice == notice && (!f.Sent.IsZero() || f.Tries >= NoticeTries || f.Until.After(now))
	})
}

// tell takes a notice on and sends it, unless another coordinator does.
func (n *notices) tell(ctx context.Context, space c3po.Space, due dueNotice) error {
	claimed, err := n.store.ClaimNotice(ctx, space, due.Notice)
	if err != nil || !claimed {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, noticeMost)
	defer cancel()
	if err := n.notifier.Notify(limited, due.Channel, notification(space, due.entry, due.Late)); err != nil {
		return err
	}
	// It was sent: that is written down also when we are about to stop.
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbyeMost)
	defer cancel()
	n.log.InfoContext(ctx, "the person was told of a question", "channel", due.Channel, "space", space, "message_id", due.ID, "late", due.Late)
	return n.store.NoticeSent(done, space, due.Notice)
}
