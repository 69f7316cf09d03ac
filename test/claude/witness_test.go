package claude_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

const (
	// maxLag is how long what is shown may lag behind what is so.
	maxLag = 5 * time.Second
	// maxLagAfterOutage is the same after the coordinator or Redis was away.
	maxLagAfterOutage = 10 * time.Second
	// serveTimeout is how long mail may take to be before the model once the session can
	// take it.
	serveTimeout = 10 * time.Second
)

// A truth is what a session really does, as its terminal, its process and the
// person's switch show. c3po is not asked.
type truth string

const (
	trulyIdle    truth = "idle"
	trulyWorking truth = "working"
	trulyDialog  truth = "dialog"
	trulyOff     truth = "off"
	trulyStopped truth = "stopped"
	trulyGone    truth = "gone"
)

// shown is what senders must be told of it.
func (is truth) shown() c3po.Reachability {
	return map[truth]c3po.Reachability{
		trulyIdle: c3po.ReachNow, trulyWorking: c3po.ReachNextStep, trulyDialog: c3po.ReachDialog,
		trulyOff: c3po.ReachOff, trulyStopped: c3po.ReachUnknown, trulyGone: c3po.ReachOffline,
	}[is]
}

// offSwitch is the file by which c3po is off on the whole host.
func (a *agent) offSwitch() string {
	return filepath.Join(a.home(), ".local", "state", "c3po", "off", "all")
}

// does is what the session does now.
func (term *terminal) does() truth {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", term.pid))
	if err != nil {
		return trulyGone
	}
	if _, err := os.Stat(term.offSwitch()); err == nil {
		return trulyOff
	}
	switch rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:]); strings.Fields(rest)[0] {
	case "T":
		return trulyStopped
	case "Z", "X":
		return trulyGone
	}
	return term.shows()
}

// behindMenu is the line of a turn that runs behind a menu.
var behindMenu = regexp.MustCompile(`(?m)^[·✢✳✶✻✽*] \p{L}+….*\n\s*(⎿.*\n\s*)*▔▔▔`)

// shows is what is on the screen. The lines at its end count: Claude Code may leave
// older ones above that are no longer so.
func (term *terminal) shows() truth {
	screen := strings.TrimSpace(term.tmux("capture-pane", "-p"))
	lines := strings.Split(screen, "\n")
	switch end := strings.Join(lines[max(0, len(lines)-3):], "\n"); {
	case strings.Contains(end, "esc to interrupt"), behindMenu.MatchString(screen):
		return trulyWorking
	case strings.Contains(end, " mode on"):
		return trulyIdle
	default: // a dialog or a menu has the place of the prompt
		return trulyDialog
	}
}

// A witness watches a session all the time, and compares what is shown of it with
// what it does.
type witness struct {
	*testCoordinator
	did func(format string, args ...any)
	top topView

	mu       sync.Mutex
	term     *terminal
	is       truth
	since    time.Time     // it is so
	away     bool          // the coordinator or Redis is, so nobody can be told anything
	settled  time.Time     // when that, or what it shows, was last set right
	grace    time.Duration // from then on
	quiet    bool          // it was started while c3po was off, so nobody has heard of it
	unseen   bool          // it has ended meanwhile: nobody could be told, and its coordinator counts it as online for a while
	held     bool          // the walk holds the turn
	wrong    time.Time     // since when what is shown is false; zero if it is true
	topWrong time.Time     // the same of c3po top
	able     time.Time     // since when the session can take mail; zero if it cannot
	mail     []*probe
	faults   []string
	looks    int
	asked    int           // requests of the model that are noted
	lag      time.Duration // the longest that something false was shown
	served   time.Duration // the longest that mail took
}

// A probe is a message whose way is followed.
type probe struct {
	text   string
	id     c3po.MessageID
	sent   time.Time
	served time.Time
	waited time.Duration // the longest that it could have been
	late   bool
}

func (w *witness) fault(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.faults = append(w.faults, text)
	w.did("FALSE: %s", text)
}

