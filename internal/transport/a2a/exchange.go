package a2a

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// An exchange is one request and its answer, in the version of its caller.
type exchange struct {
	*server
	w     http.ResponseWriter
	r     *http.Request
	v     version
	id    json.RawMessage // of the call
	actor *hub.Actor
	// caller is who the actor is.
	caller c3po.Caller
	at     string // the agent or queue that the request names; empty if it names none
}

// call does what a method is for. Target is the agent that the path names; empty at the
// path of the host, where 1.0 names it as the tenant.
func (e *exchange) call(m method, target string, req request) {
	named, _ := decode[struct {
		Tenant string `json:"tenant"`
	}](req.params) // what else is wrong with them the method says
	e.at = cmp.Or(target, named.Tenant)
	switch m {
	case sendMessage, streamMessage:
		e.send(target, req.params, m == streamMessage)
	case getTask:
		e.get(req.params)
	case listTasks:
		e.list(target, req.params)
	case cancelTask:
		e.cancel(req.params)
	case subscribe:
		e.resume(req.params)
	case pushConfig:
		e.refuse(noPush())
	case extendedCard:
		code := codeUnsupported
		if e.v == v03 {
			code = codeNoExtended
		}
		e.refuse(&fault{code: code, message: "there is no extended card", suggestion: "The card says all there is."})
	default:
		wrong := &fault{code: codeMethod, message: "there is no method " + c3po.Clip(req.method), suggestion: "See the card for the versions that are spoken here."}
		for _, other := range []version{v10, v03} {
			if methodNames[other][req.method] != "" {
				wrong.suggestion = "It is a method of " + string(other) + ": send the header " + versionHeader + ": " + string(other) + "."
			}
		}
		e.refuse(wrong)
	}
}

// introduce tells the caller who it was taken for.
func (e *exchange) introduce() {
	if e.actor != nil && e.actor.ID() != "" {
		e.w.Header().Set(c3po.ActedAsHeader, string(e.actor.ID()))
	}
}

// refuse answers a request that failed. A failure of ours is logged here and nowhere else.
func (e *exchange) refuse(err error) {
	if cause := context.Cause(e.r.Context()); errors.Is(cause, c3po.Unauthorized) {
		err = cause // the token was revoked while it was used
	}
	f := faultOf(err)
	e.introduce()
	if f.refusal != nil {
		auth.Challenge(e.w.Header(), f.refusal)
		if f.refusal.Code.Status() >= http.StatusInternalServerError && e.r.Context().Err() == nil {
			e.log.ErrorContext(e.r.Context(), "request failed", "method", e.r.Method, "route", e.r.Pattern,
				"code", f.refusal.Code, "err", f.refusal.Message, "cause", f.refusal.Unwrap())
		}
	}
	write(e.w, f.status(), reply{JSONRPC: "2.0", ID: e.id, Error: &rpcError{f.code, f.message, f.details(e.v)}})
}

// answer writes a result, and reports whether it went out.
func (e *exchange) answer(result any) bool {
	// Asked before it is written: a caller that hangs up right after its answer has it
	// all the same.
	gone := e.r.Context().Err() != nil
	e.introduce()
	return write(e.w, http.StatusOK, e.framed(result)) && !gone
}

// framed is a result as JSON-RPC carries it.
func (e *exchange) framed(result any) reply {
	return reply{JSONRPC: "2.0", ID: e.id, Result: result}
}

// operate runs an operation of the table, with all that goes with it: who may, proofs of
// a person, and the audit.
func operate[Out any](e *exchange, name string, in any) (Out, error) {
	var none Out
	op, err := dialect.FindOperation(name)
	if err != nil {
		return none, err
	}
	arguments, err := json.Marshal(in)
	if err != nil {
		return none, err
	}
	out, err := op.Call(e.r.Context(), e.actor, arguments)
	if err != nil {
		return none, err
	}
	return *out.(*Out), nil
}

// mayRead refuses a caller whose role may not ask how far a question has come.
func (e *exchange) mayRead() error {
	op, err := dialect.FindOperation("tickets")
	if err != nil {
		return err
	}
	return op.Check(e.actor.Role())
}

// progress is one task of the caller's.
func (e *exchange) progress(ctx context.Context, name string) (task, error) {
	if err := e.mayRead(); err != nil {
		return task{}, err
	}
	id, err := c3po.ParseMessageID(name)
	if err != nil {
		return task{}, noTask()
	}
	p, err := e.actor.Progress(ctx, id)
	if errors.Is(err, c3po.InvalidRequest) {
		return task{}, noTask()
	}
	if err == nil && e.at != "" {
		here, err := e.isAt(ctx, p)
		if err != nil {
			return task{}, err
		}
		if !here {
			return task{}, noTask()
		}
	}
	return taskOf(p), err
}

// render writes a task with so much of its history, all of it if negative.
func (e *exchange) render(t task, history int, artifacts bool) (wireTask, error) {
	var err error
	if history != 0 {
		t.more, err = e.actor.Additions(e.r.Context(), t.Progress)
	}
	return t.render(e.v, history, artifacts), err
}

// isAt says whether a task is of the agent or queue that the request names.
func (e *exchange) isAt(ctx context.Context, p hub.Progress) (bool, error) {
	to, err := c3po.ParseTarget(e.at)
	if err != nil {
		return false, nil
	}
	given := p.Ticket
	given.ID = p.Given
	if ofTarget(p.Ticket, to) || ofTarget(given, to) {
		return true, nil
	}
	now, err := e.actor.CalledNow(ctx, to)
	return now != "" && ofTarget(p.Ticket, now), err
}

// ofTarget says whether a ticket is of an agent or a queue.
func ofTarget(ticket c3po.Ticket, to c3po.AgentID) bool {
	_, asked, _ := ticket.ID.Split()
	return asked == to || ticket.ToAgent == to || to.Host() == "" && strings.EqualFold(asked.Name(), to.Name())
}

func noTask() *fault {
	return &fault{code: codeNoTask, message: "you have no such task", suggestion: "Use the id of the task as it was answered. A task that has ended is forgotten after a week."}
}

// taken says that the caller has been given a task: its answer, if there is one, was
// served, and is acked. The protocol knows no other word for that.
func (e *exchange) taken(t task) {
	e.actor.Delivered()
	if t.Unacked && !t.Answer.ExpectsReply {
		// The caller may have hung up. The answer stays in the inbox if this fails, and nothing is lost by that.
		_, _ = e.actor.AckMessages(context.WithoutCancel(e.r.Context()), c3po.AckInput{MessageIDs: []c3po.MessageID{t.Answer.ID}})
	}
}

func noPush() *fault {
	return &fault{code: codeNoPush, message: "push notifications are not sent here", suggestion: "Subscribe to the task, or ask for it now and then."}
}

// addressed is whom a request is for.
func addressed(target, tenant string) (string, *fault) {
	if to := cmp.Or(target, tenant); to != "" {
		return to, nil
	}
	return "", badParams("the request names no agent", "Post it to "+Prefix+"NAME, or give the agent as the tenant.")
}
