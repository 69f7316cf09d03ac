package c3po

import "time"

// ThreadResumeInput names a conversation that is paused because its budget is
// spent.
type ThreadResumeInput struct {
	Thread string `json:"thread" jsonschema:"Thread id, or the id of a message in it"`
}

// ThreadResumed says whether it was paused.
type ThreadResumed struct {
	Thread  string `json:"thread"`
	Resumed bool   `json:"resumed"` // it was paused
}

// RecentInput names an agent.
type RecentInput struct {
	AgentID AgentID `json:"agent_id" jsonschema:"The agent"`
	Limit   int     `json:"limit,omitempty" jsonschema:"How many at the most; default 5" range:"0,50"`
}

// ConversationsInput selects and pages.
type ConversationsInput struct {
	State  string `json:"state,omitempty" jsonschema:"open or closed, of the latest question in it; both if left out" enum:"open,closed"`
	Cursor string `json:"cursor,omitempty" jsonschema:"Where to go on: the next of an earlier answer"`
	Limit  int    `json:"limit,omitempty" jsonschema:"How many at the most"`
}

// A Conversation is a thread in which something was asked.
type Conversation struct {
	Thread    string      `json:"thread"`
	Subject   string      `json:"subject,omitempty"` // the start of its first message
	Last      string      `json:"last,omitempty"`    // the start of its last message, if there are two
	LastFrom  AgentID     `json:"last_from,omitempty"`
	LastAt    time.Time   `json:"last_at"`
	Turns     int         `json:"turns"`
	FromAgent AgentID     `json:"from_agent"` // who asked last
	ToAgent   AgentID     `json:"to_agent"`   // whom
	State     TicketState `json:"state"`      // of that question
}

// A ConversationList is one page of conversations, the one with the newest question first.
type ConversationList struct {
	Conversations []Conversation `json:"conversations"`
	Next          string         `json:"next,omitempty"`
}

// Rows is the part that REST answers as a bare array.
func (l *ConversationList) Rows() any { return &l.Conversations }

// Cursor is where the next page starts.
func (l *ConversationList) Cursor() *string { return &l.Next }