// look compares once.
func (w *witness) look(ctx context.Context) {
	w.mu.Lock()
	term := w.term
	w.mu.Unlock()
	before := term.does()
	told, asked := w.told(ctx)
	line := rowOf(w.top.screen())
	after := term.does()
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	if term != w.term {
		return
	}
	if before != after || after != w.is {
		if after != w.is {
			w.did("it is %s", after)
		}
		w.is, w.since = after, now
	}
	w.serve(now)
	w.judgeTop(line, !asked || w.unseen || before != after || w.quiet && w.is == trulyOff, now)
	switch {
	case !asked || w.away || w.unseen || before != after || told == w.is.shown() || w.quiet && w.is == trulyOff && told != c3po.ReachNow:
		if !w.wrong.IsZero() {
			w.lag = max(w.lag, now.Sub(w.wrong))
		}
		w.wrong = time.Time{}
	case w.wrong.IsZero():
		w.wrong = now
	case now.Sub(w.wrong) > maxLag && now.Sub(w.since) > maxLag && now.Sub(w.settled) > w.grace:
		w.fault("senders are told %q of a session that is %s, for %v", told, w.is, now.Sub(w.wrong).Round(time.Millisecond))
		w.wrong = now
	}
}

// told is what senders are told; asked is false if nobody answers.
func (w *witness) told(ctx context.Context) (c3po.Reachability, bool) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	agent, err := w.as("").GetAgentStatus(ctx, c3po.AgentInput{AgentID: "api"})
	if agent.Reachability == c3po.ReachRetry || agent.Reachability == c3po.ReachSoon { // it is idle, and mail starts a turn a little later
		return c3po.ReachNow, err == nil
	}
	return agent.Reachability, err == nil
}

// serve finds mail that the model has been shown, and mail that should have been.
// It is called with the lock held.
func (w *witness) serve(now time.Time) {
	// What comes during a turn is told at its end.
	can := w.is == trulyIdle && !w.held && !w.away
	switch {
	case !can:
		w.able = time.Time{}
	case w.able.IsZero():
		w.able = now
	}
	seen := w.term.model.Seen()
	for ; w.asked < len(seen); w.asked++ {
		w.did("the model is asked: %.60q", seen[w.asked].Fresh())
	}
	for _, p := range w.mail {
		if !p.served.IsZero() {
			continue
		}
		for _, r := range seen {
			if strings.Contains(r.Fresh(), p.text) {
				p.served = r.At
				w.served = max(w.served, p.waited)
				w.did("%s is served", p.text)
				break
			}
		}
		if w.able.IsZero() || !p.served.IsZero() {
			continue
		}
		from := w.able
		if p.sent.After(from) {
			from = p.sent
		}
		p.waited = max(p.waited, now.Sub(from))
		if now.Sub(from) > serveTimeout && !p.late {
			p.late = true
			w.fault("%q is not before the model though the session could take it for %v", p.text, now.Sub(from).Round(time.Millisecond))
		}
	}
}

// watch looks until the walk ends.
func (w *witness) watch(ctx context.Context) {
	for faultrig.Pass(ctx, 150*time.Millisecond) {
		w.look(ctx)
	}
}

// change tells the witness what the walk is about to do, or has done.
func (w *witness) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// waiting are the texts of mail that the model has not been shown.
func (w *witness) waiting() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var texts []string
	for _, p := range w.mail {
		if p.served.IsZero() {
			texts = append(texts, p.text)
		}
	}
	return texts
}

// unserved is the mail that came when the session was already as it is now, if it can
// hear of none.
func (w *witness) unserved() []*probe {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*probe
	for _, p := range w.mail {
		if w.is != trulyIdle && w.is != trulyWorking && p.id != "" && p.sent.Sub(w.since) > maxLag/2 {
			all = append(all, p)
		}
	}
	return all
}

// here is what the host itself says of the session.
func (w *witness) here() (state string, connected bool) {
	w.mu.Lock()
	term := w.term
	w.mu.Unlock()
	out, err := term.command(faultrig.Binary(w.t), "instances", "--json")
	if err != nil {
		return err.Error(), false
	}
	var all []struct {
		State     string `json:"state"`
		Connected bool   `json:"connected"`
	}
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 1 {
		return out, false
	}
	return all[0].State, all[0].Connected
}
