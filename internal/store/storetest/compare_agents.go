package storetest

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func (d *comparison) register(a *comparedSpace) {
	in := store.RegisterStep{
		Want:     draw(d, "want", []c3po.AgentID{"a", "h/a"}),
		Run:      draw(d, "run", runs()),
		Session:  draw(d, "session", []string{"", "s1", "s2"}),
		Sighted:  draw(d, "sighted", []bool{false, true}),
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
	standIn := draw(d, "stand-in", []string{"", "n1"})
	_, _ = both(d, "unregister", func(s store.Store) (bool, error) { return s.Unregister(d.ctx, a.space, id, run, standIn) })
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
		state := draw(d, "state", []c3po.SessionState{c3po.SessionIdle, c3po.SessionWorking, c3po.SessionClosed, ""})
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
