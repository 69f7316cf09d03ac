package dialect

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// The first design document: five tools with the names, parameters and results
// printed there.

// SendRequest is the argument of send_request.
type SendRequest struct {
	Target  string `json:"target" jsonschema:"Agent to send to"`
	Message string `json:"message" jsonschema:"The request"`
	Context string `json:"context,omitempty" jsonschema:"Background"`
}

// RequestSent is the result of send_request.
type RequestSent struct {
	RequestID c3po.MessageID `json:"request_id"`
	Status    string         `json:"status"`
}

// Request is a request as that document prints it.
type Request struct {
	ID        c3po.MessageID `json:"id"`
	From      c3po.AgentID   `json:"from"`
	Message   string         `json:"message"`
	Context   string         `json:"context"`
	Timestamp time.Time      `json:"timestamp"`
}

// RequestList is the result of get_pending_requests.
type RequestList struct {
	Requests []Request `json:"requests"`
	Next     string    `json:"next,omitempty"`
}

// Rows is the part that is answered as a bare array.
func (l *RequestList) Rows() any { return &l.Requests }

// Cursor is where the next page starts.
func (l *RequestList) Cursor() *string { return &l.Next }

// Respond is the argument of respond_to_request.
type Respond struct {
	RequestID c3po.MessageID `json:"request_id" jsonschema:"Id of the request"`
	Response  string         `json:"response" jsonschema:"The response"`
	Status    string         `json:"status,omitempty" jsonschema:"success (default) or error"`
}

// Responded is the result of respond_to_request.
type Responded struct {
	Success bool `json:"success"`
}

// WaitResponse is the argument of wait_for_response.
type WaitResponse struct {
	RequestID c3po.MessageID `json:"request_id" jsonschema:"Id of the request"`
	Timeout   int            `json:"timeout,omitempty" jsonschema:"Seconds to wait, default 60"`
}

// WaitRequest is the argument of wait_for_request.
type WaitRequest struct {
	Timeout int `json:"timeout,omitempty" jsonschema:"Seconds to wait, default 60"`
}

// RequestWaited is the result of both waits: one of its three forms.
type RequestWaited struct {
	Response      string         `json:"response,omitempty"`
	Status        string         `json:"status,omitempty"`
	Request       *Request       `json:"request,omitempty"`
	Timeout       bool           `json:"timeout,omitempty"`
	RequestID     c3po.MessageID `json:"request_id,omitempty"`
	WaitedSeconds int            `json:"waited_seconds,omitempty"`
	Message       string         `json:"message,omitempty"` // why the wait ended early
}

// noneCame is the result of a wait that brought nothing. That document knows a timeout alone;
// why one came early is added to it.
func noneCame(outcome c3po.WaitOutcome, id c3po.MessageID, began time.Time) RequestWaited {
	out := RequestWaited{Timeout: true, RequestID: id, WaitedSeconds: waitedSeconds(began)}
	if outcome.Status != c3po.WaitTimeout && outcome.Status != c3po.WaitRetry {
		out.Status, out.Message = outcome.Status, outcome.Message
	}
	return out
}

func requestOf(m c3po.Message) Request {
	return Request{ID: m.ID, From: m.FromAgent, Message: m.Text(), Context: m.Context, Timestamp: m.Timestamp}
}

// sendRequest refuses a recipient that is away or unknown, as that document says. Others
// that are offline read it when they are back.
func sendRequest(svc c3po.Service, ctx context.Context, in SendRequest) (RequestSent, error) {
	ifAway := ""
	if is, err := svc.GetAgentStatus(ctx, c3po.AgentInput{AgentID: in.Target}); err == nil && is.Availability == c3po.Away {
		ifAway = "fail"
	}
	receipt, err := svc.SendMessage(ctx, c3po.SendInput{Target: in.Target, Message: in.Message, Context: in.Context, IfAway: ifAway})
	if errors.Is(err, c3po.AgentNotFound) {
		return RequestSent{}, c3po.Errorf(c3po.AgentUnavailable, "Agent '%s' is not available", c3po.Clip(in.Target)).Suggest("%s", c3po.AsError(err).Suggestion)
	}
	if errors.Is(err, c3po.AgentUnavailable) {
		// Do not advise what this tool cannot do.
		advice := strings.TrimSpace(strings.TrimPrefix(c3po.AsError(err).Suggestion, c3po.AdviseQueue))
		return RequestSent{}, c3po.Errorf(c3po.AgentUnavailable, "%s", c3po.AsError(err).Message).Suggest("%s", cmp.Or(advice, "Ask again when it is back, or ask somebody else: list_agents shows who is there."))
	}
	return RequestSent{RequestID: receipt.ID, Status: receipt.Status}, err
}

func getPendingRequests(svc c3po.Service, ctx context.Context, _ c3po.None) (RequestList, error) {
	list, err := svc.GetMessages(ctx, c3po.GetMessagesInput{})
	out := RequestList{Requests: []Request{}, Next: list.Next}
	for _, m := range list.Messages {
		if m.Kind != c3po.KindReply {
			out.Requests = append(out.Requests, requestOf(m))
		}
	}
	return out, err
}

func respondToRequest(svc c3po.Service, ctx context.Context, in Respond) (Responded, error) {
	_, err := svc.Reply(ctx, c3po.ReplyInput{MessageID: in.RequestID, Response: in.Response, Status: in.Status})
	return Responded{Success: err == nil}, err
}

func waitForResponse(svc c3po.Service, ctx context.Context, in WaitResponse) (RequestWaited, error) {
	if in.RequestID == "" {
		return RequestWaited{}, c3po.Errorf(c3po.InvalidRequest, "request_id is missing").Suggest("Give the request_id that send_request returned.")
	}
	began := time.Now()
	got, err := svc.WaitForMessage(ctx, c3po.WaitInput{MessageID: in.RequestID, Timeout: in.Timeout})
	if err != nil {
		return RequestWaited{}, err
	}
	if got.Outcome != nil {
		return noneCame(*got.Outcome, in.RequestID, began), nil
	}
	return RequestWaited{Response: got.Response, Status: got.Status}, nil
}

func waitForRequest(svc c3po.Service, ctx context.Context, in WaitRequest) (RequestWaited, error) {
	began := time.Now()
	got, err := svc.WaitForMessage(ctx, c3po.WaitInput{Kind: c3po.KindIncoming, Timeout: in.Timeout})
	if err != nil {
		return RequestWaited{}, err
	}
	if got.Outcome != nil {
		return noneCame(*got.Outcome, "", began), nil
	}
	request := requestOf(got.Message)
	return RequestWaited{Request: &request}, nil
}

func waitedSeconds(began time.Time) int {
	return int(time.Since(began).Round(time.Second) / time.Second)
}
