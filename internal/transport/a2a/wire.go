package a2a

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
)

// What both versions write. A field that only one of them has is left out by the other.
type (
	wireTask struct {
		Kind      string         `json:"kind,omitempty"`
		ID        string         `json:"id"`
		ContextID string         `json:"contextId"`
		Status    wireStatus     `json:"status"`
		Artifacts []wireArtifact `json:"artifacts,omitempty"`
		History   []wireMessage  `json:"history,omitempty"`
	}
	wireStatus struct {
		State     string       `json:"state"`
		Message   *wireMessage `json:"message,omitempty"`
		Timestamp string       `json:"timestamp"`
	}
	wireMessage struct {
		Kind      string     `json:"kind,omitempty"`
		MessageID string     `json:"messageId"`
		ContextID string     `json:"contextId,omitempty"`
		TaskID    string     `json:"taskId,omitempty"`
		Role      string     `json:"role"`
		Parts     []wirePart `json:"parts"`
	}
	wirePart struct {
		Kind      string          `json:"kind,omitempty"`
		Text      *string         `json:"text,omitempty"`
		Data      json.RawMessage `json:"data,omitempty"`
		MediaType string          `json:"mediaType,omitempty"`
		Filename  string          `json:"filename,omitempty"`
		Metadata  *wireFile       `json:"metadata,omitempty"`
	}
	wireFile struct {
		Name   string `json:"name"`
		Type   string `json:"type,omitempty"`
		Size   int64  `json:"size"`
		SHA256 string `json:"sha256"`
	}
	wireArtifact struct {
		ArtifactID string     `json:"artifactId"`
		Name       string     `json:"name,omitempty"`
		Parts      []wirePart `json:"parts"`
	}
	wireStatusUpdate struct {
		Kind      string     `json:"kind,omitempty"`
		TaskID    string     `json:"taskId"`
		ContextID string     `json:"contextId"`
		Status    wireStatus `json:"status"`
		Final     *bool      `json:"final,omitempty"`
	}
	wireArtifactUpdate struct {
		Kind      string       `json:"kind,omitempty"`
		TaskID    string       `json:"taskId"`
		ContextID string       `json:"contextId"`
		Artifact  wireArtifact `json:"artifact"`
		LastChunk bool         `json:"lastChunk"`
	}
)

// wrap puts a value under the name that 1.0 tells values apart by; 0.3 has their kind.
func (v version) wrap(name string, value any) any {
	if v == v03 {
		return value
	}
	return map[string]any{name: value}
}

// clock is a time as the protocol writes it.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// ackedFor is after how long a question that was acked without an answer has ended: an
// agent may ack what it reads, and answer then.
const ackedFor = 30 * time.Second

// A task is how far a question has come, in the terms of this protocol.
type task struct {
	hub.Progress
	more  []c3po.Message // what was added to the question; known only where its history is shown
	state state
	at    time.Time // since when
	says  string    // what a person should know of the state; empty if its name says all
}

// id is what its caller knows it by: it stays as it was given, also if the agent is renamed.
func (t task) id() string { return string(t.Given) }

// taskOf derives the state from the facts of the ticket.
func taskOf(p hub.Progress) task {
	t := task{Progress: p, at: p.Ticket.CreatedAt}
	switch p.Ticket.State {
	case c3po.TicketCancelled:
		t.state, t.at = canceled, p.Ticket.CancelledAt
	case c3po.TicketTimedOut:
		t.state, t.at, t.says = failed, p.Ticket.TimedOutAt, "Nobody answered within the lifetime of the message."
	case c3po.TicketResponded:
		t.state, t.at = completed, p.Ticket.RespondedAt
		switch {
		case p.Answer == nil || p.Answer.BodyGone:
			t.says = "The answer is no longer kept."
		case p.Answer.Status == c3po.ReplyError:
			t.state, t.says = failed, p.Answer.Text()
			for _, file := range p.Answer.Attachments {
				t.says += "\n\n" + t.aboutFile(file)
			}
		}
	case c3po.TicketDelivered:
		t.state, t.at = working, p.Ticket.DeliveredAt
		switch {
		case !p.AskedPerson.IsZero():
			t.state, t.at, t.says = inputRequired, p.AskedPerson, "The agent has asked its user and waits for the answer. Nothing is needed from you."
		case !p.Ended.IsZero() && time.Since(p.Ended) >= ackedFor:
			t.state, t.at, t.says = completed, p.Ended, "The agent has ended this without an answer."
		case !p.Ticket.SilentAt.IsZero():
			t.at, t.says = p.Ticket.SilentAt, "The agent has read it and ended its turn without an answer. One may still come."
		case !p.Ticket.StalledAt.IsZero():
			t.at, t.says = p.Ticket.StalledAt, "The agent has read it and makes no progress. An answer may still come."
		}
	}
	return t
}

