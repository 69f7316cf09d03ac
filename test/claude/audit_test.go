package claude_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/seed"
)

// A truth audit: sessions of the real Claude Code go through walks of chance, and
// all the while what is shown of them is compared with what they really do. At the
// end no message may be left. C3PO_TORTURE=1 makes 60 walks of it, a night twice as many.
func TestNoStateThatIsShownIsFalseAndNoMailIsStranded(t *testing.T) {
	t.Parallel()
	var looks, messages atomic.Int64
	var mu sync.Mutex
	var lag, served time.Duration
	walks, steps := faultrig.Size(8, 60), faultrig.Size(9, 16)
	if faultrig.Night() {
		walks *= 2
	}
	t.Run("walks", func(t *testing.T) {
		for i := range walks {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				w := newWalk(t, seed.Rand(t, uint64(1000+i)))
				w.wander(steps)
				looks.Add(int64(w.looks))
				messages.Add(int64(len(w.mail)))
				mu.Lock()
				lag, served = max(lag, w.lag), max(served, w.served)
				mu.Unlock()
			})
		}
	})
	faultrig.Verdict{
		Row: "H3", Holds: []faultrig.Invariant{faultrig.NoWakeIsLost},
		Size:   fmt.Sprintf("%d walks of %d steps, %d messages, %d looks; what is shown follows within %v", walks, steps, messages.Load(), looks.Load(), lag.Round(time.Millisecond)),
		Faults: "by chance: Esc, off, SIGSTOP, SIGKILL, 529, the coordinator killed, Redis frozen", Recovery: served,
	}.Record(t)
}

// A walk is one session, the faults that are made around it, and what the model
// behind it is to do next.
type walk struct {
	*witness
	rand *rand.Rand
	a    *agent
	term *terminal

	at       string // what is on the screen: "" for the prompt
	plan     bool
	talked   bool // there is something to compact
	stopped  bool
	dead     bool
	down     bool
	frozen   bool
	off      bool
	goOn     func() // after SIGSTOP
	n        int
	tools    int // that were begun
	log      []string
	logMu    sync.Mutex
	refusing atomic.Bool
	refused  atomic.Int64

	mu       sync.Mutex
	prompt   string
	answer   func() step
	release  chan struct{}
	answered map[string]bool
	unread   bool // it was told of mail and has not looked, perhaps because it had others to answer first
}

// workScript waits for a file of its own: one whose session was killed must not take
// another's. It ends when the folder does.
const workScript = "#!/bin/sh\nwhile [ -e work ] && [ ! -e \"release-$1\" ]; do sleep 0.1; done\n"

func newWalk(t *testing.T, chance *rand.Rand) *walk {
	w := &walk{rand: chance, release: make(chan struct{}), answered: map[string]bool{}}
	w.witness = &witness{testCoordinator: newTestCoordinator(t), did: w.note}
	w.a = w.host("pi").agent("api", w.think)
	// tmux goes on with a program of its own that is stopped; one below it is left alone.
	w.a.within = []string{"sh", "-c", `"$@"; exit $?`, "sh"}
	w.a.model.Refuses = func() int {
		if w.refusing.Load() {
			w.refused.Add(1)
			return 529
		}
		return http.StatusOK
	}
	if err := os.WriteFile(filepath.Join(w.a.folder, "work"), []byte(workScript), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(w.a.offSwitch()), 0o700); err != nil {
		t.Fatal(err)
	}
	w.start()
	w.awaitOnline("api")
	w.top = w.openTop()
	return w
}

