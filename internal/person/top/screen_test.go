package top_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

var update = flag.Bool("update", false, "write the golden screens")

// clockVariable names the file that holds what the time is. Only this program
// looks at it.
const clockVariable = "TOP_TEST_CLOCK"

// longEnough is how long anything here may take before it counts as stuck.
const longEnough = 30 * time.Second

// The tests run this program as c3po: all of the real one, with a clock that
// they set, in the coordinator as well as in what is on the screen.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"c3po": func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		os.Exit(cli.Main(ctx, cli.Process{
			Name: os.Args[0], Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Version: "test", Now: clock,
		}))
	}})
}

func clock() time.Time {
	text, err := os.ReadFile(os.Getenv(clockVariable))
	if err != nil {
		panic(err)
	}
	now, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		panic(err)
	}
	return now
}

// A stage is a coordinator with a home of its own, and the time it has there.
type stage struct {
	t    *testing.T
	home string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	for _, program := range []string{"tmux", "redis-server"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("no %s is installed", program)
			}
			t.Skipf("no %s is installed", program)
		}
	}
	s := &stage{t: t, home: faultrig.Home(t)}
	s.at("09:00:00")
	s.c3po("up")
	t.Cleanup(func() { s.c3po("down") })
	return s
}

// at sets the time, on a day of its own.
func (s *stage) at(clock string) {
	s.t.Helper()
	name := filepath.Join(s.home, "clock")
	// Whoever reads it meanwhile finds the one or the other.
	if err := os.WriteFile(name+".new", []byte("2026-03-14T"+clock+"Z"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) env(more ...string) []string {
	return append([]string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TZ=UTC", "LANG=C.UTF-8", "C3PO_LISTEN=127.0.0.1:0", "GORACE=atexit_sleep_ms=0",
		"GOCOVERDIR=" + os.Getenv("GOCOVERDIR"), // without it, a program with -cover complains on stderr
		clockVariable + "=" + filepath.Join(s.home, "clock"),
	}, more...)
}

func (s *stage) c3po(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("c3po", args...)
	cmd.Env, cmd.Dir = s.env(), s.home
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("c3po %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *stage) as(id c3po.AgentID) *client.Client {
	return client.New(client.Config{Socket: filepath.Join(s.home, ".local/state/c3po/coordinator.sock"), AgentID: id, ClientName: "test"})
}

func must[T any](got T, err error) func(*stage) T {
	return func(s *stage) T {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
		return got
	}
}

// play makes a morning of five agents and returns the question that is open at
// the end of it.
func (s *stage) play() c3po.MessageID {
	s.t.Helper()
	ctx := s.t.Context()
	must(s.as("docs").RegisterAgent(ctx, c3po.RegisterInput{Type: "codex"}))(s)
	// A coordinator remembers who called it moments ago, whatever the clock says.
	s.c3po("down")
	s.c3po("up")
	s.at("11:40:00")
	for _, id := range []c3po.AgentID{"api", "web", "reviewer", "tester"} {
		must(s.as(id).RegisterAgent(ctx, c3po.RegisterInput{Type: "claude-code", Cwd: "/home/ann/" + string(id), Capabilities: []string{"go", "review"}}))(s)
	}
	must(s.as("web").SetStatus(ctx, c3po.StatusInput{Status: c3po.Busy, CurrentTask: "porting the login page to the new tokens"}))(s)
	s.at("11:52:10")
	must(s.as("api").SendMessage(ctx, c3po.SendInput{Target: "reviewer", Message: "please look at the diff", DeadlineMS: 600_000}))(s)
	must(s.as("web").SendMessage(ctx, c3po.SendInput{Target: "docs", Message: "which port is in the guide?"}))(s)
	s.at("11:57:00")
	question := must(s.as("api").EscalateToHuman(ctx, c3po.EscalateInput{
		Question: "Drop the table orders_2019? The migration cannot go on with it.",
		Reason:   "It has 12 rows, all older than five years.\n\x1b[31mNobody\x1b[0m has read it since March.",
		Choices:  []string{"Drop it", "Rename it to orders_old"}, Deadline: "10m",
	}))(s)
	s.at("11:59:48")
	must(s.as("web").SendMessage(ctx, c3po.SendInput{Target: "reviewer", Message: "and this one"}))(s)
	sent := must(s.as("web").SendMessage(ctx, c3po.SendInput{Target: "tester", Message: "run it"}))(s)
	must(s.as("tester").Reply(ctx, c3po.ReplyInput{MessageID: sent.ID, Response: "green"}))(s)
	s.at("11:59:50")
	s.waits("reviewer")
	s.at("12:00:00")
	// All others but one give a sign of life now, so that whether a later call counts
	// as one changes nothing.
	for _, id := range []c3po.AgentID{"api", "web", "tester"} {
		must(s.as(id).RegisterAgent(ctx, c3po.RegisterInput{Type: "claude-code", Cwd: "/home/ann/" + string(id), Capabilities: []string{"go", "review"}}))(s)
	}
	return question.MessageID
}

// waits lets an agent wait for mail after all there is, until the test is over. It
// returns when that is known.
func (s *stage) waits(id c3po.AgentID) {
	ctx, stop := context.WithCancel(context.WithoutCancel(s.t.Context()))
	ended := make(chan struct{})
	s.t.Cleanup(func() { stop(); <-ended })
	go func() {
		defer close(ended)
		after := int64(1) << 40
		for ctx.Err() == nil {
			_, _ = s.as(id).Pending(ctx, c3po.PendingInput{Timeout: 600, After: &after})
		}
	}()
	eventually(s.t, func() string {
		if agent, err := s.as("").GetAgentStatus(ctx, c3po.AgentInput{AgentID: string(id)}); err != nil || agent.State != c3po.SessionWaiting {
			return fmt.Sprintf("%s is %q, %v", id, agent.State, err)
		}
		return ""
	})
}

// A screen is a terminal of a given size in which c3po top runs.
type screen struct {
	*stage
	socket string
}

func (s *stage) open(width, height int, env ...string) *screen {
	s.t.Helper()
	program := must(exec.LookPath("c3po"))(s)
	term := &screen{stage: s, socket: filepath.Join(s.home, "tmux-"+rand.Text()[:8])}
	argv := []string{"-S", term.socket, "-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "env", "-i", "TERM=tmux-256color"}
	argv = append(append(argv, s.env(env...)...), program, "top")
	cmd := exec.Command("tmux", argv...)
	cmd.Env, cmd.Dir = s.env("TERM=xterm-256color"), s.home
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("tmux: %v\n%s", err, out)
	}
	s.t.Cleanup(func() { _ = exec.Command("tmux", "-S", term.socket, "kill-server").Run() })
	return term
}

func (term *screen) press(keys ...string) {
	term.t.Helper()
	if out, err := exec.Command("tmux", append([]string{"-S", term.socket, "send-keys"}, keys...)...).CombinedOutput(); err != nil {
		term.t.Fatalf("tmux: %v\n%s", err, out)
	}
}

// port is all that differs from one coordinator to the next.
var port = regexp.MustCompile(`127\.0\.0\.1:[0-9]{5}`)

func (term *screen) text(options ...string) string {
	out, _ := exec.Command("tmux", append([]string{"-S", term.socket, "capture-pane", "-p"}, options...)...).Output()
	return port.ReplaceAllString(string(out), "127.0.0.1:PORT.")
}

// see waits until a text is on the screen.
func (term *screen) see(text string) {
	term.t.Helper()
	eventually(term.t, func() string {
		if now := term.text(); !strings.Contains(now, text) {
			return text + " is not on the screen:\n" + now
		}
		return ""
	})
}

// golden waits until the screen is the one of that name.
func (term *screen) golden(name string) {
	term.t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		term.settled()
		if err := os.WriteFile(file, []byte(term.text()), 0o644); err != nil {
			term.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		term.t.Fatal(err)
	}
	eventually(term.t, func() string {
		if now := term.text(); now != string(want) {
			return name + " (- want, + got):\n" + cmp.Diff(strings.Split(string(want), "\n"), strings.Split(now, "\n"))
		}
		return ""
	})
}

// settled waits until the screen has not changed for two looks at the state.
func (term *screen) settled() {
	before, since := "", time.Now()
	eventually(term.t, func() string {
		if now := term.text(); now != before {
			before, since = now, time.Now()
		}
		if time.Since(since) > 4*time.Second {
			return ""
		}
		return "the screen does not settle"
	})
}

// eventually waits until there is nothing left to complain about.
func eventually(t *testing.T, complaint func() string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(longEnough); ; {
		wrong := complaint()
		if wrong == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatal(wrong)
		}
		<-tick.C
	}
}

func TestAPersonAnswersAndPausesFromTheScreen(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	question := s.play()
	large := s.open(200, 50)
	large.golden("lists-200x50")
	small := s.open(80, 24)
	small.golden("lists-80x24")

	small.press("Enter")
	small.press("-l", "2")
	small.golden("question-80x24")
	small.press("Enter")
	small.golden("answered-80x24")
	mail := must(s.as("api").Peek(t.Context(), c3po.GetMessagesInput{}))(s).Messages
	if len(mail) != 1 || mail[0].Response != "Rename it to orders_old" || mail[0].FromAgent != c3po.Human || mail[0].MessageID != question {
		t.Errorf("the agent was answered %+v", mail)
	}
	large.see("nobody waits for you") // what one screen does, the other shows

	small.press("2")
	small.press("End")
	small.press("Up", "Up")
	small.press("p")
	small.see("Pause tester? Shift+Y does it, any other key does not.")
	small.press("Y")
	small.see("tester is paused.")
	small.golden("paused-80x24")
	if tester := must(s.as("reviewer").GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "tester"}))(s); tester.Paused == nil {
		t.Errorf("the screen says it is paused, and it is not: %+v", tester)
	}
	small.press("p")
	small.see("Resume tester?")
	small.press("Y")
	small.see("tester goes on.")
	if tester := must(s.as("reviewer").GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "tester"}))(s); tester.Paused != nil {
		t.Errorf("the screen says it goes on, and it does not: %+v", tester)
	}
	large.press("2")
	large.press("Home")
	large.press("Enter")
	large.golden("agent-200x50")
	small.press("?")
	small.golden("help-80x24")
	small.press("Escape")
	small.see("── Flow")
	small.press("q")
	eventually(t, func() string {
		if exec.Command("tmux", "-S", small.socket, "has-session").Run() == nil {
			return "q does not end it:\n" + small.text()
		}
		return ""
	})
}

