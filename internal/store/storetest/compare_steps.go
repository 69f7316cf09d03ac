package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// A step is one thing that can happen.
type step struct {
	name  string
	often int
	take  func(d *comparison, a *comparedSpace)
}

// GoString keeps the log of a failing sequence readable.
func (s step) GoString() string { return s.name }

// allSteps lists each step as often as it shall happen. It begins with nothing
// at all, which a failing sequence shrinks to.
func allSteps() []step {
	var all []step
	for _, s := range []step{
		{"nothing", 1, func(*comparison, *comparedSpace) {}},
		{"register", 3, (*comparison).register},
		{"unregister", 1, (*comparison).unregister},
		{"die", 1, (*comparison).die},
		{"status", 1, (*comparison).status},
		{"pause", 1, (*comparison).pause},
		{"presence", 2, (*comparison).presence},
		{"notes", 4, (*comparison).notes},
		{"send", 12, (*comparison).send},
		{"send again", 4, (*comparison).sendAgain},
		{"reply", 6, (*comparison).reply},
		{"ack", 4, (*comparison).ack},
		{"received", 3, (*comparison).received},
		{"cancel", 4, (*comparison).cancel},
		{"leave unanswered", 3, (*comparison).leaveUnanswered},
		{"hold up", 4, (*comparison).holdUp},
		{"quota", 2, (*comparison).quota},
		{"use", 4, (*comparison).use},
		{"lease files", 5, (*comparison).leaseFiles},
		{"release files", 2, (*comparison).releaseFiles},
		{"lapse", 2, (*comparison).lapse},
		{"upload", 4, (*comparison).upload},
		{"notice", 2, (*comparison).notice},
		{"tickets", 2, (*comparison).tickets},
		{"claim", 5, (*comparison).claim},
		{"go on", 2, (*comparison).goOn},
		{"ack claimed", 3, (*comparison).ackClaimed},
		{"inbox", 2, (*comparison).inbox},
		{"next", 3, (*comparison).next},
		{"message", 1, (*comparison).message},
		{"thread", 1, (*comparison).thread},
		{"names", 1, (*comparison).names},
		{"clock", 2, (*comparison).clock},
		{"live", 4, (*comparison).live},
		{"reap", 2, (*comparison).reap},
		{"bury", 2, (*comparison).bury},
		{"retire", 3, (*comparison).retire},
		{"rename", 4, (*comparison).rename},
		{"sweep", 2, (*comparison).sweep},
		{"revive", 3, (*comparison).revive},
		{"purge", 1, (*comparison).purge},
		{"trim", 3, (*comparison).trim},
		{"raise", 1, (*comparison).raise},
		{"join", 5, (*comparison).join},
		{"leave", 1, (*comparison).leave},
		{"manage a room", 2, (*comparison).manageRoom},
		{"post", 10, (*comparison).post},
		{"post again", 2, (*comparison).postAgain},
		{"ack posts", 3, (*comparison).ackPosts},
		{"hear", 3, (*comparison).hear},
		{"room mail", 4, (*comparison).roomMail},
		{"look at rooms", 2, (*comparison).lookAtRooms},
	} {
		all = append(all, slices.Repeat([]step{s}, s.often)...)
	}
	return all
}

func runs() []string { return []string{"", "r1", "r2", "r3"} }

// latest is the end of a list, the last first.
func latest[T any](all []T) []T {
	end := slices.Clone(all[max(0, len(all)-4):])
	slices.Reverse(end)
	return end
}

// agent is somebody who registered.
func (d *comparison) agent(a *comparedSpace, what string) c3po.AgentID {
	return draw(d, what, a.agents)
}

// owner is mostly somebody who got mail lately.
func (d *comparison) owner(a *comparedSpace) c3po.AgentID {
	if len(a.mail) == 0 || d.oneIn(4, "any owner") {
		return draw(d, "owner", append(slices.Clone(a.agents), c3po.Human))
	}
	_, to, _ := draw(d, "owner of", latest(a.mail)).Split()
	return to
}