func (w *walk) note(format string, args ...any) {
	w.logMu.Lock()
	defer w.logMu.Unlock()
	w.log = append(w.log, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// start opens the terminal, with the conversation there was.
func (w *walk) start() {
	more := []string{"--allowedTools", "Bash(./work:*)"}
	if w.saved() {
		more = append(more, "--continue")
	}
	term := w.a.open(more...)
	shell := term.pid
	eventually(w.t, 10*time.Second, "it runs below its shell", func() bool {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", shell, shell))
		pid, err := strconv.Atoi(strings.TrimSpace(string(children)))
		term.pid = pid
		return err == nil
	})
	w.change(func() {
		w.witness.term, w.settled, w.grace = term, time.Now(), maxLagAfterOutage
		w.quiet = w.off
	})
	w.term, w.at, w.plan, w.stopped, w.dead = term, "", false, false, false
	term.idle()
}

// saved says that there is a conversation to go back to: a session that was killed in
// its first turn may have left none.
func (w *walk) saved() bool {
	names, _ := filepath.Glob(filepath.Join(w.a.home(), ".claude", "projects", "*", "*.jsonl"))
	return slices.ContainsFunc(names, func(name string) bool {
		text, _ := os.ReadFile(name)
		return strings.Contains(string(text), `"type":"assistant"`)
	})
}

// think is the model: it does what the walk wants of a prompt, once, and else
// answers its mail.
func (w *walk) think(r request) step {
	w.mu.Lock()
	answer := w.answer
	if w.prompt == "" || !strings.Contains(r.All(), w.prompt) {
		answer = nil
	} else {
		w.answer = nil
	}
	w.mu.Unlock()
	if answer != nil {
		return answer()
	}
	if strings.Contains(r.Fresh(), "detailed summary") {
		return say("<summary>They talked.</summary>")
	}
	w.mu.Lock()
	w.unread = w.unread || notice.MatchString(r.Fresh())
	w.mu.Unlock()
	for _, match := range toAnswer.FindAllStringSubmatch(r.All(), -1) {
		if id := match[1]; w.unanswered(id) {
			return call("reply", map[string]any{"message_id": id, "response": "as you say"})
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unread {
		w.unread = false
		return call("get_messages", nil)
	}
	return say("NOTHING-MORE")
}

// unanswered says, once, that a message has no answer of this model.
func (w *walk) unanswered(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := !w.answered[id]
	w.answered[id] = true
	return first
}

// ask types a prompt to which the model does that.
func (w *walk) ask(answer func() step) {
	w.n++
	text := fmt.Sprintf("task-%d please", w.n)
	w.mu.Lock()
	w.prompt, w.answer, w.release = text, answer, make(chan struct{})
	w.mu.Unlock()
	w.term.press("C-u")
	w.term.enter(text)
}

// asked waits until the model has been asked that.
func (w *walk) asked() {
	w.t.Helper()
	w.until("the model is asked", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.answer == nil
	})
}

func (w *walk) until(what string, holds func() bool) {
	w.t.Helper()
	most := 20 * time.Second
	if w.frozen {
		most = time.Minute // each call of a model that answers its mail waits for Redis
	}
	if !faultrig.Within(most, holds) {
		w.t.Fatalf("not within %s: %s\n%s", most, what, w.term.screen())
	}
}

func (w *walk) sees(want truth) {
	w.t.Helper()
	w.until("its terminal shows "+string(want), func() bool { return w.term.shows() == want })
}

// wander makes steps of chance, then sets everything right again. By then all mail
// must have been before the model.
func (w *walk) wander(steps int) {
	ctx, stop := context.WithCancel(w.t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { w.watch(ctx) })
	defer func() {
		stop()
		watching.Wait()
		if w.t.Failed() || len(w.faults) > 0 {
			w.t.Errorf("%d false\n%s\n%s", len(w.faults), strings.Join(w.log, "\n"), w.term.screen())
		}
	}()
	for range steps {
		var possible []move
		for _, m := range w.moves() {
			for range m.weight() {
				if m.can {
					possible = append(possible, m)
				}
			}
		}
		w.step(possible[w.rand.IntN(len(possible))])
	}
	for _, name := range []string{"the coordinator is back", "Redis goes on", "SIGCONT", "on", "resume", "the turn ends", "the tool ends", "Esc"} {
		if m := w.moves()[slices.IndexFunc(w.moves(), func(m move) bool { return m.name == name })]; m.can {
			w.step(m)
		}
	}
	w.post() // the session is as good as new
	if !faultrig.Within(3*serveTimeout, func() bool { return len(w.waiting()) == 0 }) {
		w.t.Errorf("stranded: %q", w.waiting())
	}
	// A quick walk leaves no view the time after which it is judged.
	var line string
	if !faultrig.Within(maxLagAfterOutage+topLooks, func() bool {
		line = rowOf(w.top.screen())
		return w.term.does().onTop(line)
	}) {
		w.t.Errorf("at the end top shows %q of a session that is %s", line, w.term.does())
	}
	// A message is told of, read and answered; more than once if a fault came between.
	if most, asked := 10*w.n, len(w.a.model.Seen()); asked > most {
		w.t.Errorf("the model was asked %d times, want %d at the most", asked, most)
	}
}

// step makes a move and stays until what is shown has followed.
func (w *walk) step(m move) {
	w.t.Helper()
	w.note("> %s", m.name)
	w.untold()
	m.make()
	w.speaks()
	w.becomesShown()
	faultrig.Pass(w.t.Context(), time.Duration(w.rand.IntN(500))*time.Millisecond)
}

// untold wants no message to be called notified that was sent to a session which
// could not hear of it, and has not been able to since.
func (w *walk) untold() {
	w.t.Helper()
	if w.down || w.frozen {
		return
	}
	for _, p := range w.unserved() {
		if trace, err := w.as("web").Trace(w.t.Context(), c3po.MessageInput{MessageID: p.id}); err == nil && len(trace.Notified) > 0 {
			w.change(func() { w.fault("%q is called notified, and the session is %s since before it was sent", p.text, w.is) })
		}
	}
}

// becomesShown waits until senders are told what is so, as long as that may take;
// the witness judges. What the host says of the session is compared too.
func (w *walk) becomesShown() {
	w.t.Helper()
	ctx := w.t.Context()
	if w.down || w.frozen {
		if !w.dead && !w.off && !faultrig.Within(maxLag, func() bool { _, connected := w.here(); return !connected }) {
			w.change(func() { w.fault("the host says that the session hears of mail, and it cannot") })
		}
		return
	}
	faultrig.Within(maxLag, func() bool {
		told, asked := w.told(ctx)
		return asked && told == w.term.does().shown()
	})
	var want truth
	var state string
	if !faultrig.Within(maxLag, func() bool {
		want = w.term.does()
		state, _ = w.here()
		return want == trulyGone || state == string(want) || want == trulyStopped && state == string(c3po.SessionUnknown) || want == trulyIdle && slices.Contains([]c3po.SessionState{c3po.SessionFailed, c3po.SessionStarting, c3po.SessionStopped}, c3po.SessionState(state))
	}) {
		w.change(func() { w.fault("the host says %q of a session that is %s", state, want) })
	}
	if !w.unseen && !(w.quiet && w.off) {
		w.areTrue()
	}
}

// speaks ends what nobody could be told: the session can speak to its coordinator. One that is
// resumed while that is away, and stopped or switched off, cannot yet.
func (w *walk) speaks() {
	if w.dead || w.stopped || w.down || w.frozen || w.off {
		return
	}
	w.change(func() {
		if w.unseen {
			w.unseen, w.settled, w.grace = false, time.Now(), maxLagAfterOutage
		}
	})
}
