package top

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// maxTexts is how many messages of a conversation or a room are shown in full.
const maxTexts = 50

// A look-up reads what the lists do not hold: rooms, dead letters and leases when their list is
// looked at, and texts when a row is.
type lookup struct {
	list   panel // rooms, letters or files
	thread string
	room   c3po.RoomName
	letter c3po.MessageID
}

// foundMsg is what a look-up brought.
type foundMsg struct {
	of      lookup
	rooms   []c3po.Room
	letters []c3po.Letter
	leases  []c3po.Lease
	texts   []c3po.Message
	err     error
}

func (l lookup) do(ctx context.Context, source Source) tea.Msg {
	found := foundMsg{of: l}
	switch {
	case l.thread != "":
		// The end of a conversation is what matters, and its pages begin at the other.
		for cursor := ""; found.err == nil; {
			var page c3po.MessageList
			page, found.err = source.GetThread(ctx, c3po.ThreadInput{Thread: l.thread, Cursor: cursor})
			found.texts = append(found.texts, page.Messages...)
			found.texts = found.texts[max(0, len(found.texts)-maxTexts):]
			if cursor = page.Next; cursor == "" {
				break
			}
		}
	case l.room != "":
		var page c3po.MessageList
		page, found.err = source.RoomHistory(ctx, c3po.RoomHistoryInput{Room: l.room, Limit: maxTexts})
		found.texts = page.Messages
	case l.letter != "":
		var view c3po.LetterView
		view, found.err = source.DeadLetter(ctx, c3po.MessageInput{MessageID: l.letter})
		found.texts = []c3po.Message{view.Message}
	case l.list == rooms:
		var page c3po.RoomList
		page, found.err = source.RoomList(ctx, c3po.RoomListInput{All: true, Limit: maxRows})
		found.rooms = page.Rooms
	case l.list == files:
		var page c3po.LeaseList
		page, found.err = source.LeaseList(ctx, c3po.LeaseListInput{})
		found.leases = page.Leases
	default:
		var page c3po.LetterList
		page, found.err = source.DeadLetters(ctx, c3po.LettersInput{Limit: maxRows})
		found.letters = page.Letters
		slices.Reverse(found.letters)
	}
	return found
}

// take shows what was found, if it is still looked at.
func (m *model) take(found foundMsg) {
	switch {
	case found.err != nil:
		m.showError(found.err)
	case found.of == m.sought:
		m.texts = found.texts
	case found.of == (lookup{list: rooms}):
		m.whole.rooms = found.rooms
	case found.of == (lookup{list: letters}):
		m.whole.letters = found.letters
	case found.of == (lookup{list: files}):
		m.whole.Leases = found.leases
	}
	m.settle()
}

// readList reads the list in front, if it is one that is not read all the time.
func (m *model) readList() tea.Cmd {
	if m.focus < rooms || m.find == nil {
		return nil
	}
	return m.find(lookup{list: m.focus})
}

// readRow reads the texts of the chosen row.
func (m *model) readRow() tea.Cmd {
	row := m.chosen[m.focus].row
	m.sought, m.texts, m.readOf = lookup{}, nil, m.chosen[m.focus].of
	switch m.focus {
	case waits:
		m.sought.thread = m.seen.Waits[row].Thread
	case rooms:
		m.sought.room = m.seen.rooms[row].Room
	case letters:
		m.sought.letter = m.seen.letters[row].ID
	}
	if m.sought == (lookup{}) || m.find == nil {
		return nil
	}
	return m.find(m.sought)
}

// textLines are the texts of the row, each behind a gutter.
func (m *model) textLines() (lines []string) {
	for _, msg := range m.texts {
		whom := ""
		if msg.ToAgent != "" {
			whom = faint().of(" → ") + m.whom(msg.ToAgent)
		}
		lines = append(lines, "", bold().of(inline(string(msg.FromAgent)))+whom+faint().of(", "+age(m.now(), msg.Timestamp)+" ago"))
		if msg.Kind == c3po.KindApproval {
			lines = append(lines, m.fitted(sanitise.Exact(msg.Text()))...)
		} else {
			lines = append(lines, m.wrapped(msg.Text())...)
		}
	}
	return lines
}

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

func (m *model) roomFacts(r c3po.Room) []string {
	return facts("Room "+inline(string(r.Room)), [2]string{"who sees it", inline(string(r.Visibility))}, [2]string{"made by", inline(string(r.Creator))},
		[2]string{"members", fmt.Sprint(r.Members)}, [2]string{"posts", fmt.Sprint(r.Posts)})
}

func (m *model) letterFacts(l c3po.Letter) []string {
	return append(facts("Dead letter "+inline(string(l.ID)), [2]string{"from", inline(string(l.FromAgent))}, [2]string{"to", m.whom(l.ToAgent)},
		[2]string{"reason", inline(l.Reason)}, [2]string{"sent", age(m.now(), l.SentAt) + " ago"}, [2]string{"died", age(m.now(), l.DiedAt) + " ago"}),
		"", faint().of("  Deliver it again: c3po dead-letter replay "+inline(string(l.ID))))
}

func (m *model) leaseFacts(l c3po.Lease) []string {
	return append(facts("File "+inline(l.Path), [2]string{"edited by", m.whom(l.Holder)}, [2]string{"task", inline(l.Task)}, [2]string{"repository", inline(l.Repository)},
		[2]string{"branch", inline(l.Branch)}, [2]string{"since", age(m.now(), l.Since) + " ago"}, [2]string{"last edit", age(m.now(), l.Edited) + " ago"},
		[2]string{"lease", strconv.FormatInt(l.Number, 10)}),
		"", faint().of("  x in the list ends the lease: another session can edit the file at once."))
}

// filtered keeps the rows that contain what is looked for.
func (s Snapshot) filtered(text string) Snapshot {
	text = strings.ToLower(text)
	has := func(words ...string) bool { return strings.Contains(strings.ToLower(strings.Join(words, "\n")), text) }
	s.Questions = kept(s.Questions, func(q Question) bool { return has(string(q.From), q.Text, q.Why) })
	s.Waits = kept(s.Waits, func(w Wait) bool { return has(string(w.FromAgent), string(w.ToAgent)) })
	s.Agents = kept(s.Agents, func(a c3po.Agent) bool { return has(string(a.ID), a.CurrentTask, a.Host, a.Cwd) })
	s.Events = kept(s.Events, func(e c3po.Event) bool { return has(string(e.ID), string(e.Agent), string(e.Room), string(e.Kind)) })
	s.rooms = kept(s.rooms, func(r c3po.Room) bool { return has(string(r.Room), string(r.Creator)) })
	s.letters = kept(s.letters, func(l c3po.Letter) bool { return has(string(l.FromAgent), string(l.ToAgent), l.Reason) })
	s.Leases = kept(s.Leases, func(l c3po.Lease) bool { return has(l.Path, string(l.Holder), l.Repository, l.Task) })
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
