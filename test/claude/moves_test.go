package claude_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// A move is one step of a walk: when it can be made, and what it does.
type move struct {
	name string
	can  bool
	make func()
}

// moves are all steps, in an order that is always the same.
func (w *walk) moves() []move {
	sits := !w.dead && !w.stopped
	free := sits && w.at == ""
	return []move{
		{"prompt", free, func() { w.ask(func() step { return say("It is done") }); w.asked(); w.sees(trulyIdle); w.talked = true }},
		{"long turn", free, func() { w.holds(true); w.ask(w.hold); w.asked(); w.at = "turn" }},
		{"tool", free && !w.plan, w.useTool},
		{"permission dialog", free, func() { w.ask(bash("touch x")); w.asked(); w.sees(trulyDialog); w.at = "dialog" }},
		{"menu", free, func() { w.command("/config"); w.sees(trulyDialog); w.at = "menu" }},
		{"plan mode", free, w.planMode},
		{"clear", free, func() { w.command("/clear"); w.sees(trulyIdle); w.talked = false }},
		{"compact", free && w.talked, func() { w.command("/compact"); w.term.see("ompact"); w.sees(trulyIdle) }},
		{"529", free && !w.off && !w.down && !w.frozen, w.overload},
		{"the turn ends", sits && w.at == "turn", func() { w.letGo(); w.sees(trulyIdle) }},
		{"the tool ends", sits && w.at == "tool", w.toolEnds},
		{"the person allows it", sits && w.at == "dialog", func() { w.leave("Enter"); w.letGo() }},
		{"Esc", sits && w.at != "", func() {
			w.leave("Escape")
			w.letGo()
			w.ask(func() step { return say("It is done") })
			w.asked()
			w.sees(trulyIdle)
		}}, // after Esc mail waits for a prompt
		{"off", !w.off && !w.dead, func() { w.switchOff(true) }},
		{"on", w.off, func() { w.switchOff(false) }},
		{"the coordinator is killed", !w.down && !w.frozen, func() { w.outage(true); w.coordinator.Kill(); w.down = true }},
		{"the coordinator is back", w.down, func() { w.coordinator.Restart(); w.down = false; w.outage(false) }},
		{"Redis is frozen", !w.down && !w.frozen, func() { w.outage(true); w.redis.Freeze(); w.frozen = true }},
		{"Redis goes on", w.frozen, func() { w.redis.Thaw(); w.frozen = false; w.outage(false) }},
		{"SIGSTOP", sits, func() { w.goOn, w.stopped = faultrig.Freeze(w.t, w.term.pid), true }},
		{"SIGCONT", w.stopped, func() { w.goOn(); w.stopped = false }},
		{"SIGKILL", !w.dead, w.killed},
		{"resume", w.dead, w.start},
		{"mail", !w.down && !w.frozen, func() { w.post() }},
		{"urgent mail", !w.down && !w.frozen, func() { w.post(urgent) }},
	}
}

// weight makes mail as frequent as a third of all else, so that there is always some under way.
func (m move) weight() int {
	switch m.name {
	case "mail", "urgent mail":
		return 2
	default:
		return 1
	}
}

// hold is a model that thinks until the walk lets it go on.
func (w *walk) hold() step {
	w.mu.Lock()
	release := w.release
	w.mu.Unlock()
	select {
	case <-release:
	case <-w.t.Context().Done():
	}
	return say("I have thought")
}

func bash(command string) func() step {
	return func() step { return call("Bash", map[string]any{"command": command, "description": "a step"}) }
}

// command types a command of Claude Code's own.
func (w *walk) command(text string) {
	w.term.press("C-u")
	w.term.enter(text)
}

// holds says whether the walk holds the turn, so that mail has to wait.
func (w *walk) holds(held bool) { w.change(func() { w.held = held }) }

// outage begins or ends a time in which nobody can be told anything.
func (w *walk) outage(away bool) {
	w.change(func() { w.away, w.settled, w.grace = away, time.Now(), maxLagAfterOutage })
}

