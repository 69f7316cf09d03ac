package claude_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// A face is what people are shown of a session in a place: its state and when mail
// is read, in the words of that place.
type face struct{ state, mail string }

// faces is what each place must show of a session that does that.
func (is truth) faces() map[string]face {
	return map[truth]map[string]face{
		trulyIdle:    {"agents": {"idle", "wakes now"}, "top": {"idle", "now"}, "dashboard": {"idle", "now"}},
		trulyWorking: {"agents": {"working", "reads it at its next step"}, "top": {"working", "at next step"}, "dashboard": {"working", "next_step"}},
		trulyDialog:  {"agents": {"waiting at its terminal", "when its user answers a dialog"}, "top": {"waiting at its terminal", "dialog open"}, "dashboard": {"dialog", "when_dialog_closes"}},
		trulyOff:     {"agents": {"switched off", "once switched on"}, "top": {"switched off", "once switched on"}, "dashboard": {"off", "when_switched_on"}},
		trulyStopped: {"agents": {"no reaction", "does not react"}, "top": {"no reaction", "unknown"}, "dashboard": {"unknown", "unknown"}},
		trulyGone:    {"agents": {"offline, seen", "when it starts again"}, "top": {"offline, seen", "when started"}, "dashboard": {"offline", "offline"}},
	}[is]
}

// topLooks is how often `c3po top` reads what no event tells.
const topLooks = 3 * time.Second

// A topView is `c3po top` in a terminal of its own, open for the whole walk.
type topView struct{ socket string }

func (w *walk) openTop() topView {
	w.t.Helper()
	view := topView{"c3po-top-" + rand.Text()[:8]}
	argv := append([]string{"-L", view.socket, "-f", "/dev/null", "new-session", "-d", "-x", "130", "-y", "30", "-c", w.a.folder, "env", "-i"}, w.a.env()...)
	argv = append(argv, w.a.onHost(faultrig.Binary(w.t), "top")...)
	if out, err := exec.Command("tmux", argv...).CombinedOutput(); err != nil {
		w.t.Fatalf("tmux: %v\n%s", err, out)
	}
	w.t.Cleanup(func() { _ = exec.Command("tmux", "-L", view.socket, "kill-server").Run() })
	w.until("top shows the session", func() bool { return rowOf(view.screen()) != view.screen() })
	return view
}

func (view topView) screen() string {
	out, _ := exec.Command("tmux", "-L", view.socket, "capture-pane", "-p").Output()
	return string(out)
}

// rowOf is the line of a table that is about api, without its name.
func rowOf(table string) string {
	for line := range strings.Lines(table) {
		if rest, found := strings.CutPrefix(strings.TrimLeft(line, " ▸"), "api "); found {
			return strings.TrimSpace(rest)
		}
	}
	return table
}

// read is what a place shows of the session now, as one line.
func (w *walk) read(place string) string {
	switch place {
	case "agents":
		out, err := w.a.command(faultrig.Binary(w.t), "agents")
		if err != nil {
			return err.Error()
		}
		return rowOf(out)
	default:
		return w.dashboard()
	}
}

// dashboard is the call that the dashboard makes, and the two fields that it shows.
func (w *walk) dashboard() string {
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.coordinator.URL()+"/api/op/list_agents", bytes.NewReader([]byte(`{"limit":200}`)))
	if err != nil {
		return err.Error()
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	var all []c3po.Agent
	if err := json.NewDecoder(answer.Body).Decode(&all); err != nil {
		return err.Error()
	}
	for _, a := range all {
		if a.ID != "api" {
			continue
		}
		if a.State == "" {
			return fmt.Sprintf("%s %s", a.Status, a.Reachability)
		}
		return fmt.Sprintf("%s %s", a.State, a.Reachability)
	}
	return "nobody"
}

// is says that a line shows that and nothing older.
func (f face) is(line string) bool {
	rest, found := strings.CutPrefix(line, f.state)
	return found && strings.Contains(rest, " "+f.mail)
}

// areTrue wants the places that are asked to show what the session does. What is on
// the open view the witness compares all the time.
func (w *walk) areTrue() {
	w.t.Helper()
	for _, place := range []string{"agents", "dashboard"} {
		var want truth
		var line string
		if !faultrig.Within(maxLagAfterOutage, func() bool {
			want = w.term.does()
			line = w.read(place)
			return want.faces()[place].is(line)
		}) {
			w.change(func() { w.fault("%s shows %q of a session that is %s", place, line, want) })
		}
	}
}

// onTop says that a line of `c3po top` shows that.
func (is truth) onTop(line string) bool {
	return is.faces()["top"].is(line) || is == trulyIdle && (strings.Contains(line, "at next try") || strings.Contains(line, "in a minute"))
}

// judgeTop compares what `c3po top` shows, with the lock held. Nobody can be told of
// what happens while the coordinator or Redis is away: it must not show old states as
// if they were so now.
func (w *witness) judgeTop(line string, excused bool, now time.Time) {
	right := excused || w.is.onTop(line)
	late := maxLag + topLooks
	if w.away {
		right, late = strings.Contains(line, " ago ") || now.Sub(w.settled) < maxLagAfterOutage+topLooks, maxLag
	}
	switch {
	case right:
		w.topWrong = time.Time{}
	case w.topWrong.IsZero():
		w.topWrong = now
	case now.Sub(w.topWrong) > late && (w.away || now.Sub(w.since) > late && now.Sub(w.settled) > w.grace+topLooks):
		w.fault("top shows %q of a session that is %s, for %v", line, w.is, now.Sub(w.topWrong).Round(time.Millisecond))
		w.topWrong = now
	}
}