// render writes a task; history is how many messages of it, the latest, all if negative.
func (t task) render(v version, history int, artifacts bool) wireTask {
	w := wireTask{Kind: v.kind("task"), ID: t.id(), ContextID: contextOf(t.Question), Status: t.status(v)}
	if artifacts && t.state == completed && t.Answer != nil && !t.Answer.BodyGone {
		w.Artifacts = []wireArtifact{t.artifact(v)}
	}
	asked := append([]c3po.Message{t.Question}, t.more...)
	if history >= 0 {
		asked = asked[max(len(asked)-history, 0):]
	}
	for _, m := range asked {
		w.History = append(w.History, wireMessage{
			Kind: v.kind("message"), MessageID: askedAs(m), ContextID: w.ContextID, TaskID: w.ID, Role: v.role("user"), Parts: []wirePart{v.part(m)},
		})
	}
	return w
}

func (t task) status(v version) wireStatus {
	status := wireStatus{State: v.state(t.state), Timestamp: clock(t.at)}
	if t.says != "" {
		said := t.says
		status.Message = &wireMessage{
			Kind: v.kind("message"), MessageID: t.id() + ":" + stateNames[t.state], ContextID: contextOf(t.Question), TaskID: t.id(),
			Role: v.role("agent"), Parts: []wirePart{{Kind: v.kind("text"), Text: &said}},
		}
	}
	return status
}

func (t task) artifact(v version) wireArtifact {
	parts := []wirePart{v.part(*t.Answer)}
	for _, file := range t.Answer.Attachments {
		text := t.aboutFile(file)
		part := wirePart{Kind: v.kind("text"), Text: &text, Metadata: &wireFile{file.Name, file.Type, file.Size, file.SHA256}}
		if v == v10 {
			part.Filename, part.MediaType = file.Name, "text/plain"
		}
		parts = append(parts, part)
	}
	return wireArtifact{ArtifactID: string(t.Answer.ID), Name: "answer", Parts: parts}
}

// aboutFile says that an answer has a file, and how its caller gets it. An address alone
// would not do: the token may be for several names.
func (t task) aboutFile(file c3po.Attachment) string {
	query := url.Values{"message_id": {string(t.Answer.ID)}, "file": {string(file.ID)}}
	return fmt.Sprintf("The answer has a file: %s (%s, %d bytes, sha256 %s). Get it from this coordinator with your token and the header X-Agent-ID: %s, at GET /api/file?%s",
		file.Name, cmp.Or(file.Type, "application/octet-stream"), file.Size, file.SHA256, t.Ticket.FromAgent, query.Encode())
}

const jsonType = "application/json"

// part is what a message says: JSON if its writer said that it is, else text.
func (v version) part(m c3po.Message) wirePart {
	text := m.Text()
	if m.ContentType == jsonType && json.Valid([]byte(text)) {
		return wirePart{Kind: v.kind("data"), Data: json.RawMessage(text)}
	}
	if m.BodyGone {
		text = ""
	}
	part := wirePart{Kind: v.kind("text"), Text: &text}
	if v == v10 {
		part.MediaType = cmp.Or(m.ContentType, "text/plain")
	}
	return part
}
