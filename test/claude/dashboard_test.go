package claude_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A person is somebody at the dashboard, in a real browser.
type person struct {
	t   *testing.T
	say *json.Encoder
	ear *json.Decoder
}

// sitDown starts the browser. The dashboard must be built, for it is in the
// coordinator, and what drives the browser installed: `make web` does both.
func (w *testCoordinator) sitDown() *person {
	w.t.Helper()
	folder := filepath.Join("..", "..", "web")
	for _, needed := range []string{"dist/index.html", "node_modules/playwright-core/package.json"} {
		if _, err := os.Stat(filepath.Join(folder, needed)); err != nil {
			if os.Getenv("CI") == "true" {
				w.t.Fatal(err)
			}
			w.t.Skip("the dashboard is not built: make web does it")
		}
	}
	cmd := exec.Command("node", filepath.Join(folder, "e2e", "person.mjs"), w.coordinator.URL())
	home := w.host("desk").dir // short, for the sockets in it
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "C3PO_CHROMIUM=" + os.Getenv("C3PO_CHROMIUM")}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = in.Close() // it closes the browser then
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	p := &person{t: w.t, say: json.NewEncoder(in), ear: json.NewDecoder(bufio.NewReader(out))}
	p.hear("come to the page")
	return p
}

func (p *person) hear(act string) {
	p.t.Helper()
	var said struct{ Error, Page string }
	if err := p.ear.Decode(&said); err != nil || said.Error != "" {
		p.t.Fatalf("the person could not %s: %v %s\nthe page:\n%s", act, err, said.Error, said.Page)
	}
}

// does something in the page, and returns when the page shows that it is done.
func (p *person) does(act string, how map[string]string) {
	p.t.Helper()
	line := map[string]string{"act": act}
	for name, value := range how {
		line[name] = value
	}
	if err := p.say.Encode(line); err != nil {
		p.t.Fatal(err)
	}
	p.hear(act)
}

// toldOf is when the model was last told that there is mail of an agent.
func toldOf(m *model, agent string) time.Time {
	told := regexp.MustCompile(`c3po: [^\n]* from [^\n.]*\b` + agent + `\b[^\n]*get_messages|\[c3po \w+\] \w+ \S+ \| from ` + agent + `\b`)
	var last time.Time
	for _, r := range m.Seen() {
		if told.MatchString(r.Fresh()) {
			last = r.At
		}
	}
	return last
}

// Claude Code and Chromium, both real: a person interrupts, is asked, answers in
// the page, and the agent goes on.
func TestAC2ToAC4APersonAtTheDashboardInterruptsIsAskedAndAnswers(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	human := w.sitDown()
	a := w.host("pi").agent("api", following(append([]rule{
		on("something risky", call("escalate_to_human", map[string]any{"reason": "May I drop the table?", "choices": []string{"drop it", "rename it"}})),
		on(`"paused":"waiting_for_human"`, say("I WAIT")),
		on(`message \S+ \| from human`, say("MY-PERSON-CALLS")),
		{`\] reply .* from human`, func(r request, _ []string) step { return say("MY-PERSON-SAID %s", written(r.Fresh())) }},
	}, reading(always("port 8080"))...)...))
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	api := map[string]string{"agent": "api"}
	// leftAlone sends it mail, which must not be told of: what the person writes after it
	// comes first.
	leftAlone := func(text string, reachable c3po.Reachability) {
		t.Helper()
		from := time.Now()
		if receipt := w.send("web", "api", text); receipt.Reachability != reachable {
			t.Errorf("senders are told %q, want %q", receipt.Reachability, reachable)
		}
		human.does("writes", map[string]string{"agent": "api", "text": "Wait for me. " + text})
		eventually(t, 30*time.Second, "it hears its person", func() bool { return toldOf(a.model, "human").After(from) })
		if at := toldOf(a.model, "web"); at.After(from) {
			t.Errorf("it was told of the mail of others %s after that was sent", at.Sub(from))
		}
		// What it is told next comes in another turn, without its person's word.
		eventually(t, 20*time.Second, "that turn is over", func() bool {
			agent, err := w.as("").GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "api"})
			return err == nil && agent.State == c3po.SessionIdle
		})
	}
	goesOn := func(since time.Time) {
		t.Helper()
		eventually(t, 30*time.Second, "it hears of what came meanwhile", func() bool { return toldOf(a.model, "web").After(since) })
	}

	// AC2: the person interrupts, and it goes on when they say so.
	human.does("pauses", api)
	leftAlone("Which port?", c3po.ReachResumed)
	resumed := time.Now()
	human.does("resumes", api)
	goesOn(resumed)
	answer, err := w.as("web").WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 30})
	if err != nil || answer.Response != "port 8080" {
		t.Errorf("after the pause web is answered %q, %v\n%s", answer.Response, err, term.screen())
	}

	// AC3: it is not sure, asks its person, and is left alone until then.
	human.does("waits", nil)
	term.enter("do something risky")
	human.does("finds", map[string]string{"question": "May I drop the table?"})
	term.see("I WAIT")
	leftAlone("And the host?", c3po.ReachWaitingForHuman)

	// AC4: the person answers in the page, and it goes on with that and the rest.
	human.does("finds", map[string]string{"question": "May I drop the table?"})
	chosen := time.Now()
	human.does("chooses", map[string]string{"choice": "rename it"})
	term.see("MY-PERSON-SAID")
	term.see("rename it")
	goesOn(chosen)
}