func TestAnObserverOnlyLooks(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.play()
	var token struct{ Token string }
	if err := json.Unmarshal([]byte(s.c3po("token", "create", "--role", "observer", "--json")), &token); err != nil {
		t.Fatal(err)
	}
	term := s.open(80, 24, "C3PO_TOKEN="+token.Token)
	term.golden("observer-80x24")
	term.press("2")
	for _, key := range []string{"p", "1"} {
		term.press(key)
		if key == "1" {
			term.press("Enter")
		}
		term.see("Your token may only look.")
		term.press("Down")
		eventually(t, func() string {
			if strings.Contains(term.text(), "may only look") {
				return "the word stays"
			}
			return ""
		})
	}
	if api := must(s.as("reviewer").GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "api"}))(s); api.Paused == nil || *api.Paused != c3po.PausedForHuman {
		t.Errorf("an observer has changed %+v", api)
	}
}

func TestItSaysWhenItIsNotLiveAndComesBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.play()
	term := s.open(80, 24, "NO_COLOR=1")
	coloured := s.open(80, 24)
	term.see("c3po main  live")
	coloured.see("c3po main  live")
	colour := regexp.MustCompile("\x1b\\[[0-9;]*[34][0-7]m")
	if !colour.MatchString(coloured.text("-e")) {
		t.Errorf("there are no colours, so that NO_COLOR takes them away is not shown: %q", coloured.text("-e"))
	}
	if found := colour.FindString(term.text("-e")); found != "" {
		t.Errorf("a colour in spite of NO_COLOR: %q", found)
	}

	s.c3po("down")
	term.see("NOT LIVE  no answer since 12:00:00, trying again")
	term.see("reviewer") // what was seen last stays
	s.c3po("up")
	term.see("c3po main  live")
	// It is live: what happens now is shown.
	must(s.as("newcomer").RegisterAgent(t.Context(), c3po.RegisterInput{}))(s)
	began := time.Now()
	term.see("registered   newcomer")
	t.Logf("an event was on the screen after %v (aim 1s)", time.Since(began))
	term.see("6 agents")
}
