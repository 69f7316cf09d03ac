package claude_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
)

// ours is what c3po has put before the model in one request: of the tools those
// that are ours, of the texts the lines that speak of c3po.
func (r request) ours() (tools, words string) {
	for _, tool := range r.tools {
		if bytes.Contains(tool, []byte(toolPrefix)) {
			tools += string(tool) + "\n"
		}
	}
	for line := range strings.Lines(r.all()) {
		if strings.Contains(line, "c3po") {
			words += line
		}
	}
	return tools, words
}

// proposals are words that could make a model contact somebody of its own accord.
var proposals = regexp.MustCompile(`(?i)you (can|could|may|should|might) (ask|contact|message|reach)|consider|ask (another|other) agents?\b|reach out|feel free|suggest`)

// Claims: U5
func TestWithoutMailAModelReadsLittleOfC3POAndNothingThatProposesContact(t *testing.T) {
	t.Parallel()
	const most = 2400
	w := newWorld(t)
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
	with.model.brain = following(on("hello", bash))
	with.print("hello", "--allowedTools", "Bash")
	first := with.model.seen()[0]
	installed := first.bytes - without.model.seen()[0].bytes
	tools, words := first.ours()
	t.Logf("to have c3po installed: %d bytes, of which %d are the schemas of tools; limit %d", installed, len(tools), most)
	if installed > most {
		t.Errorf("c3po costs %d bytes at the start of a session, at most %d are allowed", installed, most)
	}
	if found := proposals.FindString(words + tools); found != "" {
		t.Errorf("the model reads %q in:\n%s%s", found, words, tools)
	}
	if !strings.Contains(words, "c3po: you are pi/homeassistant. Online: nas/meshtastic.") {
		t.Errorf("the model does not know who it is and who is there:\n%s", words)
	}
	_, later := with.model.seen()[1].ours()
	t.Logf("a step without mail adds %d bytes", len(later)-len(words))
	if later != words {
		t.Errorf("a step without mail has added:\n%s", strings.TrimPrefix(later, words))
	}
}

func TestWhatAnExchangeCosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.host("nas").agent("meshtastic", following(reading(always("mesh/# for all topics"))...))
	b.open().idle()
	w.awaitOnline("meshtastic")
	a := w.host("pi").agent("homeassistant", following(
		on("what MQTT topics", call("send_message", map[string]any{"target": "meshtastic", "message": "What MQTT topics do you use?", "wait_seconds": 60}))))
	a.print("Ask the meshtastic agent what MQTT topics it uses")
	t.Logf("the asker reads %d bytes as the answer to its one call", len(a.model.seen()[1].fresh()))
	eventually(t, 10*time.Second, "the asked has its receipt", func() bool { return len(b.model.seen()) >= 3 })
	requests := b.model.seen()
	told := notice.FindString(requests[0].fresh())
	mail := requests[1].fresh()
	if end := regexp.MustCompile(`(?m)^\[end .*$`).FindStringIndex(mail); end != nil {
		mail = mail[:end[1]] // Claude Code says other things after it
	}
	t.Logf("the asked reads %d bytes of notice, %d of mail, %d of receipt", len(told), len(mail), len(requests[2].fresh()))
	if n := len(requests); n != 3 {
		t.Errorf("the asked model was called %d times, want 3: notice, mail, receipt", n)
	}
}
