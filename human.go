package c3po

// EscalateInput asks the person.
type EscalateInput struct {
	Reason    string `json:"reason" jsonschema:"What you need a person for, in a sentence or two"`
	ClientKey string `json:"client_key,omitempty" jsonschema:"Idempotency key: the same key never asks twice"`
}

// An Escalation confirms that the person was asked.
type Escalation struct {
	Success   bool      `json:"success"`
	MessageID MessageID `json:"message_id"`
	Paused    string    `json:"paused"`
	Message   string    `json:"message"`
}

// AnswerInput is a person's answer.
type AnswerInput struct {
	MessageID MessageID `json:"message_id" jsonschema:"Id of the question"`
	Response  string    `json:"response" jsonschema:"The answer"`
	ClientKey string    `json:"client_key,omitempty" jsonschema:"Idempotency key"`
}

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
}
