package node

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// noticeTimeout is how long a channel may take for one notice. It is shorter than the
	// first pause, so that no other coordinator takes the notice over.
	noticeTimeout = 10 * time.Second
	// noticeSweep is how often all spaces are looked at for questions that other
	// coordinators accepted, and for notices that failed.
	noticeSweep = 10 * time.Second
	noticePage  = 100
	// noticeGather is how long a question waits for others to be told of with it.
	noticeGather = 2 * time.Second
	// hurriedGather is the same for a request for permission: an agent stands still for it.
	hurriedGather = 200 * time.Millisecond
	// noticeRest is how long a channel rests after a notice of several questions: a
	// flood rings twice a minute, whatever its size.
	noticeRest = 30 * time.Second
)

// A Notifier tells the person of questions, outside of c3po.
type Notifier interface {
	// Channels are the ways it has, by name.
	Channels() []string
	// Notify tells the person by one channel. An error means that it can be tried
	// again later.
	Notify(ctx context.Context, channel string, n c3po.Notification) error
}

// Notices tells the person of every question once on each channel, whichever coordinator
// received it. Questions that arrive together are sent together, by each coordinator that
// has the channel. What was sent is recorded with the question, so that nothing is
// forgotten when a coordinator dies. Each channel has its own goroutine, so a slow one
// does not delay the others.
type Notices struct {
	store    store.Store
	log      *slog.Logger
	notifier Notifier
	channels []*noticeChannel
}

type noticeChannel struct {
	name string
	wake chan struct{} // holds one signal: there are spaces to look at
	rest time.Time     // nothing is told before then

	mu     sync.Mutex
	spaces map[c3po.Space]bool
	hurry  bool // one of them asks for permission
	stalls []dueStall
}

// NewNotices sends nothing if there is no notifier.
func NewNotices(store store.Store, log *slog.Logger, notifier Notifier) *Notices {
	n := &Notices{store: store, log: log, notifier: notifier}
	if notifier == nil {
		return n
	}
	for _, name := range notifier.Channels() {
		n.channels = append(n.channels, &noticeChannel{name: name, wake: make(chan struct{}, 1), spaces: map[c3po.Space]bool{}})
	}
	return n
}

// Ask says that a question of the space may wait to be told of. It never blocks.
func (n *Notices) Ask(space c3po.Space) { n.ask(space, false) }

// AskSoon is Ask for a request for permission.
func (n *Notices) AskSoon(space c3po.Space) { n.ask(space, true) }

func (n *Notices) ask(space c3po.Space, hurry bool) {
	for _, c := range n.channels {
		c.mu.Lock()
		c.spaces[space], c.hurry = true, c.hurry || hurry
		c.mu.Unlock()
		c.signal()
	}
}

// signal has the channel look at what there is to tell.
func (c *noticeChannel) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Run tells the person of questions, by each channel, until ctx ends.
func (n *Notices) Run(ctx context.Context) {
	var work sync.WaitGroup
	for _, c := range n.channels {
		work.Go(func() { n.serve(ctx, c) })
	}
	work.Wait()
}

func (n *Notices) serve(ctx context.Context, c *noticeChannel) {
	sweep := time.NewTicker(noticeSweep)
	defer sweep.Stop()
	for {
		if !sleep(ctx, time.Until(c.rest)) {
			return
		}
		spaces, err := n.store.Spaces(ctx)
		n.complain(ctx, c, "", err)
		// A question that was just asked may be the first of many.
		n.look(ctx, c, spaces, noticeGather)
		n.tellStalls(ctx, c)
	gathering:
		for {
			select {
			case <-ctx.Done():
				return
			case <-sweep.C:
				break gathering
			case <-c.wake:
				if !sleep(ctx, max(c.gather(), time.Until(c.rest))) {
					return
				}
				n.look(ctx, c, c.take(), 0)
				n.tellStalls(ctx, c)
			}
		}
	}
}

// sleep lets time pass; false if ctx ended first.
func sleep(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// gather is how long what was just asked waits for more.
func (c *noticeChannel) gather() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hurry {
		return hurriedGather
	}
	return noticeGather
}

func (c *noticeChannel) take() []c3po.Space {
	c.mu.Lock()
	defer c.mu.Unlock()
	var spaces []c3po.Space
	for space := range c.spaces {
		spaces = append(spaces, space)
	}
	clear(c.spaces)
	c.hurry = false
	return spaces
}

// look tells the person, in one notice, of all that is due in these spaces and of
// that age, and in another one of what is late.
func (n *Notices) look(ctx context.Context, c *noticeChannel, spaces []c3po.Space, age time.Duration) {
	due := map[bool][]dueNotice{}
	for _, space := range spaces {
		found, err := n.findDue(ctx, c.name, space, age)
		n.complain(ctx, c, space, err)
		for _, d := range found {
			due[d.Late] = append(due[d.Late], d)
		}
	}
	for _, late := range []bool{false, true} {
		if len(due[late]) > 0 {
			n.complain(ctx, c, due[late][0].space, n.tell(ctx, c, due[late]))
		}
	}
}

