package a2a

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
)

const (
	// patience is how long a call waits for the answer of an agent that is online.
	// An agent that is away may take days, so nobody waits for it in a call.
	patience = 45 * time.Second

	defaultPage = 50
	maxPage     = 100
	// maxListed is how many of a caller's latest tasks are listed at all.
	maxListed = 1000
)

// send stores a message as a ticket, and answers with the task it is.
func (e *exchange) send(target string, params json.RawMessage, stream bool) {
	in, send, wrong := parseSend(e.v, e.caller, params)
	if wrong == nil {
		send.Target, wrong = addressed(target, in.Tenant)
	}
	if wrong != nil {
		e.refuse(wrong)
		return
	}
	if in.Message.TaskID != "" {
		e.sendMore(in, send, stream)
		return
	}
	if _, err := parseTarget(send.Target); err != nil {
		e.refuse(err)
		return
	}
	receipt, err := operate[c3po.Receipt](e, "send_message", send)
	if err != nil {
		e.refuse(err)
		return
	}
	e.show(receipt.ID, in.Configuration, stream, receipt.Recipient != c3po.Offline)
}

// sendMore sends a message that belongs to a task. It goes to the agent that has the task,
// and a reply to it is the answer to the task.
func (e *exchange) sendMore(in sendParams, send c3po.SendInput, stream bool) {
	var wrong *fault
	t, err := e.progress(e.r.Context(), in.Message.TaskID)
	switch {
	case err != nil:
		e.refuse(err)
		return
	case in.Message.ContextID != "" && in.Message.ContextID != contextOf(t.Question):
		e.refuse(badParams("the task is of another context", "Leave contextId out, or give the one of the task."))
		return
	case t.state.terminal():
		e.refuse(&fault{code: codeUnsupported, message: "the task has ended", suggestion: "Send the message without a taskId, in the same context."})
		return
	}
	if send.Metadata, wrong = withNames(send.Metadata, map[string]string{contextKeyName: contextOf(t.Question), hub.AddsTo: t.id()}); wrong != nil {
		e.refuse(wrong)
		return
	}
	expectsReply := false
	send.ExpectsReply, send.Thread = &expectsReply, t.Ticket.Thread
	send.Target = string(cmp.Or(t.Holder, t.Ticket.ToAgent))
	if queue := c3po.AgentID(send.Target).Queue(); queue != "" {
		send.Target = "role:" + queue
	}
	receipt, err := operate[c3po.Receipt](e, "send_message", send)
	if err != nil {
		e.refuse(err)
		return
	}
	e.show(t.Ticket.ID, in.Configuration, stream, receipt.Recipient != c3po.Offline)
}

// show answers with a task: as it goes on, or once it is settled, or as it is.
func (e *exchange) show(id c3po.MessageID, wishes sendWishes, stream, reachable bool) {
	if stream {
		e.stream(id)
		return
	}
	history := -1
	if wishes.HistoryLength != nil {
		history = *wishes.HistoryLength
	}
	var t task
	var err error
	if reachable && !wishes.atOnce() {
		t, err = e.settled(id, patience)
	} else {
		t, err = e.progress(e.r.Context(), string(id))
	}
	if err != nil {
		e.refuse(err)
		return
	}
	e.give(t, history, func(shown wireTask) any { return e.v.wrap("task", shown) })
}

// give answers with a task, wrapped as the method has it.
func (e *exchange) give(t task, history int, wrapped func(shown wireTask) any) {
	shown, err := e.render(t, history, true)
	if err != nil {
		e.refuse(err)
		return
	}
	if e.answer(wrapped(shown)) {
		e.taken(t)
	}
}

// bare is a task that is the whole answer.
func bare(shown wireTask) any { return shown }

type taskParams struct {
	ID            string `json:"id"`
	HistoryLength *int   `json:"historyLength"`
}

func (e *exchange) get(params json.RawMessage) {
	in, wrong := decode[taskParams](params)
	if wrong != nil {
		e.refuse(wrong)
		return
	}
	t, err := e.progress(e.r.Context(), in.ID)
	if err != nil {
		e.refuse(err)
		return
	}
	history := -1
	if in.HistoryLength != nil {
		history = *in.HistoryLength
	}
	e.give(t, history, bare)
}

func (e *exchange) cancel(params json.RawMessage) {
	in, wrong := decode[taskParams](params)
	if wrong != nil {
		e.refuse(wrong)
		return
	}
	t, err := e.progress(e.r.Context(), in.ID)
	if err == nil && t.state.terminal() && t.state != canceled {
		err = notCancelable()
	}
	var done c3po.CancelResult
	if err == nil {
		done, err = operate[c3po.CancelResult](e, "cancel", c3po.MessageInput{MessageID: t.Ticket.ID})
	}
	switch done.Outcome {
	case c3po.CancelAnswered, c3po.CancelEnded:
		err = notCancelable()
	case c3po.CancelUnknown, c3po.CancelNotYours:
		err = noTask()
	}
	if err == nil {
		t, err = e.progress(e.r.Context(), in.ID)
	}
	if err != nil {
		e.refuse(err)
		return
	}
	e.give(t, -1, bare)
}

func notCancelable() *fault {
	return &fault{code: codeNotCancel, message: "the task has ended", suggestion: "Ask for it to see how."}
}

