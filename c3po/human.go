package c3po

import (
	"strconv"
	"strings"
	"time"
)

// What a question to the person may have.
const (
	MaxChoices          = 9 // can be chosen from with one key
	MaxQuestionDeadline = 30 * 24 * time.Hour
)

// EscalateInput asks the person.
type EscalateInput struct {
	Reason    string   `json:"reason" jsonschema:"What you need a person for, in a sentence or two"`
	Question  string   `json:"question,omitempty" jsonschema:"What you want to know, if the reason does not say it"`
	Choices   []string `json:"choices,omitempty" jsonschema:"Up to 9 short answers to choose from; the person may still answer in own words"`
	Deadline  string   `json:"deadline,omitempty" jsonschema:"After how long the person is reminded, once: 10m, 2h or 1d"`
	ClientKey string   `json:"client_key,omitempty" jsonschema:"Idempotency key: the same key never asks twice"`
}

// An Escalation confirms that the person was asked.
type Escalation struct {
	Success   bool      `json:"success"`
	MessageID MessageID `json:"message_id"`
	Paused    string    `json:"paused"`
	Deadline  time.Time `json:"deadline,omitzero"`
	Message   string    `json:"message"`
}

// A Question is what a person was asked, and what became of it.
type Question struct {
	Message
	State TicketState `json:"state"`
	Reply *Message    `json:"reply,omitempty"` // the answer, once there is one
	Told  []Told      `json:"told"`            // how the person was told of it
}

// Told says that a person was told of a question outside of c3po.
type Told struct {
	Channel string    `json:"channel"`        // desktop, ntfy or webhook
	Late    bool      `json:"late,omitempty"` // that its deadline has passed
	At      time.Time `json:"at,omitzero"`    // zero if it did not succeed yet
	Tries   int       `json:"tries"`
}

// AnswerInput is a person's answer: words of their own, or one of the choices.
type AnswerInput struct {
	MessageID MessageID `json:"message_id" jsonschema:"Id of the question"`
	Response  string    `json:"response,omitempty" jsonschema:"The answer in own words"`
	Choice    string    `json:"choice,omitempty" jsonschema:"One of the choices, or its number from 1"`
	ClientKey string    `json:"client_key,omitempty" jsonschema:"Idempotency key"`
}

// ChoiceNumber is the number of a choice as a person types it, perhaps with a dot after it.
// What no list shows, as +1 or 01, is the number of none.
func ChoiceNumber(text string) (choice int, isNumber bool) {
	text = strings.TrimSuffix(strings.TrimSpace(text), ".")
	number, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(number) != text {
		return 0, err == nil
	}
	return number, true
}

// A Notification is word to the person, outside of c3po, that an agent asks, or that one
// makes no step with a question of another.
// What the agent wrote is left out unless the person has allowed it to be sent.
type Notification struct {
	Kind      NotificationKind `json:"kind"`
	Space     Space            `json:"space"`
	MessageID MessageID        `json:"message_id,omitempty"`
	FromAgent AgentID          `json:"from_agent,omitempty"`
	ToAgent   AgentID          `json:"to_agent,omitempty"` // of a stall: who makes no step
	Count     int              `json:"count,omitempty"`    // how many questions it is of, if several; the rest is said of the first
	AskedAt   time.Time        `json:"asked_at,omitzero"`
	Deadline  time.Time        `json:"deadline,omitzero"`
	Question  string           `json:"question,omitempty"`
	Reason    string           `json:"reason,omitempty"`
	Choices   []string         `json:"choices,omitempty"`
	// Permission says that a tool waits for it to be allowed; any other question allows none.
	Permission bool `json:"permission,omitempty"`
}

// NotificationKind says why the person is told.
type NotificationKind string

// The kinds of notification.
const (
	NotifyQuestion NotificationKind = "question"
	NotifyOverdue  NotificationKind = "overdue" // the deadline of the question has passed
	NotifyStalled  NotificationKind = "stalled" // who has read the question makes no step with it
	NotifyTest     NotificationKind = "test"
)

// PauseInput names one agent, or all of them.
type PauseInput struct {
	AgentID string `json:"agent_id,omitempty" jsonschema:"The agent; empty with all"`
	All     bool   `json:"all,omitempty" jsonschema:"Every agent of the space"`
	Reason  string `json:"reason,omitempty" jsonschema:"Why, shown to others"`
}

// PauseResult says who is paused now, and why.
type PauseResult struct {
	AgentID AgentID `json:"agent_id,omitempty"`
	All     bool    `json:"all,omitempty"`
	Paused  *string `json:"paused"`
	Notice  string  `json:"notice,omitempty"` // what failed after the change was stored
}
