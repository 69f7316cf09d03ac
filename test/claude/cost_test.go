package claude_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// ours is what c3po has put before the model in one request: of the tools those
// that are ours, of the texts the lines that speak of c3po.
func ours(r request) (tools, words string) {
	for _, tool := range r.Tools {
		if bytes.Contains(tool, []byte(toolPrefix)) {
			tools += string(tool) + "\n"
		}
	}
	for line := range strings.Lines(r.All()) {
		if strings.Contains(line, "c3po") {
			words += line
		}
	}
	return tools, words
}

// proposals are words that could make a model contact somebody of its own accord.
var proposals = regexp.MustCompile(`(?i)you (can|could|may|should|might) (ask|contact|message|reach)|consider|ask (another|other) agents?\b|reach out|feel free|suggest`)

func TestWithoutMailAModelReadsLittleOfC3POAndNothingThatProposesContact(t *testing.T) {
	t.Parallel()
	const most = 2400
	w := newTestCoordinator(t)
	// Somebody is there who could be contacted. Both are called as on hosts that have
	// joined, which takes the most words.
	if _, err := w.as("nas/meshtastic").Ping(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	h := w.host("pi")
	without := h.agent("homeassistant", quiet)
	without.plugin = ""
	without.print("hello")
	with := h.agent("homeassistant", nil)
	with.extra = append(with.extra, "C3PO_AGENT_ID=pi/homeassistant")
	bash := call("Bash", map[string]any{"command": "true", "description": "a step"})
	with.model.Script = following(on("hello", bash))
	with.print("hello", "--allowedTools", "Bash")
	first := with.model.Seen()[0]
	installed := first.Bytes - without.model.Seen()[0].Bytes
	tools, words := ours(first)
	t.Logf("to have c3po installed: %d bytes, of which %d are the schemas of tools; limit %d", installed, len(tools), most)
	if installed > most {
		t.Errorf("c3po costs %d bytes at the start of a session, at most %d are allowed", installed, most)
	}
	if found := proposals.FindString(words + tools); found != "" {
		t.Errorf("the model reads %q in:\n%s%s", found, words, tools)
	}
	if !strings.Contains(words, "c3po: you are pi/homeassistant. Online: 'nas/meshtastic'.") {
		t.Errorf("the model does not know who it is and who is there:\n%s", words)
	}
	_, later := ours(with.model.Seen()[1])
	t.Logf("a step without mail adds %d bytes", len(later)-len(words))
	if later != words {
		t.Errorf("a step without mail has added:\n%s", strings.TrimPrefix(later, words))
	}
}

// grown is what came into a conversation after so many messages: all that is around
// the texts, and what the model itself said, counts too.
func grown(r request, from int) (bytes int) {
	for _, m := range r.Messages[from:] {
		bytes += m.Size
	}
	return bytes
}

func TestWhatAnExchangeCosts(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	b := w.host("nas").agent("mesh", following(reading(always("mesh/# for all topics"))...))
	term := b.open()
	term.idle()
	w.awaitOnline("mesh")
	term.enter("hello")
	term.rest()
	before := b.model.Seen()
	a := w.host("pi").agent("home", following(
		on("what MQTT topics", call("send_message", map[string]any{"target": "mesh", "message": "What MQTT topics do you use?", "wait_seconds": 60}))))
	a.print("Ask the mesh agent what MQTT topics it uses")
	eventually(t, 10*time.Second, "the asked has its receipt", func() bool { return len(b.model.Seen()) > len(before)+1 })
	asked, asker := b.model.Seen()[len(before):], a.model.Seen()
	limit := func(what string, r request, from, most int) {
		t.Helper()
		for i := from; i < len(r.Messages); i++ {
			t.Logf("%d bytes of %s:\n%s", r.Messages[i].Size, r.Messages[i].Role, r.Messages[i].Text)
		}
		t.Logf("%s: %d bytes, limit %d", what, grown(r, from), most)
		if got := grown(r, from); got > most {
			t.Errorf("%s costs %d bytes, at most %d are allowed", what, got, most)
		}
	}
	// Beyond the model's answer to hello, and the asker's prompt.
	limit("an exchange for the asked", asked[len(asked)-1], len(before[len(before)-1].Messages)+1, 1400)
	limit("an exchange for the asker", asker[1], len(asker[0].Messages), 700)
	if n := len(asked); n != 2 {
		t.Errorf("the asked model was called %d times, want 2: question, receipt", n)
	}
}
