package claude_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// toPrint is what a message says that is typed into a program which can only
// print.
var toPrint = regexp.MustCompile(`print < <c3po:(\S+)`)

func TestClaudeCodeWithoutAnythingOfOursIsTypedIntoAndAnswersInPrint(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", following(
		rule{toPrint.String(), func(_ request, match []string) step {
			return say("Here it is.\n\n<<c3po:%s\nport 8080\nand 8081\nc3po>>\n\nThat was it.", match[1])
		}},
		on("half a sentence", say("HEARD")),
	))
	a.plugin = ""
	a.within = []string{faultrig.Binary(t), "run", "--as", "wrapped", "--paste-bodies", "--"}
	term := a.open()

	body := "Which ports?\n" + strings.Repeat("A long text that must arrive whole; ", 100) + "end."
	asked := w.send("web", "wrapped", body)
	answer := func(id c3po.MessageID) string {
		got, err := w.as("web").WaitForMessage(t.Context(), c3po.WaitInput{MessageID: id, Timeout: 30})
		if err != nil || got.Outcome != nil {
			t.Fatalf("no answer: %v %v\n%s", err, got.Outcome, term.screen())
		}
		return got.Response
	}
	if got := answer(asked.ID); got != "port 8080\nand 8081" {
		t.Errorf("the answer is %q", got)
	}
	prompt := ""
	for _, r := range a.model.Seen() {
		if strings.Contains(r.Fresh(), "Which ports?") {
			prompt = r.Fresh()
		}
	}
	if want := "| " + strings.ReplaceAll(body, "\n", "\n| ") + "\n[end "; !strings.Contains(prompt, want) {
		t.Errorf("the model was shown\n%s", prompt)
	}

	// A person in the middle of a sentence is left alone until it is sent.
	term.tmux("send-keys", "-l", "half a ")
	term.see("half a")
	second := w.send("web", "wrapped", "And now?")
	term.never(3*time.Second, "And now?")
	term.enter("sentence")
	term.see("HEARD")
	if got := answer(second.ID); got != "port 8080\nand 8081" {
		t.Errorf("the answer is %q", got)
	}
	for _, r := range a.model.Seen() {
		if strings.Contains(r.Fresh(), "half a sentence") && strings.Contains(r.Fresh(), "And now?") {
			t.Errorf("it was typed into the person's line:\n%s", r.Fresh())
		}
	}
	term.tmux("send-keys", "-l", "/exit")
	term.see("/exit")
	term.press("Enter")
	eventually(t, 20*time.Second, "the agent is offline", func() bool { return w.status("wrapped") == c3po.Offline })
}

// never looks at the screen for so long, and must not see a text.
func (term *terminal) never(most time.Duration, text string) {
	term.t.Helper()
	if faultrig.Within(most, func() bool { return strings.Contains(term.screen(), text) }) {
		term.t.Errorf("%q is on the screen:\n%s", text, term.screen())
	}
}
