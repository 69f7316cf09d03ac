package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/envelope"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

const (
	// maxPageCharacters is what one page of messages may take. Claude Code shows a
	// result of more than 50,000 characters as a file name.
	maxPageCharacters = 40_000
	// progressEvery is well below the shortest silence a client cuts a call for.
	progressEvery = 15 * time.Second
	stillWaiting  = "still waiting"
)

// A tool is an operation as MCP clients call it.
type tool struct {
	c3po.Operation
	measure  *c3po.Operation // of an operation that is paged by size: what tells the size
	unshown  []string        // arguments that are taken but not declared
	defaults map[string]any  // of arguments that are left out
	service  func(context.Context) (c3po.Service, error)
	envelope envelope.Renderer
	brief    bool
	acks     func(context.Context) bool
	log      *slog.Logger
	asJSON   bool // answers are JSON alone, for programs
}

// measureOf gives the operation that tells how large a page will be. What
// get_messages answers is recorded as served, so it must not be asked for mail
// that is then not shown: peek, which records nothing, is asked first.
func measureOf(op c3po.Operation) *c3po.Operation {
	if !op.Bodies || hasOwnShape(op) || !takes(op, "limit") {
		return nil
	}
	if op.Name == "get_messages" {
		for _, other := range dialect.Operations() {
			if other.Name == "peek" {
				return &other
			}
		}
	}
	return &op
}

// takes says whether the operation has an argument of that name.
func takes(op c3po.Operation, argument string) bool {
	for field := range op.In.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == argument {
			return true
		}
	}
	return false
}

// call is the tool as the SDK calls it.
func (t tool) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, done := whileConnected(ctx)
	defer done()
	defer reportProgress(ctx, req)()

	parent, _ := req.Params.Meta[metaTraceparent].(string)
	state, _ := req.Params.Meta[metaTracestate].(string)
	if from, ok := c3po.ParseTraceContext(parent, state); ok {
		ctx = c3po.WithTrace(ctx, from)
	}
	svc, refusal := t.service(ctx)
	use, _ := req.Params.Meta[toolUseID].(string)
	a := t.answer(ctx, svc, refusal, t.arguments(req.Params.Arguments, use))
	// The SDK writes the answer when we return, and does not say how that went:
	// a client that has hung up by now was not served.
	if acting, ok := svc.(c3po.Acting); ok && ctx.Err() == nil {
		acting.Delivered()
	}
	return a.result(), nil
}

// answer runs the operation, whichever way the call came. A caller that was
// refused is told so as by the operation itself, and so is a panic.
func (t tool) answer(ctx context.Context, svc c3po.Service, refusal error, arguments []byte) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = failure(reportPanic(ctx, t.log, t.Name, p))
		}
	}()
	err := refusal
	if err == nil {
		var out any
		if out, err = t.run(ctx, svc, arguments); err == nil {
			t.envelope.Acks = t.acks != nil && t.acks(ctx)
			a, err = t.success(out)
		}
	}
	if err == nil {
		return a
	}
	if why, ok := errors.AsType[*c3po.Error](context.Cause(ctx)); ok {
		err = why // the caller is no longer welcome, and is told so
	}
	e := c3po.AsError(err)
	switch {
	case e.Code != c3po.Internal:
	case ctx.Err() != nil, errors.Is(err, context.Canceled):
		e = c3po.Because(err, c3po.UnknownOutcome, "the call was cut off before it was answered").
			Suggest("Make the same call again, with the same client_key if it had one.")
	default:
		t.log.ErrorContext(ctx, "tool failed", "tool", t.Name, "err", err)
	}
	return failure(t.hideArguments(e))
}

// hideArguments names no argument that the tool does not show.
func (t tool) hideArguments(e *c3po.Error) *c3po.Error {
	if takes(t.Operation, "client_key") && !slices.Contains(t.unshown, "client_key") {
		return e
	}
	worded := *e
	worded.Suggestion = withoutKey.Replace(e.Suggestion)
	return &worded
}

// withoutKey leaves the key out of the advice to make a call again.
var withoutKey = strings.NewReplacer(", with the same client_key if it had one", "", " with the same client_key", "",
	" with the same key", "")

// run asks for as many messages or agents as one answer can show. The cursor of the next
// page is the service's, so it must know how many those are.
func (t tool) run(ctx context.Context, svc c3po.Service, arguments []byte) (any, error) {
	if t.measure == nil {
		out, err := t.Call(ctx, svc, arguments)
		if list, ok := out.(*c3po.AgentList); ok && err == nil && !hasOwnShape(t.Operation) {
			if fits := envelope.FitAgents(list.Agents, maxPageCharacters); fits < len(list.Agents) {
				return t.Call(ctx, svc, withArgument(arguments, "limit", fits, always))
			}
		}
		return out, err
	}
	measured, err := t.measure.Call(ctx, svc, arguments)
	if err != nil {
		return nil, err
	}
	list := measured.(*c3po.MessageList)
	fits := envelope.Fit(list.Messages, maxPageCharacters)
	if fits == len(list.Messages) && t.measure.Name == t.Name {
		return list, nil
	}
	// Also when all fit: mail that comes in between must not make the page larger.
	return t.Call(ctx, svc, withArgument(arguments, "limit", max(fits, 1), always))
}

// toolUseID is how Claude Code names a call. A call that is made again by the
// client has the same name, so it is the key that keeps it from sending twice.
const toolUseID = "claudecode/toolUseId"

// arguments are those given, with what is left out, and with the client's name
// of the call as their key.
func (t tool) arguments(given []byte, use string) []byte {
	for name, value := range t.defaults {
		given = withArgument(given, name, value, ifMissing)
	}
	if use == "" || !takes(t.Operation, "client_key") {
		return given
	}
	return withArgument(given, "client_key", use, ifMissing)
}

// always and ifMissing say when withArgument sets a value.
func always(json.RawMessage) bool { return true }

func ifMissing(given json.RawMessage) bool {
	return len(given) == 0 || string(given) == `""` || string(given) == "null"
}

// withArgument sets one argument. Arguments that are no JSON object are left as
// they are: the operation says what is wrong with them.
func withArgument(arguments []byte, name string, value any, when func(json.RawMessage) bool) []byte {
	given := map[string]json.RawMessage{}
	if len(arguments) > 0 && json.Unmarshal(arguments, &given) != nil || given == nil || !when(given[name]) {
		return arguments
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return arguments
	}
	given[name] = encoded
	if all, err := json.Marshal(given); err == nil {
		return all
	}
	return arguments
}

// reportProgress tells a client that asked for it that the call goes on, until
// the function it returns is called. Clients cut calls that are silent.
func reportProgress(ctx context.Context, req *mcp.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	switch reflect.ValueOf(token).Kind() {
	case reflect.String, reflect.Int64, reflect.Float64: // what JSON allows a token to be
	default:
		return func() {}
	}
	ended := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		began := time.Now()
		for {
			select {
			case <-ended:
				return
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token,
				Progress:      time.Since(began).Seconds(),
				Message:       stillWaiting,
			})
			if err != nil {
				return // the client is gone; the call itself learns it from its context
			}
		}
	})
	return func() {
		close(ended)
		running.Wait() // nothing may follow the answer
	}
}
