package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/c3po-dev/c3po"
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
		{"lapse", 2, (*comparison).lapse},
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

// mailOf is a message, mostly of the owner's.
func (d *comparison) mailOf(a *comparedSpace, owner c3po.AgentID) c3po.MessageID {
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

func (d *comparison) register(a *comparedSpace) {
	in := store.RegisterStep{
		Want:     draw(d, "want", []c3po.AgentID{"a", "h/a"}),
		Run:      draw(d, "run", runs()),
		Session:  draw(d, "session", []string{"", "s1", "s2"}),
		Epoch:    draw(d, "epoch", []int64{0, 0, 0, 1, 2}),
		Explicit: d.oneIn(3, "explicit"),
		Profile: store.Profile{
			Name: draw(d, "name", []string{"", "n1"}), Capabilities: draw(d, "capabilities", [][]string{nil, {}, {"x", "y"}}),
			Metadata: draw(d, "metadata", [][]byte{nil, []byte(`{"m":[]}`)}), PID: draw(d, "pid", []int{0, 7}), Heartbeat: draw(d, "heartbeat", []int{0, 0, -1, 5, 300}), Client: draw(d, "client", []string{"c1", "c2"}),
		},
	}
	// The wanted id is always covered: the door sees to that.
	in.Agents = draw(d, "agents", []c3po.Pattern{"", "", c3po.Pattern(in.Want), c3po.Pattern(in.Want) + "*"})
	reg, err := both(d, "register", func(s store.Store) (store.Registration, error) { return s.Register(d.ctx, a.space, in) })
	if err == nil && !slices.Contains(a.agents, reg.Record.ID) {
		a.agents = append(a.agents, reg.Record.ID)
	}
}

func (d *comparison) unregister(a *comparedSpace) {
	id := d.agent(a, "agent")
	run := d.run(a, id)
	_, _ = both(d, "unregister", func(s store.Store) (bool, error) { return s.Unregister(d.ctx, a.space, id, run) })
}

func (d *comparison) die(a *comparedSpace) {
	id := d.agent(a, "agent")
	run := d.run(a, id)
	if d.oneIn(3, "declared") {
		process := store.Declared{PID: draw(d, "pid", []int{0, 7, 7}), Seen: d.oneIn(2, "seen")}
		_, _ = both(d, "die declared", func(s store.Store) (bool, error) { return s.DieDeclared(d.ctx, a.space, id, process) })
		return
	}
	_, _ = both(d, "die", func(s store.Store) (bool, error) { return s.Die(d.ctx, a.space, id, run) })
}

func (d *comparison) status(a *comparedSpace) {
	id := draw(d, "agent", append(slices.Clone(a.agents), "nobody"))
	run := d.run(a, id)
	says := draw(d, "availability", []c3po.Availability{c3po.Available, c3po.Busy, c3po.Away})
	d.done("status", func(s store.Store) error { return s.SetStatus(d.ctx, a.space, id, run, says, "task") })
}

func (d *comparison) pause(a *comparedSpace) {
	id := draw(d, "agent", append(slices.Clone(a.agents), "", "nobody"))
	why := draw(d, "why", []string{"lunch", "", c3po.PausedForHuman})
	d.done("pause", func(s store.Store) error { return s.SetPaused(d.ctx, a.space, id, why) })
}

func (d *comparison) presence(a *comparedSpace) {
	id, node := d.agent(a, "agent"), draw(d, "node", []string{"n1", "n2"})
	switch draw(d, "presence", []string{"attach", "attach", "detach", "hang up", "renew", "end"}) {
	case "attach":
		state := draw(d, "state", []c3po.SessionState{c3po.SessionIdle, c3po.SessionWorking, ""})
		d.done("attach", func(s store.Store) error { return s.Attach(d.ctx, a.space, id, node, state) })
	case "detach":
		ago := draw(d, "ago", []time.Duration{0, 0, time.Second})
		d.done("detach", func(s store.Store) error { return s.Detach(d.ctx, a.space, id, node, false, ago) })
	case "hang up":
		d.done("hang up", func(s store.Store) error { return s.Detach(d.ctx, a.space, id, node, true, time.Second) })
	case "renew":
		d.done("renew", func(s store.Store) error { return s.RenewLease(d.ctx, a.space, node) })
	case "end":
		d.done("end lease", func(s store.Store) error { return s.EndLease(d.ctx, a.space, node) })
	}
	_, _ = both(d, "online count", func(s store.Store) (int, error) { return s.OnlineCount(d.ctx, a.space) })
}

func (d *comparison) reader() string { return draw(d, "reader", []string{"s1", "s2"}) }

func (d *comparison) notes(a *comparedSpace) {
	owner, now := d.owner(a), d.model.now()
	var notes store.Notes
	switch draw(d, "note", []string{"seen", "late", "served", "served again", "notified", "given"}) {
	case "seen":
		notes.Seen = []c3po.AgentID{owner, "nobody"}
	case "late":
		notes.Late = []store.LateNote{{Agent: owner, Ago: draw(d, "ago", []time.Duration{time.Millisecond, 3 * time.Second, 80 * time.Second})}, {Agent: "nobody", Ago: 1}}
	case "served", "served again":
		notes.Served = []store.ServedNote{{ID: d.mailOf(a, owner), Reader: d.reader(), Route: "mcp", Cursor: draw(d, "cursor", []int64{0, a.seq}), At: now, Times: draw(d, "times", []int{0, 1, 3})}}
	case "notified":
		seq := rapid.Int64Range(1, a.seq+1).Draw(d.T, "seq")
		notes.Notified = []store.NotifiedNote{{Agent: owner, Reader: d.reader(), Route: "hook", Seq: seq, At: now}}
	case "given":
		seq := rapid.Int64Range(1, a.seq+1).Draw(d.T, "seq")
		notes.Given = []store.GivenNote{{Agent: owner, Reader: d.reader(), Seq: seq}}
	}
	d.done("notes", func(s store.Store) error { return s.WriteNotes(d.ctx, a.space, notes) })
}

func (d *comparison) send(a *comparedSpace) {
	to := draw(d, "to", slices.Concat(a.agents, a.agents, []c3po.AgentID{c3po.Human, "nobody", queueX, queueX}))
	from := d.agent(a, "from")
	run := d.run(a, from)
	if to != c3po.Human && d.oneIn(10, "a person writes") {
		from, run = c3po.Human, ""
	}
	in := store.SendStep{
		Draft: store.Draft{
			From: from, To: to, Kind: c3po.KindMessage, Thread: d.threadName(a),
			Priority: draw(d, "priority", []c3po.Priority{c3po.Normal, c3po.Normal, c3po.Urgent}), ExpectsReply: d.oneIn(2, "expects reply"),
			Text: draw(d, "text", []string{"x", "y", "z", strings.Repeat("w", 600), strings.Repeat("v", 600)}), Context: draw(d, "context", []string{"", "c"}),
			Metadata: draw(d, "metadata", [][]byte{nil, []byte(`{"m":[1]}`)}),
			Key:      draw(d, "key", []string{"", "", "k1", "k2", "k3", "k4"}),
			Within:   draw(d, "within", []time.Duration{0, 0, time.Millisecond, 30 * time.Second}),
			Distinct: d.oneIn(4, "distinct"), Unpaid: d.oneIn(12, "unpaid"),
		},
		Run: run, Durability: c3po.OnDisk, RateLimit: draw(d, "rate limit", []int{0, 2}), Payer: draw(d, "payer", []string{"", "", sharedPayer}), FailIfAway: d.oneIn(8, "fail if away"),
	}
	if to.Name() == "a" && d.oneIn(2, "by name") {
		in.Alias = "|a"
	}
	if to == c3po.Human {
		in.Mailbox, in.FailIfAway, in.Kind = true, false, c3po.KindEscalation
		in.PauseFrom = draw(d, "pauses", []string{"", c3po.PausedForHuman})
	}
	if d.oneIn(4, "follows from") {
		in.Chain = d.threadName(a)
	}
	if to == queueX {
		in.Queue, in.FailIfAway = true, false
	}
	a.sends = append(a.sends, in)
	d.sendStep(a, in)
}

func (d *comparison) sendAgain(a *comparedSpace) {
	if len(a.sends) > 0 {
		in := d.today(a, draw(d, "earlier send", latest(a.sends)))
		in.From, in.Run = d.sender(a, in.From, in.Run)
		d.sendStep(a, in)
	}
}

func (d *comparison) sendStep(a *comparedSpace, in store.SendStep) {
	stored, err := both(d, "send", func(s store.Store) (store.Stored, error) { return s.Send(d.ctx, a.space, in) })
	d.keep(a, stored, err)
}

func (d *comparison) keep(a *comparedSpace, stored store.Stored, err error) {
	if err == nil && !slices.Contains(a.mail, stored.Message.ID) {
		a.mail = append(a.mail, stored.Message.ID)
	}
}

// threadName is none, a name, or an earlier message's.
func (d *comparison) threadName(a *comparedSpace) string {
	if len(a.mail) > 0 && d.oneIn(4, "thread of a message") {
		return string(draw(d, "thread", a.mail))
	}
	return draw(d, "thread", []string{"", "", "t"})
}

func (d *comparison) reply(a *comparedSpace) {
	from := d.owner(a)
	answers := d.mailOf(a, from)
	if from == queueX {
		from = d.agent(a, "member")
	}
	in := store.ReplyStep{
		Draft: store.Draft{
			From: from, Priority: draw(d, "priority", []c3po.Priority{c3po.Normal, c3po.Urgent}),
			Text: draw(d, "text", []string{"yes", "no", strings.Repeat("n", 400)}), Status: c3po.ReplySuccess,
			Key: draw(d, "key", []string{"", "", "k1", "k5"}),
		},
		Run: d.run(a, from), Durability: c3po.OnDisk, Answers: answers, ResumeTo: from == c3po.Human,
	}
	if d.oneIn(3, "hands over") {
		in.Status, in.HandedTo = c3po.ReplyHandedOver, draw(d, "handed to", append(slices.Clone(a.agents), "nobody"))
	}
	stored, err := both(d, "reply", func(s store.Store) (store.Stored, error) { return s.Reply(d.ctx, a.space, in) })
	d.keep(a, stored, err)
}

func (d *comparison) some(a *comparedSpace, owner c3po.AgentID) []c3po.MessageID {
	ids := []c3po.MessageID{d.mailOf(a, owner)}
	for d.oneIn(2, "more") && len(ids) < 4 {
		ids = append(ids, d.mailOf(a, owner))
	}
	return ids
}

func (d *comparison) ack(a *comparedSpace) {
	owner := d.owner(a)
	run, ids := d.run(a, owner), d.some(a, owner)
	_, _ = both(d, "ack", func(s store.Store) ([]store.AckOutcome, error) { return s.Ack(d.ctx, a.space, owner, run, ids) })
}

func (d *comparison) received(a *comparedSpace) {
	owner := d.owner(a)
	reader, ids := d.reader(), d.some(a, owner)
	_, _ = both(d, "received", func(s store.Store) ([]store.AckOutcome, error) {
		return s.Received(d.ctx, a.space, owner, reader, "hook", ids)
	})
}

func (d *comparison) inbox(a *comparedSpace) {
	owner := d.owner(a)
	q := store.InboxQuery{
		Run: d.run(a, owner), Limit: draw(d, "limit", []int{1, 2, 10}), Bytes: draw(d, "bytes", []int{300, 1000, 1 << 20}),
		MinSeq: draw(d, "min seq", []int64{0, 0, a.seq / 2}),
	}
	for {
		page, err := both(d, "inbox", func(s store.Store) (store.InboxPage, error) { return s.Inbox(d.ctx, a.space, owner, q) }, listed())
		if err != nil || page.Next == 0 {
			return
		}
		q.After = page.Next
	}
}

func (d *comparison) next(a *comparedSpace) {
	owner := d.owner(a)
	q := store.NextQuery{
		Run: d.run(a, owner), Reader: d.reader(), MinSeq: draw(d, "min seq", []int64{0, 0, a.seq / 2}),
		Given: d.some(a, owner), Incoming: d.oneIn(3, "incoming"), Positioned: d.oneIn(2, "positioned"),
	}
	_, _ = both(d, "next", func(s store.Store) (store.NextMessage, error) { return s.Next(d.ctx, a.space, owner, q) }, listed())
}

func (d *comparison) message(a *comparedSpace) {
	id := d.mailOf(a, d.owner(a))
	_, _ = both(d, "message", func(s store.Store) (*store.Entry, error) { return s.Message(d.ctx, a.space, id) })
	_, _ = both(d, "answers", func(s store.Store) ([]store.Entry, error) { return s.Answers(d.ctx, a.space, id) })
}

func (d *comparison) thread(a *comparedSpace) {
	thread, after := d.threadName(a), draw(d, "after", []int64{0, 0, a.seq / 2})
	limit := draw(d, "limit", []int{1, 2, 10})
	_, _ = both(d, "thread", func(s store.Store) ([]store.Entry, error) { return s.Thread(d.ctx, a.space, thread, after, limit) })
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
	d.buryOne(a, d.mailOf(a, d.owner(a)), c3po.ReasonCorrupt)
}

func (d *comparison) buryOne(a *comparedSpace, id c3po.MessageID, reason string) {
	_, _ = both(d, "bury", func(s store.Store) (bool, error) {
		return s.Bury(d.ctx, a.space, id, reason, fmt.Sprintf("%s was not read", id))
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
	from, key := d.agent(a, "from"), draw(d, "key", []string{"k1", "k2", "k3", "k4", "none"})
	_, _ = both(d, "keyed", func(s store.Store) (c3po.MessageID, error) { return s.Keyed(d.ctx, a.space, from, key) })
}

// sharedPayer is whose sends are counted of callers that share an id.
const sharedPayer = "bridge#one"
