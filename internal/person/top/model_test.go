package top

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// hostile is a text that would do all there is to do to a terminal and its
// reader, and is as wide as such a text can be.
const hostile = "MARK\x1b[31m\x1b[2J\x1b]0;owned\a\x1b]8;;http://evil.example\x1b\\\x1b]52;c;ZXZpbA==\a" +
	"\r\nforged\u009b31m\u202egnp.exe\u2066\u200b\ufeff\u2028\U000e0041\u3164\x00\x7f\b\t日本語の質問 👩‍👩‍👧 Grüße é"

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func at(before time.Duration) time.Time { return noon.Add(-before) }

// full is a snapshot in which all texts are the same.
func full(text string, rows int) Snapshot {
	s := Snapshot{Space: c3po.Space(text), More: true}
	dead := false
	for i := range rows {
		unread := i
		id := fmt.Sprint(text, i)
		s.Questions = append(s.Questions, Question{ID: c3po.MessageID(id), From: c3po.AgentID(id), At: at(time.Hour), Text: text, Why: text, Choices: []string{text, text}, Deadline: noon})
		s.Agents = append(s.Agents, c3po.Agent{
			ID: c3po.AgentID(id), Status: c3po.Status(text), Availability: c3po.Availability(text), Reachability: c3po.Reachability(text), Paused: &text, Alive: &dead,
			Capabilities: []string{text}, Type: text, Host: text, Cwd: text, Rooms: []c3po.RoomName{c3po.RoomName(text)}, CurrentTask: text, Client: text, Unread: &unread,
		})
		s.Events = append(s.Events, c3po.Event{Seq: int64(i), Kind: c3po.EventKind(text), Agent: c3po.AgentID(text), Room: c3po.RoomName(text), Node: text})
	}
	return s
}

// every draws a snapshot in every mode, panel and size.
func every(t *testing.T, s Snapshot, look func(what string, m *model)) {
	t.Helper()
	for _, size := range [][2]int{{80, 24}, {200, 50}, {139, 24}, {140, 10}, {40, 12}, {20, 5}, {3, 3}, {1, 1}, {0, 0}} {
		for focus := range panels {
			for _, mode := range []mode{listing, reading, answering, helping, writing, filtering, confirming} {
				m := newModel(s, "http://"+hostile, func() time.Time { return noon })
				m.width, m.height = size[0], size[1]
				m.focus, m.mode = focus, mode
				m.asked, _ = m.question()
				m.line = line{before: []rune(hostile), after: []rune(hostile)}
				m.to = hostile
				look(fmt.Sprint(size, focus, mode), m)
				m.say(hostile, true)
				m.link(true)
				look(fmt.Sprint(size, focus, mode, " lost"), m)
			}
		}
	}
}

func TestNothingOfOthersReachesTheTerminalAsACommand(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{1, 30} {
		marked := 0
		every(t, full(hostile, rows), func(what string, m *model) {
			for _, line := range m.screen() {
				text := ansi.Strip(line)
				if at := strings.IndexFunc(text, sanitise.Hidden); at >= 0 {
					t.Errorf("%s: %q", what, text[max(0, at-20):min(len(text), at+20)])
				}
				marked += strings.Count(text, "MARK")
			}
		})
		if marked < 100 {
			t.Errorf("little of what was sent is shown (%d), so this proves little", marked)
		}
	}
}

// A terminal orders letters that run from right to left in its own way, or not at all.
func TestEverySignOfACommandIsInItsPlaceOnTheScreen(t *testing.T) {
	t.Parallel()
	s := asked("a")
	s.Questions[0].Permits, s.Questions[0].Text = true, "Allow Bash?\n\n$ rm \"אב\" \"ג\" 1"
	s.PasskeysEnd = noon
	m := newModel(s, "", func() time.Time { return noon })
	m.width, m.height = 120, 30
	shows := func(want string) {
		t.Helper()
		if screen := ansi.Strip(strings.Join(m.screen(), "\n")); !strings.Contains(screen, want) || strings.ContainsFunc(screen, sanitise.RightToLeft) {
			t.Errorf("%q is not on the screen:\n%s", want, screen)
		}
	}
	const command = `$ rm "⟨U+05D0⟩⟨U+05D1⟩" "⟨U+05D2⟩" 1`
	shows("permission: Allow Bash? " + command)
	shows("All passkeys are forgotten at " + noon.Local().Format("15:04"))
	press(m, "enter")
	shows("│ " + command)
}