// run is mostly the run that holds the id.
func (d *comparison) run(a *comparedSpace, id c3po.AgentID) string {
	if d.oneIn(8, "another run") {
		return draw(d, "run", runs())
	}
	if records, _ := d.model.Agents(d.ctx, a.space, []c3po.AgentID{id}); len(records) == 1 {
		return records[0].Run
	}
	return ""
}

// mailOf is a message, mostly the owner's. Now and then its id names another sender.
func (d *comparison) mailOf(a *comparedSpace, owner c3po.AgentID) c3po.MessageID {
	id := d.sentTo(a, owner)
	if d.oneIn(16, "a forged sender") {
		_, to, hex := id.Split()
		return c3po.NewMessageID(d.agent(a, "forged sender"), to, hex)
	}
	return id
}

// sentTo is a message as it was sent, mostly to the owner.
func (d *comparison) sentTo(a *comparedSpace, owner c3po.AgentID) c3po.MessageID {
	if len(a.mail) > 0 && d.oneIn(8, "mail of anybody") {
		return draw(d, "message", a.mail)
	}
	var own []c3po.MessageID
	for _, id := range a.mail {
		if _, to, _ := id.Split(); to == owner {
			own = append(own, id)
		}
	}
	// More happens to the latest mail; now and then it is one that never was.
	return draw(d, "own message", append(latest(own), c3po.NewMessageID("a", owner, "00000000")))
}

func (d *comparison) names(a *comparedSpace) {
	_, _ = both(d, "named", func(s store.Store) ([]c3po.AgentID, error) {
		ids, err := s.Named(d.ctx, a.space, "a", 10)
		slices.Sort(ids)
		return ids, err
	})
	_, _ = both(d, "some agents", func(s store.Store) ([]store.Record, error) {
		return s.Agents(d.ctx, a.space, []c3po.AgentID{"h/a", "nobody", "a", "a-2"})
	})
}

func (d *comparison) clock(*comparedSpace) {
	d.advance(draw(d, "advance", []time.Duration{
		time.Millisecond, time.Second, 29 * time.Second, 30 * time.Second, 60 * time.Second, 90 * time.Second, -time.Hour,
	}))
}

// live lets lived time pass, in an interval that is now and then too short.
func (d *comparison) live(a *comparedSpace) {
	interval := draw(d, "interval", []time.Duration{time.Minute, 5 * time.Minute, 12 * time.Minute})
	d.advance(draw(d, "passes", []time.Duration{interval, interval, interval / 3, 5 * interval, interval + 300*time.Millisecond}))
	node := draw(d, "node", []string{"n1", "n2"})
	_, _ = both(d, "tick", func(s store.Store) (store.Pulse, error) { return s.Tick(d.ctx, a.space, node, interval) })
}

func (d *comparison) reap(a *comparedSpace) {
	due, _ := both(d, "due mail", func(s store.Store) ([]store.Due, error) {
		due, err := s.DueMail(d.ctx, a.space, 100)
		slices.SortFunc(due, func(x, y store.Due) int { return strings.Compare(string(x.ID), string(y.ID)) })
		return due, err
	})
	for _, mail := range due {
		d.buryOne(a, mail.ID, c3po.ReasonExpired)
	}
}

func (d *comparison) bury(a *comparedSpace) {
	d.buryOne(a, d.sentTo(a, d.owner(a)), c3po.ReasonCorrupt)
}

func (d *comparison) buryOne(a *comparedSpace, id c3po.MessageID, reason string) {
	bounce := draw(d, "bounce", []string{fmt.Sprintf("%s was not read", id), fmt.Sprintf("%s was not read", id), ""})
	_, _ = both(d, "bury", func(s store.Store) (bool, error) {
		return s.Bury(d.ctx, a.space, id, reason, bounce)
	})
}