type listParams struct {
	Tenant        string    `json:"tenant"`
	ContextID     string    `json:"contextId"`
	Status        string    `json:"status"`
	PageSize      int       `json:"pageSize"`
	PageToken     string    `json:"pageToken"`
	HistoryLength *int      `json:"historyLength"`
	After         time.Time `json:"statusTimestampAfter"`
	Artifacts     bool      `json:"includeArtifacts"`
}

type taskPage struct {
	Tasks         []wireTask `json:"tasks"`
	NextPageToken string     `json:"nextPageToken"`
	PageSize      int        `json:"pageSize"`
	TotalSize     int        `json:"totalSize"`
}

// list answers with the tasks of the caller, those that changed last first.
func (e *exchange) list(target string, params json.RawMessage) {
	in, wrong := decode[listParams](params)
	if wrong == nil && (in.PageSize < 0 || in.PageSize > maxPage) {
		wrong = badParams("pageSize is not between 1 and 100", "Leave it out for 50.")
	}
	if in.Status == e.v.named("unspecified") {
		in.Status = ""
	}
	if wrong == nil && in.Status != "" && !e.v.hasState(in.Status) {
		wrong = badParams("status is not a state of a task", "For example "+e.v.state(completed)+".")
	}
	if wrong != nil {
		e.refuse(wrong)
		return
	}
	target = cmp.Or(target, in.Tenant)
	all, err := e.tasks(target, in)
	if err == nil && target != "" && len(all) == 0 {
		// Tasks outlive their agent, so only who has none needs to be there.
		if _, err = e.cardOf(target); !errors.Is(err, c3po.AgentNotFound) && !errors.Is(err, c3po.InvalidRequest) {
			err = nil
		}
	}
	if err != nil {
		e.refuse(err)
		return
	}
	slices.SortFunc(all, func(a, b task) int { return placeIn(a).compare(placeIn(b)) })
	page := taskPage{Tasks: []wireTask{}, PageSize: cmp.Or(in.PageSize, defaultPage), TotalSize: len(all)}
	from := 0
	if in.PageToken != "" {
		last, known := parsePlace(in.PageToken)
		if !known {
			e.refuse(badParams("this pageToken came from no list", "Use the nextPageToken of the page before."))
			return
		}
		if from = slices.IndexFunc(all, func(t task) bool { return last.compare(placeIn(t)) < 0 }); from < 0 {
			from = len(all)
		}
	}
	var shown []task
	for _, t := range all[from:min(from+page.PageSize, len(all))] {
		history := 0
		if in.HistoryLength != nil {
			history = *in.HistoryLength
		}
		var row wireTask
		whole, err := e.progress(e.r.Context(), string(t.Ticket.ID))
		if err == nil {
			row, err = e.render(whole, history, in.Artifacts)
		}
		if err != nil {
			e.refuse(err)
			return
		}
		page.Tasks = append(page.Tasks, row)
		shown = append(shown, whole)
	}
	if end := from + len(shown); end < len(all) {
		page.NextPageToken = placeIn(all[end-1]).token()
	}
	if e.answer(page) && in.Artifacts {
		for _, t := range shown {
			e.taken(t)
		}
	}
}

// A listPlace is where a task stands in a list. It stays a place when the task changes and
// stands elsewhere, so that a page goes on after it.
type listPlace struct{ at, seq int64 }

func placeIn(t task) listPlace { return listPlace{t.at.UnixNano(), t.Ticket.Seq} }

// compare puts those that changed last first.
func (p listPlace) compare(other listPlace) int {
	return cmp.Or(cmp.Compare(other.at, p.at), cmp.Compare(other.seq, p.seq))
}

func (p listPlace) token() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %d", p.at, p.seq))
}

func parsePlace(token string) (p listPlace, known bool) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		_, err = fmt.Sscanf(string(text), "%d %d", &p.at, &p.seq)
	}
	return p, err == nil
}

// tasks are the latest questions of the caller that a list asks for.
func (e *exchange) tasks(target string, in listParams) ([]task, error) {
	query := c3po.TicketsInput{Which: c3po.TicketsAsked, Limit: maxPage}
	if e.actor.Role() == c3po.RoleObserver {
		query.Which = c3po.TicketsAll
	}
	wanted := func(c3po.Ticket) bool { return true }
	if target != "" {
		to, err := c3po.ParseTarget(target)
		if err != nil {
			return nil, err
		}
		now, err := e.actor.CalledNow(e.r.Context(), to)
		if err != nil {
			return nil, err
		}
		wanted = func(t c3po.Ticket) bool { return ofTarget(t, to) || now != "" && ofTarget(t, now) }
	}
	var all []task
	for len(all) < maxListed {
		list, err := operate[c3po.TicketList](e, "tickets", query)
		if err != nil {
			return nil, err
		}
		for _, ticket := range list.Tickets {
			t := taskOf(hub.Progress{Ticket: ticket})
			if !wanted(ticket) {
				continue
			}
			if in.Status != "" || in.ContextID != "" {
				// What was said, and whom its agent asks, the ticket alone does not tell.
				if t, err = e.progress(e.r.Context(), string(ticket.ID)); err != nil {
					return nil, err
				}
			}
			if t.at.Before(in.After) || in.ContextID != "" && contextOf(t.Question) != in.ContextID || in.Status != "" && e.v.state(t.state) != in.Status {
				continue
			}
			all = append(all, t)
		}
		if query.Cursor = list.Next; query.Cursor == "" {
			break
		}
	}
	return all, nil
}