func TestEveryScreenFitsItsTerminal(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{0, 1, 30} {
		every(t, full(hostile, rows), func(what string, m *model) {
			lines := m.screen()
			if len(lines) != max(1, m.height) {
				t.Errorf("%s, %d rows: %d lines", what, rows, len(lines))
			}
			for i, line := range lines {
				if w := ansi.StringWidth(line); w != m.width {
					t.Errorf("%s, %d rows: line %d is %d wide: %q", what, rows, i, w, line)
				}
			}
		})
	}
}

func press(m *model, keys ...string) tea.Cmd {
	var cmd tea.Cmd
	for _, key := range keys {
		k := tea.KeyPressMsg{Text: key}
		switch key {
		case "enter":
			k = tea.KeyPressMsg{Code: tea.KeyEnter}
		case "tab":
			k = tea.KeyPressMsg{Code: tea.KeyTab}
		case "down":
			k = tea.KeyPressMsg{Code: tea.KeyDown}
		}
		_, cmd = m.Update(k)
	}
	return cmd
}

func asked(ids ...string) Snapshot {
	var s Snapshot
	for _, id := range ids {
		s.Questions = append(s.Questions, Question{ID: c3po.MessageID(id), From: "api", At: noon, Text: "of " + id})
	}
	return s
}

func TestAnAnswerIsForTheQuestionThatWasRead(t *testing.T) {
	t.Parallel()
	var done []act
	m := newModel(asked("a", "b", "c"), "", func() time.Time { return noon })
	m.act = func(a act) tea.Cmd { done = append(done, a); return nil }
	press(m, "down", "enter", "y", "e", "s")
	// Another is asked and one is answered meanwhile: rows move.
	m.Update(seenMsg(asked("b", "c", "d")))
	press(m, "enter")
	if len(done) != 1 || done[0].answer == nil || done[0].answer.MessageID != "b" || done[0].answer.Response != "yes" {
		t.Errorf("done: %+v", done)
	}
	// It is answered by somebody else while the answer is written.
	m.Update(seenMsg(asked("b", "c")))
	press(m, "enter", "n", "o")
	m.Update(seenMsg(asked("c")))
	press(m, "enter", "p", "q")
	if len(done) != 1 {
		t.Errorf("an answer went to another question: %+v", *done[1].answer)
	}
	if m.mode != answering {
		t.Error("what was typed on was taken for commands")
	}
	if !strings.Contains(m.word, "no longer open") {
		t.Errorf("it says %q", m.word)
	}
}

func TestANumberIsOneOfTheChoicesIfThereAreSoMany(t *testing.T) {
	t.Parallel()
	s := asked("a")
	s.Questions[0].Choices = []string{"Keep it", "Drop it"}
	for typed, want := range map[string]c3po.AnswerInput{
		"2": {MessageID: "a", Choice: "Drop it"},
		"n": {MessageID: "a", Response: "n"},
	} {
		m := newModel(s, "", func() time.Time { return noon })
		var got c3po.AnswerInput
		m.act = func(a act) tea.Cmd { got = *a.answer; return nil }
		press(m, "enter", typed, "enter")
		if got != want {
			t.Errorf("%s is sent as %+v", typed, got)
		}
	}
	// A number that is no choice is nobody's words: it is asked for again.
	for _, typed := range []string{"3", "0", "01"} {
		m := newModel(s, "", func() time.Time { return noon })
		m.act = func(a act) tea.Cmd { t.Errorf("%s is sent as %+v", typed, *a.answer); return nil }
		press(m, "enter", typed, "enter")
		if !strings.Contains(m.word, "There is no choice "+typed) {
			t.Errorf("after %s it says %q", typed, m.word)
		}
	}
}

// A line that was meant for the shell is a row of keys here.
func TestAPastedLineChangesNothing(t *testing.T) {
	t.Parallel()
	m := newModel(full("x", 3), "", func() time.Time { return noon })
	m.act = func(a act) tea.Cmd { t.Errorf("it did %+v", a); return nil }
	for _, letter := range "2python deploy.py --yes xy" {
		press(m, string(letter))
	}
}

func TestAnAgentIsPausedOnceThatIsConfirmed(t *testing.T) {
	t.Parallel()
	m := newModel(Snapshot{Agents: []c3po.Agent{{ID: "api", Status: c3po.Online}}}, "", func() time.Time { return noon })
	var done []act
	m.act = func(a act) tea.Cmd { done = append(done, a); return nil }
	press(m, "2", "p", "enter", "p", "y")
	if len(done) > 0 || m.mode != listing {
		t.Errorf("without a Y it did %+v, mode %d", done, m.mode)
	}
	press(m, "p", "Y")
	if len(done) != 1 || done[0].pause == nil || done[0].pause.AgentID != "api" {
		t.Errorf("after a Y it did %+v", done)
	}
}

