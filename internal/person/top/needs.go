package top

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// arrange puts what the person is asked in order, and counts who waits behind each asker.
func (s *Snapshot) arrange(stuck c3po.Stuck) {
	behind := map[c3po.MessageID]int{}
	for _, h := range stuck.HoldUps {
		for _, w := range h.Waits {
			if w.ToAgent == c3po.Human {
				behind[w.ID] = w.Behind
				s.addQuestion(w)
			}
		}
	}
	for i := range s.Questions {
		s.Questions[i].Frees = behind[s.Questions[i].ID]
	}
	s.Questions = SortByUrgency(s.Questions, func(q Question) Question { return q })
}

// firstOfEach is how many questions of one agent come before the questions of others.
const firstOfEach = 3

// SortByUrgency orders what the person is asked, the same on every screen: questions by
// deadline, by how many agents they free and by age, and then what only informs. An agent
// with many questions hides nobody: its fourth comes after the first three of all others.
func SortByUrgency[Row any](rows []Row, question func(Row) Question) []Row {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(x, y Row) int {
		a, b := question(x), question(y)
		return cmp.Or(a.due().Compare(b.due()), cmp.Compare(b.Frees, a.Frees), a.At.Compare(b.At))
	})
	asked := map[c3po.AgentID]int{}
	var first, further, informing []Row
	for _, row := range rows {
		q := question(row)
		asked[q.From]++
		switch {
		case q.Informs:
			informing = append(informing, row)
		case asked[q.From] > firstOfEach:
			further = append(further, row)
		default:
			first = append(first, row)
		}
	}
	return slices.Concat(first, further, informing)
}

// addQuestion is for those who may not read what the person is asked: tickets that are
// overdue are not among the open ones.
func (s *Snapshot) addQuestion(w c3po.Wait) {
	if s.ReadOnly && !slices.ContainsFunc(s.Questions, func(q Question) bool { return q.ID == w.ID }) {
		s.Questions = append(s.Questions, Question{ID: w.ID, From: w.FromAgent, At: w.Since, Deadline: w.Deadline})
	}
}

// due is far away for what has no deadline.
func (q Question) due() time.Time {
	if q.Deadline.IsZero() {
		return time.Unix(1<<40, 0)
	}
	return q.Deadline
}

// stateOfThings is how things stand in one sentence, in the words of the dashboard.
func (s *Snapshot) stateOfThings(now time.Time) string {
	you := "you"
	if s.ReadOnly {
		you = "the person"
	}
	n, overdue := 0, 0
	var most Question
	for _, q := range s.Questions {
		if q.Informs {
			continue
		}
		n++
		if !q.Deadline.IsZero() && !q.Deadline.After(now) {
			overdue++
		}
		if q.Frees > most.Frees {
			most = q
		}
	}
	if n == 0 {
		return "nobody waits for " + you
	}
	text := fmt.Sprintf("%d %s %s", n, plural(n, "needs", "need"), you)
	if overdue > 0 {
		text += fmt.Sprintf(", %d overdue", overdue)
	}
	if most.Frees > 0 {
		text += fmt.Sprintf("; answering %s frees %d %s", inline(string(most.From)), most.Frees, plural(most.Frees, "agent", "agents"))
	}
	return text
}