func (d *comparison) trim(a *comparedSpace) {
	limit := draw(d, "limit", []int{1, 100})
	_, _ = both(d, "trim", func(s store.Store) (int, error) { return s.Trim(d.ctx, a.space, limit) })
	_, _ = both(d, "dead letters", func(s store.Store) ([]store.DeadLetter, error) { return s.DeadLetters(d.ctx, a.space, 0, 100) })
}

// raise is a node that remembers more, as much, or less than there is.
func (d *comparison) raise(a *comparedSpace) {
	at, err := d.model.Sequence(d.ctx, a.space)
	if err != nil {
		d.Fatal(err)
	}
	known := store.Sequence{
		Epoch: at.Epoch + rapid.Int64Range(-1, 1).Draw(d.T, "epoch"),
		Last:  max(0, at.Last+rapid.Int64Range(-2, 2).Draw(d.T, "last")),
	}
	type answer struct {
		Now    store.Sequence
		Raised bool
	}
	_, _ = both(d, "raise", func(s store.Store) (answer, error) {
		now, raised, err := s.RaiseEpoch(d.ctx, a.space, known)
		return answer{now, raised}, err
	})
}

func (d *comparison) cancel(a *comparedSpace) {
	id := d.mailOf(a, d.owner(a))
	from, _, _ := id.Split()
	if d.oneIn(8, "by another") {
		from = d.agent(a, "from")
	}
	today, run := d.sender(a, from, d.run(a, from))
	in := store.CancelStep{From: today, Former: from, Run: run, ID: id, Notice: fmt.Sprintf("%s is not needed", id), Durability: c3po.OnDisk}
	if _, to, _ := id.Split(); to.Queue() != "" {
		in.Holder = draw(d, "holder", append([]c3po.AgentID{""}, a.agents...))
	}
	_, _ = both(d, "cancel", func(s store.Store) (store.Cancelled, error) { return s.Cancel(d.ctx, a.space, in) })
}

func (d *comparison) leaveUnanswered(a *comparedSpace) {
	id := d.mailOf(a, d.owner(a))
	from, owner, _ := id.Split()
	if owner.Queue() != "" || d.oneIn(8, "another says so") {
		owner = d.agent(a, "who says so")
	}
	in := store.SilenceStep{Agent: owner, Run: d.run(a, owner), ID: id, To: from, Notice: fmt.Sprintf("no answer to %s", id), Durability: c3po.OnDisk}
	if d.oneIn(4, "nobody is told") {
		in.To = ""
	}
	_, _ = both(d, "silence", func(s store.Store) (bool, error) { return s.Silence(d.ctx, a.space, in) })
}

func (d *comparison) lapse(a *comparedSpace) {
	due, _ := both(d, "overdue", func(s store.Store) ([]c3po.MessageID, error) { return s.Overdue(d.ctx, a.space, 100) })
	for _, id := range append(due, d.mailOf(a, d.owner(a))) {
		_, _ = both(d, "lapse", func(s store.Store) (bool, error) { return s.Lapse(d.ctx, a.space, id) })
	}
}

func (d *comparison) tickets(a *comparedSpace) {
	before, limit := draw(d, "before", []int64{0, 0, a.seq / 2}), draw(d, "limit", []int{1, 100})
	_, _ = both(d, "tickets", func(s store.Store) ([]store.TicketMark, error) { return s.Tickets(d.ctx, a.space, before, limit) })
	_, _ = both(d, "open tickets", func(s store.Store) ([]store.TicketMark, error) { return s.OpenTickets(d.ctx, a.space, before, limit) })
	from, key := d.agent(a, "from"), draw(d, "key", []string{"k1", "k2", "k3", "k4", "none"})
	_, _ = both(d, "keyed", func(s store.Store) (c3po.MessageID, error) { return s.Keyed(d.ctx, a.space, from, key) })
}

// sharedPayer is whose sends are counted of callers that share an id.
const sharedPayer = "bridge#one"
