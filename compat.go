package c3po

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"
)

// This file is the dialect of the first design document: five tools with the
// names, parameters and results printed there, on top of a Service.

// CompatSend is the argument of send_request.
type CompatSend struct {
	Target  string `json:"target" jsonschema:"Agent to send to"`
	Message string `json:"message" jsonschema:"The request"`
	Context string `json:"context,omitempty" jsonschema:"Background"`
}

// CompatSent is the result of send_request.
type CompatSent struct {
	RequestID MessageID `json:"request_id"`
	Status    string    `json:"status"`
}

// CompatRequest is a request as that document prints it.
type CompatRequest struct {
	ID        MessageID `json:"id"`
	From      AgentID   `json:"from"`
	Message   string    `json:"message"`
	Context   string    `json:"context"`
	Timestamp time.Time `json:"timestamp"`
}

// CompatRequests is the result of get_pending_requests.
type CompatRequests struct {
	Requests []CompatRequest `json:"requests"`
	Next     string          `json:"next,omitempty"`
}

// Rows is the part that is answered as a bare array.
func (l *CompatRequests) Rows() any { return &l.Requests }

// Cursor is where the next page starts.
func (l *CompatRequests) Cursor() *string { return &l.Next }

// CompatRespond is the argument of respond_to_request.
type CompatRespond struct {
	RequestID MessageID `json:"request_id" jsonschema:"Id of the request"`
	Response  string    `json:"response" jsonschema:"The response"`
	Status    string    `json:"status,omitempty" jsonschema:"success (default) or error"`
}

// CompatDone is the result of respond_to_request.
type CompatDone struct {
	Success bool `json:"success"`
}

// CompatWaitResponse is the argument of wait_for_response.
type CompatWaitResponse struct {
	RequestID MessageID `json:"request_id" jsonschema:"Id of the request"`
	Timeout   int       `json:"timeout,omitempty" jsonschema:"Seconds to wait, default 60"`
}

// CompatWaitRequest is the argument of wait_for_request.
type CompatWaitRequest struct {
	Timeout int `json:"timeout,omitempty" jsonschema:"Seconds to wait, default 60"`
}

// CompatWaited is the result of both waits: one of its three forms.
type CompatWaited struct {
	Response      string         `json:"response,omitempty"`
	Status        string         `json:"status,omitempty"`
	Request       *CompatRequest `json:"request,omitempty"`
	Timeout       bool           `json:"timeout,omitempty"`
	RequestID     MessageID      `json:"request_id,omitempty"`
	WaitedSeconds int            `json:"waited_seconds,omitempty"`
}

func compatRequest(m Message) CompatRequest {
	return CompatRequest{ID: m.ID, From: m.FromAgent, Message: m.Text(), Context: m.Context, Timestamp: m.Timestamp}
}

// AdviseQueue is what a refusal of a message to an agent that is away begins its advice with.
const AdviseQueue = `Send with if_away "queue": it is kept until the agent reads it.`

// sendRequest refuses for who has said that it is away, and for who is not known, as
// that document has it. Others that are offline read it when they are back.
func sendRequest(svc Service, ctx context.Context, in CompatSend) (CompatSent, error) {
	ifAway := ""
	if is, err := svc.GetAgentStatus(ctx, AgentInput{AgentID: in.Target}); err == nil && is.Availability == Away {
		ifAway = "fail"
	}
	receipt, err := svc.SendMessage(ctx, SendInput{Target: in.Target, Message: in.Message, Context: in.Context, IfAway: ifAway})
	if errors.Is(err, AgentNotFound) {
		return CompatSent{}, Errorf(AgentUnavailable, "Agent '%s' is not available", clip(in.Target)).Suggest("%s", AsError(err).Suggestion)
	}
	if errors.Is(err, AgentUnavailable) {
		// What this tool cannot do is no advice.
		advice := strings.TrimSpace(strings.TrimPrefix(AsError(err).Suggestion, AdviseQueue))
		return CompatSent{}, Errorf(AgentUnavailable, "%s", AsError(err).Message).Suggest("%s", cmp.Or(advice, "Ask again when it is back, or ask somebody else: list_agents shows who is there."))
	}
	return CompatSent{RequestID: receipt.ID, Status: receipt.Status}, err
}

func getPendingRequests(svc Service, ctx context.Context, _ None) (CompatRequests, error) {
	list, err := svc.GetMessages(ctx, GetMessagesInput{})
	out := CompatRequests{Requests: []CompatRequest{}, Next: list.Next}
	for _, m := range list.Messages {
		if m.Kind != KindReply {
			out.Requests = append(out.Requests, compatRequest(m))
		}
	}
	return out, err
}

func respondToRequest(svc Service, ctx context.Context, in CompatRespond) (CompatDone, error) {
	_, err := svc.Reply(ctx, ReplyInput{MessageID: in.RequestID, Response: in.Response, Status: in.Status})
	return CompatDone{Success: err == nil}, err
}

func waitForResponse(svc Service, ctx context.Context, in CompatWaitResponse) (CompatWaited, error) {
	if in.RequestID == "" {
		return CompatWaited{}, Errorf(InvalidRequest, "request_id is missing").Suggest("Give the request_id that send_request returned.")
	}
	began := time.Now()
	got, err := svc.WaitForMessage(ctx, WaitInput{MessageID: in.RequestID, Timeout: in.Timeout})
	if err != nil {
		return CompatWaited{}, err
	}
	if got.Outcome != nil {
		return CompatWaited{Timeout: true, RequestID: in.RequestID, WaitedSeconds: waited(began)}, nil
	}
	return CompatWaited{Response: got.Response, Status: got.Status}, nil
}

func waitForRequest(svc Service, ctx context.Context, in CompatWaitRequest) (CompatWaited, error) {
	began := time.Now()
	got, err := svc.WaitForMessage(ctx, WaitInput{Kind: KindIncoming, Timeout: in.Timeout})
	if err != nil {
		return CompatWaited{}, err
	}
	if got.Outcome != nil {
		return CompatWaited{Timeout: true, WaitedSeconds: waited(began)}, nil
	}
	request := compatRequest(got.Message)
	return CompatWaited{Request: &request}, nil
}

func waited(began time.Time) int { return int(time.Since(began).Round(time.Second) / time.Second) }