func TestWhoMayOnlyLookDoesNothing(t *testing.T) {
	t.Parallel()
	s := full("x", 2)
	s.ReadOnly = true
	m := newModel(s, "", func() time.Time { return noon })
	m.act = func(a act) tea.Cmd { t.Errorf("did %+v", a); return nil }
	press(m, "enter", "y", "enter", "p", "tab", "p")
	if m.mode != listing || !strings.Contains(m.word, "only look") {
		t.Errorf("mode %d, %q", m.mode, m.word)
	}
}

func TestTheFlowIsFollowedUntilARowOfItIsChosen(t *testing.T) {
	t.Parallel()
	m := newModel(full("x", 5), "", func() time.Time { return noon })
	event := func(seq int64) { m.Update(flowMsg{{Seq: seq, Kind: c3po.EventAccepted, At: noon}}) }
	event(100)
	if m.chosen[flow].row != 5 {
		t.Errorf("row %d", m.chosen[flow].row)
	}
	press(m, "3", "k")
	event(101)
	if m.chosen[flow].row != 4 {
		t.Errorf("the chosen row moved to %d", m.chosen[flow].row)
	}
	press(m, "G")
	event(102)
	if m.chosen[flow].row != 7 {
		t.Errorf("the end is not followed again: %d", m.chosen[flow].row)
	}
	for seq := range int64(2 * maxEvents) {
		event(200 + seq)
	}
	if n := len(m.seen.Events); n != maxEvents {
		t.Errorf("%d events are kept", n)
	}
}

func TestALineIsWrittenAsInATerminal(t *testing.T) {
	t.Parallel()
	var l line
	for _, k := range []tea.KeyPressMsg{
		{Text: "o"}, {Text: "n"}, {Text: "e"}, {Text: " "}, {Text: "x"}, {Code: tea.KeyBackspace}, {Text: "t"}, {Text: "w"}, {Text: "o"},
		{Code: tea.KeyHome}, {Code: tea.KeyDelete}, {Text: "O"}, {Code: tea.KeyRight}, {Code: tea.KeyRight}, {Code: tea.KeyLeft}, {Text: "n"},
	} {
		l.key(k)
	}
	if l.text() != "Onne two" {
		t.Errorf("%q", l.text())
	}
	l.key(tea.KeyPressMsg{Code: tea.KeyEnd})
	l.key(tea.KeyPressMsg{Code: 'w', Mod: tea.ModCtrl})
	if l.text() != "Onne " {
		t.Errorf("%q", l.text())
	}
}

func TestAStateThatIsNoLongerReadIsShownAsOld(t *testing.T) {
	t.Parallel()
	since, now := at(40*time.Second), noon
	s := Snapshot{Agents: []c3po.Agent{{ID: "api", Status: c3po.Online, State: c3po.SessionIdle, StateSince: &since, Reachability: c3po.ReachNow, LastSeen: since}}}
	m := newModel(s, "http://here", func() time.Time { return now })
	shows := func(want string) {
		t.Helper()
		m.mode = listing
		list := ansi.Strip(strings.Join(m.screen(), "\n"))
		m.mode = reading
		if one := ansi.Strip(strings.Join(m.screen(), "\n")); !strings.Contains(list, want+" ") || !strings.Contains(one, want) {
			t.Errorf("%q is not in the list or not in the row:\n%s\n%s", want, list, one)
		}
	}
	shows("idle for 40 s")
	now = noon.Add(5 * time.Second)
	shows("idle for 40 s") // nobody has said that it still is
	now = noon.Add(3 * time.Minute)
	m.link(true)
	shows("idle 3 min ago")
	m.Update(seenMsg(s))
	shows("idle for 3 min")
}

func TestLongNamesThatDifferAtTheEndAreToldApart(t *testing.T) {
	t.Parallel()
	var s Snapshot
	for _, end := range []string{"north", "south"} {
		id := c3po.AgentID("nas/collector-of-everything-there-is-in-the-house-" + end)
		s.Agents = append(s.Agents, c3po.Agent{ID: id, Status: c3po.Online, LastSeen: noon})
	}
	m := newModel(s, "http://here", func() time.Time { return noon })
	screen := ansi.Strip(strings.Join(m.screen(), "\n"))
	for _, end := range []string{"north", "south"} {
		if n := strings.Count(screen, "nas/colle"); n != 2 || strings.Count(screen, "-"+end+" ") != 1 {
			t.Errorf("%s is not told apart, of %d names:\n%s", end, n, screen)
		}
	}
}
