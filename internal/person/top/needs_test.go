package top

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/c3po-dev/c3po/c3po"
)

// question is one that was asked so long ago.
func question(id string, ago time.Duration) Question {
	return Question{ID: c3po.MessageID(id), From: c3po.AgentID(id), At: at(ago)}
}

// Attack: an agent with many requests that expire soon hides another agent's
func TestAnAgentThatAsksOftenHidesNobody(t *testing.T) {
	t.Parallel()
	s := Snapshot{Questions: []Question{question("quiet", time.Hour)}}
	for range 20 {
		loud := question("loud", time.Minute)
		loud.Deadline = noon.Add(time.Second)
		s.Questions = append(s.Questions, loud)
	}
	s.arrange(c3po.Stuck{})
	if len(s.Questions) != 21 || s.Questions[firstOfEach].From != "quiet" {
		t.Errorf("the order is %+v", s.Questions)
	}
}

func TestWhatNeedsThePersonIsInTheOrderOfTheDashboard(t *testing.T) {
	t.Parallel()
	due := func(q Question, in time.Duration) Question { q.Deadline = noon.Add(in); return q }
	informs := question("informs", 9*time.Hour)
	informs.Informs = true
	s := Snapshot{Questions: []Question{
		informs, question("old", 5*time.Hour), question("blocks", time.Hour), due(question("later", time.Hour), time.Hour),
		due(question("overdue", time.Minute), -time.Minute), due(question("soon", time.Minute), time.Minute),
	}}
	wait := func(from, to string, depth, behind int) c3po.Wait {
		return c3po.Wait{ID: c3po.MessageID(from), FromAgent: c3po.AgentID(from), ToAgent: c3po.AgentID(to), Depth: depth, Behind: behind, State: c3po.TicketPending}
	}
	s.arrange(c3po.Stuck{HoldUps: []c3po.HoldUp{{Agent: c3po.Human, Behind: 3, Waits: []c3po.Wait{
		wait("blocks", "human", 1, 2), wait("docs", "blocks", 2, 1), wait("web", "docs", 3, 0), wait("old", "human", 1, 0),
	}}}})
	var order []string
	for _, q := range s.Questions {
		order = append(order, string(q.ID))
	}
	if got, want := strings.Join(order, " "), "overdue soon later blocks old informs"; got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
	if got, want := s.stateOfThings(noon), "5 need you, 1 overdue; answering blocks frees 2 agents"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	m := newModel(s, "", func() time.Time { return noon })
	screen := ansi.Strip(strings.Join(m.screen(), "\n"))
	for _, row := range []string{"overdue              1m     overdue 1m", "blocks               1h     -           2", "  informs              9h     FYI"} {
		if !strings.Contains(screen, row) {
			t.Errorf("%q is not on the screen:\n%s", row, screen)
		}
	}
}

func TestNobodyWaitsIsSaidOfAnEmptyHouse(t *testing.T) {
	t.Parallel()
	s := Snapshot{Questions: []Question{{ID: "a", Informs: true}}}
	if got := s.stateOfThings(noon); got != "nobody waits for you" {
		t.Errorf("it says %q", got)
	}
}

func TestAListThatDoesNotFitSaysHowManyRowsItHas(t *testing.T) {
	t.Parallel()
	m := newModel(full("x", 9), "", func() time.Time { return noon })
	screen := ansi.Strip(strings.Join(m.screen(), "\n"))
	for _, title := range []string{"Questions  5 of 9 ", "Agents 5 of 9 "} {
		if !strings.Contains(screen, title) {
			t.Errorf("%q does not say that rows are hidden:\n%s", title, screen)
		}
	}
}
