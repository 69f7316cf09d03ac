package top

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/c3po-dev/c3po/c3po"
)

func shown(m *model) string { return ansi.Strip(strings.Join(m.screen(), "\n")) }

// two is a snapshot with two agents and an event of one.
func two() Snapshot {
	return Snapshot{
		Agents: []c3po.Agent{{ID: "api", CurrentTask: "Tokens"}, {ID: "web"}},
		Events: []c3po.Event{{Seq: 1, Kind: c3po.EventRegistered, Agent: "web"}},
	}
}

func TestAFilterShowsOnlyRowsThatContainIt(t *testing.T) {
	t.Parallel()
	m := newModel(two(), "", func() time.Time { return noon })
	press(m, "/", "t", "o", "k")
	if screen := shown(m); !strings.Contains(screen, "1 of 2") || !strings.Contains(screen, "no row contains “tok”") || strings.Contains(screen, "  web  ") {
		t.Errorf("the filter lets through:\n%s", screen)
	}
	press(m, "enter")
	m.Update(seenMsg(two())) // it stays when the lists are read again
	if n := m.rows(agents); n != 1 {
		t.Errorf("%d agents are listed", n)
	}
	if !strings.Contains(m.summary(), "of 2 agents") {
		t.Errorf("the summary counts what is shown: %s", m.summary())
	}
	m.Update(tea.KeyPressMsg{Code: tea.KeyEscape})
	if n := m.rows(agents); n != 2 {
		t.Errorf("%d agents are listed without a filter", n)
	}
}

func TestAMessageGoesToTheAgentThatWasChosen(t *testing.T) {
	t.Parallel()
	var done []act
	m := newModel(two(), "", func() time.Time { return noon })
	m.act = func(a act) tea.Cmd { done = append(done, a); return nil }
	press(m, "2", "down", "w", "h", "q", "enter")
	if len(done) != 1 || done[0].send == nil || done[0].send.Target != "web" || done[0].send.Message != "hq" {
		t.Fatalf("done: %+v", done)
	}
	press(m, "w", "enter")
	if len(done) != 1 || m.mode != writing {
		t.Errorf("an empty message: %+v, mode %d", done, m.mode)
	}
	s := two()
	s.ReadOnly = true
	m = newModel(s, "", func() time.Time { return noon })
	press(m, "2", "w")
	if m.mode != listing {
		t.Error("who may only look writes")
	}
}
