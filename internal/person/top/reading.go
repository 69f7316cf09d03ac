package top

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// wrapped is a text of others in lines that fit, each behind a gutter.
func (m *model) wrapped(text string) (lines []string) { return m.fitted(sanitise.Lines(text)) }

func (m *model) fitted(paragraphs []string) (lines []string) {
	for _, paragraph := range paragraphs {
		paragraph = strings.ReplaceAll(paragraph, "\t", "    ")
		for part := range strings.SplitSeq(ansi.Wrap(paragraph, max(1, m.width-4), ""), "\n") {
			lines = append(lines, faint().of("│ ")+part)
		}
	}
	return lines
}

// filtered keeps the rows that contain what is looked for.
func (s Snapshot) filtered(text string) Snapshot {
	text = strings.ToLower(text)
	has := func(words ...string) bool { return strings.Contains(strings.ToLower(strings.Join(words, "\n")), text) }
	s.Questions = kept(s.Questions, func(q Question) bool { return has(string(q.From), q.Text, q.Why) })
	s.Agents = kept(s.Agents, func(a c3po.Agent) bool { return has(string(a.ID), a.CurrentTask, a.Host, a.Cwd) })
	s.Events = kept(s.Events, func(e c3po.Event) bool { return has(string(e.ID), string(e.Agent), string(e.Room), string(e.Kind)) })
	return s
}

func kept[Row any](rows []Row, wanted func(Row) bool) []Row {
	var some []Row
	for _, row := range rows {
		if wanted(row) {
			some = append(some, row)
		}
	}
	return some
}
