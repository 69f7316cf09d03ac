package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// Show prints a result: as JSON if that was asked for, else as print writes it.
func (a *Console) Show(result any, print func(io.Writer)) error {
	if a.JSON {
		if list, ok := result.(c3po.Listing); ok {
			result = list.Rows()
		}
		return writeJSON(a.Stdout, result)
	}
	print(a.Stdout)
	return nil
}

// Narrate runs what tells step by step what it does. As JSON it is told when all
// is done.
func (a *Console) Narrate(do func(out io.Writer) error) error {
	if !a.JSON {
		return do(a.Stdout)
	}
	var told bytes.Buffer
	if err := do(&told); err != nil {
		return err
	}
	return writeJSON(a.Stdout, map[string][]string{"steps": strings.Split(strings.TrimSpace(told.String()), "\n")})
}

func writeJSON(w io.Writer, v any) error {
	var data bytes.Buffer
	e := json.NewEncoder(&data)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(sanitise.JSON(data.Bytes()))
	return err
}

// Ago says when something was in the words a person uses.
func Ago(now, then time.Time) string { return c3po.Ago(now, then) }

// PrintMessage writes one message: a line of facts, then what its sender wrote.
func PrintMessage(w io.Writer, now time.Time, m c3po.Message) {
	facts := []string{Ago(now, m.Timestamp)}
	if m.Priority == c3po.Urgent {
		facts = append(facts, "urgent")
	}
	if m.Kind == c3po.KindReply && m.Status != "" {
		facts = append(facts, Inline(m.Status))
	}
	if m.HandedTo != "" {
		facts = append(facts, "handed to "+Inline(string(m.HandedTo)))
	}
	if queue := m.ToAgent.Queue(); queue != "" {
		facts = append(facts, "for the role "+Inline(queue))
	}
	if m.Claim != nil {
		facts = append(facts, "claimed by "+Inline(string(m.Claim.By)))
	}
	if m.ExpectsReply {
		facts = append(facts, "expects an answer")
	}
	if !m.Deadline.IsZero() {
		facts = append(facts, waitText(now, m.Deadline))
	}
	if m.Redelivered {
		facts = append(facts, "shown before")
	}
	kind := string(m.Kind)
	if kind == "" {
		kind = string(c3po.KindMessage)
	}
	switch m.Kind {
	case c3po.KindApproval:
		kind = "request for permission"
	case c3po.KindEscalation:
		kind = "question"
	}
	what := Inline(kind) + " from " + Inline(string(m.FromAgent))
	if m.Room != "" && m.Room != c3po.Everybody {
		what += " in " + Inline(string(m.Room))
	}
	if m.Kind == c3po.KindReply && m.MessageID != "" {
		what += " to " + Inline(string(m.MessageID))
	}
	fmt.Fprintf(w, "%s  %s, %s\n", Inline(string(m.ID)), what, strings.Join(facts, ", "))
	if m.BodyGone {
		fmt.Fprintln(w, "  (the text is no longer kept)")
		return
	}
	if m.Kind == c3po.KindApproval {
		ExactBlock(w, m.Text())
	} else {
		Block(w, m.Text())
	}
	if m.Context != "" {
		fmt.Fprintln(w, "  context:")
		Block(w, m.Context)
	}
	if m.Handover != nil {
		fmt.Fprintf(w, "  %s handed it over, saying:\n", Inline(string(m.HandedFrom)))
		Block(w, m.Handover.Response)
		if len(m.Handover.Metadata) > 0 {
			Block(w, string(m.Handover.Metadata))
		}
	}
	for _, file := range m.Attachments {
		fmt.Fprintf(w, "  file %s, %s\n", FileName(file.Name), FileFacts(file))
	}
	for i, choice := range m.Choices {
		fmt.Fprintf(w, "  %d. %s\n", i+1, Inline(choice))
	}
}

// FileName is the name of a file in a line with facts: in quotes, so that no name can
// pass for one of them.
func FileName(name string) string { return strconv.Quote(Inline(name)) }

// FileFacts are what is known of a file beside its name.
func FileFacts(file c3po.Attachment) string {
	facts := fmt.Sprintf("%d bytes", file.Size)
	if file.Type != "" {
		facts += ", " + Inline(file.Type)
	}
	return facts + ", sha256 " + Inline(file.SHA256)
}

// waitText says how long somebody waits for an answer, as it looks now.
func waitText(now, deadline time.Time) string {
	left := deadline.Sub(now)
	switch {
	case left <= 0:
		return "overdue"
	case left < time.Minute:
		return fmt.Sprintf("within %d s", (left+time.Second-1)/time.Second)
	case left <= 90*time.Minute:
		return fmt.Sprintf("within %d min", (left+time.Minute-1)/time.Minute)
	default:
		return fmt.Sprintf("within %d h", (left+time.Hour-1)/time.Hour)
	}
}

func PrintMessages(w io.Writer, messages []c3po.Message) {
	now := time.Now()
	for _, m := range messages {
		PrintMessage(w, now, m)
	}
}

func Worth(d c3po.Durability) string {
	switch d {
	case c3po.OnDisk:
		return "on disk"
	case c3po.InMemory:
		return "in memory only: a power cut would lose it"
	default:
		return Inline(string(d))
	}
}

// Pages reads pages until there are limit rows or no more.
func Pages[Row any](limit int, read func(cursor string, limit int) (rows []Row, next string, err error)) ([]Row, bool, error) {
	all := []Row{}
	cursor := ""
	for {
		rows, next, err := read(cursor, min(limit-len(all), 1000))
		if err != nil {
			return nil, false, err
		}
		all = append(all, rows...)
		if next == "" || len(all) >= limit {
			return all, next != "", nil
		}
		cursor = next
	}
}

// More says on stderr that there are more rows, so that what reads stdout is
// not disturbed.
func (a *Console) More(there bool, what string) {
	if there {
		fmt.Fprintf(a.Stderr, "hint: There are more %s. Show them with a greater --limit.\n", what)
	}
}

// PrintNotice shows what went wrong after the deed itself.
func PrintNotice(w io.Writer, notice string) {
	if notice != "" {
		fmt.Fprintln(w, Inline(ForPeople(notice)))
	}
}

// Paused says that an agent is, and why if a reason was given, to the person who reads it.
func Paused(reason string) string {
	switch reason {
	case c3po.PausedForHuman:
		return "paused: waits for you"
	case c3po.PausedByPerson:
		return "paused"
	default:
		return "paused: " + Inline(reason)
	}
}

// PasskeysEnd warns that all passkeys are about to be forgotten, and says what ends that;
// nothing if nobody asked for it.
func PasskeysEnd(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return "All your passkeys are forgotten at " + at.Local().Format("15:04") + ", unless you use one before: c3po open"
}

// TicketState is the word for how far a question has come.
func TicketState(state c3po.TicketState) string {
	switch state {
	case c3po.TicketDelivered:
		return "served"
	case c3po.TicketResponded:
		return "answered"
	case c3po.TicketTimedOut:
		return "timed out"
	default:
		return Inline(string(state))
	}
}

// Name is whom a message is for, as it is typed: an agent, or role:NAME.
func Name(id c3po.AgentID) string {
	if queue := id.Queue(); queue != "" {
		return "role:" + Inline(queue)
	}
	return Inline(string(id))
}

// CountOf is a number of things in words.
func CountOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