// leave presses a key until a dialog, a menu or a turn is over. A dialog that has
// just opened takes none, and one key too many would do something else.
func (w *walk) leave(key string) {
	w.t.Helper()
	was := w.term.shows()
	over := func() bool { return w.term.shows() != was }
	if w.at == "menu" {
		// It is gone for a moment whenever it is drawn. Its title is no sign: Claude Code
		// may draw it over other text.
		shown := func() bool { return w.term.shows() == trulyDialog }
		over = func() bool { return !shown() && !faultrig.Within(time.Second, shown) }
	}
	w.until("it is left by "+key, func() bool {
		w.term.press(key)
		// What was typed during a turn, a menu for example, opens when that is over.
		return faultrig.Within(3*time.Second, over) && faultrig.Within(3*time.Second, func() bool { return w.term.shows() == trulyIdle })
	})
}

func (w *walk) useTool() {
	w.holds(true)
	w.tools++
	w.ask(bash(fmt.Sprintf("./work %d", w.tools)))
	w.asked()
	w.at, w.talked = "tool", true
}

func (w *walk) toolEnds() {
	if err := os.WriteFile(filepath.Join(w.a.folder, fmt.Sprintf("release-%d", w.tools)), nil, 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.letGo()
	w.sees(trulyIdle)
}

// letGo is the end of what the walk has begun in the session.
func (w *walk) letGo() {
	if w.at == "turn" {
		close(w.release)
	}
	w.holds(false)
	w.at = ""
}

// planMode goes into it, or out of it.
func (w *walk) planMode() {
	words := map[bool]string{false: "plan mode on", true: "manual mode on"}[w.plan]
	w.until(words, func() bool {
		if strings.Contains(w.term.tmux("capture-pane", "-p"), words) {
			return true
		}
		w.term.press("BTab")
		return faultrig.Within(3*time.Second, func() bool { return strings.Contains(w.term.tmux("capture-pane", "-p"), words) })
	})
	w.plan = !w.plan
}

// overload lets a turn fail, one of the person's or one for mail.
func (w *walk) overload() {
	w.holds(true)
	w.refusing.Store(true)
	before := w.refused.Load()
	if w.rand.IntN(2) == 0 {
		w.post()
	} else {
		w.ask(nil)
	}
	w.until("the model has refused twice", func() bool { return w.refused.Load() >= before+2 })
	w.sees(trulyIdle)
	w.refusing.Store(false)
	w.until("its mail is told again", func() bool { // after two failures that takes 15 s
		agent, err := w.as("").GetAgentStatus(w.t.Context(), c3po.AgentInput{AgentID: "api"})
		return err == nil && agent.State != c3po.SessionFailed
	})
	w.holds(false)
}

func (w *walk) switchOff(off bool) {
	var err error
	if off {
		err = os.WriteFile(w.a.offSwitch(), nil, 0o600)
	} else {
		err = os.Remove(w.a.offSwitch())
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.off = off
}

func (w *walk) killed() {
	kill(w.t, w.term.pid)
	away := w.down || w.frozen
	w.change(func() { w.unseen = w.unseen || away })
	w.letGo()
	w.dead, w.stopped = true, false
}

// post sends a question, and compares what its receipt says.
func (w *walk) post(change ...func(*c3po.SendInput)) {
	w.t.Helper()
	w.n++
	p := &probe{text: fmt.Sprintf("probe-%d here", w.n), sent: time.Now()}
	w.change(func() { w.mail = append(w.mail, p) })
	receipt := w.send("web", "api", p.text, change...)
	w.change(func() {
		p.id = receipt.ID
		stood := time.Since(w.since) > maxLag && time.Since(w.settled) > w.grace && !w.unseen && !w.quiet
		if is := w.term.does(); stood && is == w.is && receipt.Reachability != is.shown() {
			w.fault("the receipt says %q of a session that is %s", receipt.Reachability, is)
		}
	})
}
