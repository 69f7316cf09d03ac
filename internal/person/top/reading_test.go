package top

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/c3po-dev/c3po/c3po"
)

func shown(m *model) string { return ansi.Strip(strings.Join(m.screen(), "\n")) }

// two is a snapshot with two agents, one of which waits for the other.
func two() Snapshot {
	return Snapshot{
		Agents: []c3po.Agent{{ID: "api", CurrentTask: "Tokens"}, {ID: "web"}},
		Waits:  []Wait{{Depth: 1, Ticket: c3po.Ticket{ID: "api::web::1", FromAgent: "api", ToAgent: "web", Thread: "t", State: c3po.TicketPending}}},
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
	press(m, "3", "down", "w", "h", "q", "enter")
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
	press(m, "3", "w")
	if m.mode != listing {
		t.Error("who may only look writes")
	}
}

func TestATicketShowsWhatWasAsked(t *testing.T) {
	t.Parallel()
	m := newModel(two(), "", func() time.Time { return noon })
	var sought lookup
	m.find = func(l lookup) tea.Cmd { sought = l; return nil }
	press(m, "2", "enter")
	if sought != (lookup{thread: "t"}) {
		t.Fatalf("it looks for %+v", sought)
	}
	m.Update(foundMsg{of: lookup{thread: "other"}, texts: []c3po.Message{{FromAgent: "x", Message: "of another"}}})
	m.Update(foundMsg{of: sought, texts: []c3po.Message{{FromAgent: "api", ToAgent: "web", Timestamp: at(time.Minute), Message: "Which port?"}}})
	if screen := shown(m); !strings.Contains(screen, "api → web, 1m ago") || !strings.Contains(screen, "│ Which port?") || strings.Contains(screen, "of another") {
		t.Errorf("it shows:\n%s", screen)
	}
	// It is answered meanwhile, and another takes its place.
	s := two()
	s.Waits[0].ID = "api::web::2"
	m.Update(seenMsg(s))
	if screen := shown(m); !strings.Contains(screen, "no longer in the list") || !strings.Contains(screen, "│ Which port?") {
		t.Errorf("it shows:\n%s", screen)
	}
}

func TestRoomsAndDeadLettersAreReadWhenTheyAreLookedAt(t *testing.T) {
	t.Parallel()
	m := newModel(two(), "", func() time.Time { return noon })
	var sought []lookup
	m.find = func(l lookup) tea.Cmd { sought = append(sought, l); return nil }
	press(m, "5")
	m.Update(foundMsg{of: lookup{list: rooms}, rooms: []c3po.Room{{Room: "build", Visibility: c3po.Public, Creator: "api", Members: 2, Posts: 7}}})
	if screen := shown(m); !strings.Contains(screen, "build                public      2       7      api") || strings.Contains(screen, "Agents ") {
		t.Errorf("it shows:\n%s", screen)
	}
	press(m, "enter")
	m.Update(tea.KeyPressMsg{Code: tea.KeyEscape})
	press(m, "6")
	m.Update(foundMsg{of: lookup{list: letters}, letters: []c3po.Letter{{ID: "api::web::3", FromAgent: "api", ToAgent: "web", Reason: "expired", DiedAt: at(time.Hour)}}})
	if screen := shown(m); !strings.Contains(screen, "api                web                1h     expired") {
		t.Errorf("it shows:\n%s", screen)
	}
	press(m, "enter")
	want := []lookup{{list: rooms}, {room: "build"}, {list: letters}, {letter: "api::web::3"}}
	if len(sought) != len(want) {
		t.Fatalf("it looked for %+v", sought)
	}
	for i := range want {
		if sought[i] != want[i] {
			t.Errorf("look-up %d is %+v, want %+v", i, sought[i], want[i])
		}
	}
	m.Update(seenMsg(two()))
	if len(sought) != len(want) {
		t.Error("the list is read while a row of it is")
	}
}

func TestTheLeaseOfTheChosenFileIsEndedAndNoOther(t *testing.T) {
	t.Parallel()
	edited := func(number int64, path string, by c3po.AgentID) c3po.Lease {
		return c3po.Lease{Number: number, Repository: "app-1", Path: path, Holder: by, Since: at(time.Hour), Edited: at(time.Minute)}
	}
	s := two()
	s.Leases = []c3po.Lease{edited(3, "a.go", "api"), edited(2, "b.go", "web"), edited(1, "c.go", "api")}
	var done []act
	m := newModel(s, "", func() time.Time { return noon })
	m.act = func(a act) tea.Cmd { done = append(done, a); return nil }
	press(m, "3", "x")
	if len(done) != 0 || !strings.Contains(shown(m), "Choose a file first") {
		t.Fatalf("in another list: %+v\n%s", done, shown(m))
	}
	press(m, "7", "down")
	if footer := m.footer(); !strings.Contains(footer, "x end lease") {
		t.Errorf("the keys are %q", footer)
	}
	press(m, "x", "Y")
	press(m, "/", "c", ".", "g", "o", "enter", "7", "x", "Y") // what a filter leaves is chosen among
	var ended []int64
	for _, a := range done {
		if a.free != nil {
			ended = append(ended, a.free.Number)
		}
	}
	if !slices.Equal(ended, []int64{2, 1}) {
		t.Errorf("ended: %v", ended)
	}
	s.ReadOnly = true
	m = newModel(s, "", func() time.Time { return noon })
	m.act = func(a act) tea.Cmd { done = append(done, a); return nil }
	press(m, "7")
	if footer := m.footer(); strings.Contains(footer, "x end lease") {
		t.Errorf("the keys for who may only look are %q", footer)
	}
	press(m, "x", "Y")
	if len(done) != len(ended) {
		t.Errorf("who may only look ends a lease: %+v", done)
	}
}