func (n *Notices) complain(ctx context.Context, c *noticeChannel, space c3po.Space, err error) {
	if err != nil && ctx.Err() == nil {
		n.log.WarnContext(ctx, "the person was not told of a question; it is tried again", "channel", c.name, "space", space, "err", err)
	}
}

type dueNotice struct {
	store.Notice
	space c3po.Space
	entry store.Entry
}

// findDue finds the open questions a channel has not told of yet.
func (n *Notices) findDue(ctx context.Context, channel string, space c3po.Space, age time.Duration) ([]dueNotice, error) {
	var due []dueNotice
	query := store.InboxQuery{Limit: noticePage, Bytes: 1 << 20}
	for {
		page, err := n.store.Inbox(ctx, space, c3po.Human, query)
		if err != nil {
			return due, err
		}
		for _, entry := range page.Entries {
			if !entry.Message.AsksPerson() || entry.Corrupt || page.Now.Sub(entry.Message.Timestamp) < age {
				continue
			}
			for _, late := range []bool{false, true} {
				notice := store.Notice{ID: entry.Message.ID, Channel: channel, Late: late}
				if late && (entry.Facts.Deadline.IsZero() || page.Now.Before(entry.Facts.Deadline)) || isTaken(entry.Facts.Notices, notice, page.Now) {
					continue
				}
				if len(due) > 0 {
					// Of many only the first is shown.
					entry.Message.Message, entry.Message.Context, entry.Message.Choices = "", "", nil
				}
				due = append(due, dueNotice{notice, space, entry})
			}
		}
		if page.Next == 0 {
			return due, nil
		}
		query.After = page.Next
	}
}

// isTaken spares the store a claim that it would refuse.
func isTaken(facts []store.NoticeFact, notice store.Notice, now time.Time) bool {
	return slices.ContainsFunc(facts, func(f store.NoticeFact) bool {
		return f.Notice == notice && (!f.Sent.IsZero() || f.Tries >= store.NoticeTries || f.Until.After(now))
	})
}

// tell claims notices and sends them, leaving out those that another coordinator has
// claimed.
func (n *Notices) tell(ctx context.Context, c *noticeChannel, due []dueNotice) error {
	mine, err := n.claim(ctx, due)
	if len(mine) == 0 {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, noticeTimeout)
	defer cancel()
	word := notification(mine[0].space, mine[0].entry, mine[0].Late)
	if len(mine) > 1 {
		word.Count = len(mine)
		word.Question, word.Reason, word.Choices = "", "", nil
		c.rest = time.Now().Add(noticeRest)
	}
	if err := n.notifier.Notify(limited, c.name, word); err != nil {
		return err
	}
	// It was sent, so that is recorded even if this coordinator is about to stop.
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), GoodbyeTimeout)
	defer cancel()
	n.log.InfoContext(ctx, "the person was told of questions", "channel", c.name, "space", mine[0].space, "message_id", mine[0].ID,
		"late", mine[0].Late, "questions", len(mine))
	var failed errorBin
	InBatches(mine, func(d dueNotice) { failed.put(n.store.NoticeSent(done, d.space, d.Notice)) })
	return failed.first
}

// claim gives the notices that no other coordinator has claimed, in their order.
func (n *Notices) claim(ctx context.Context, due []dueNotice) ([]dueNotice, error) {
	claimed := make([]bool, len(due))
	places := make([]int, len(due))
	for i := range places {
		places[i] = i
	}
	var failed errorBin
	InBatches(places, func(i int) {
		ok, err := n.store.ClaimNotice(ctx, due[i].space, due[i].Notice)
		claimed[i] = ok
		failed.put(err)
	})
	var mine []dueNotice
	for i, d := range due {
		if claimed[i] {
			mine = append(mine, d)
		}
	}
	return mine, failed.first
}

// An errorBin keeps the first error of several goroutines.
type errorBin struct {
	mu    sync.Mutex
	first error
}

func (b *errorBin) put(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.first == nil {
		b.first = err
	}
}

// notification is what the person reads of a question.
func notification(space c3po.Space, entry store.Entry, late bool) c3po.Notification {
	m := entry.Message
	n := c3po.Notification{
		Kind: c3po.NotifyQuestion, Space: space, MessageID: m.ID, FromAgent: m.FromAgent, AskedAt: m.Timestamp,
		Deadline: entry.Facts.Deadline, Question: m.Message, Reason: m.Context, Choices: m.Choices,
		Permission: m.Kind == c3po.KindApproval,
	}
	if late {
		n.Kind = c3po.NotifyOverdue
	}
	return n
}
