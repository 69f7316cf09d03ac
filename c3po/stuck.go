package c3po

import "time"

// A Wait is a question whose sender still waits for the answer: to an agent the
// oldest of several, to the person each.
type Wait struct {
	ID        MessageID   `json:"id"`
	FromAgent AgentID     `json:"from_agent"` // who waits
	ToAgent   AgentID     `json:"to_agent"`   // for whom
	Thread    string      `json:"thread"`
	State     TicketState `json:"state"`
	Since     time.Time   `json:"since"`
	Deadline  time.Time   `json:"deadline,omitzero"`
	Stalled   bool        `json:"stalled,omitempty"` // the one it waits for makes no step
	Silent    bool        `json:"silent,omitempty"`  // the one it waits for has read it and ended its turn without an answer
	Questions int         `json:"questions"`         // how many it has asked that one and waits for
	Depth     int         `json:"depth"`             // 1 waits for the hold-up itself, 2 for one that does
	Behind    int         `json:"behind"`            // agents that wait for FromAgent, directly or through others
}

// A HoldUp is one that others wait for and that waits for nobody itself: the
// person, an agent or a queue.
type HoldUp struct {
	Agent        AgentID      `json:"agent"`
	Reachability Reachability `json:"reachability,omitempty"` // of an agent: when it reads its mail
	Circle       bool         `json:"circle,omitempty"`       // it waits for one that waits for it
	Behind       int          `json:"behind"`                 // agents that wait for it, directly or through others
	Waits        []Wait       `json:"waits"`                  // each followed by those behind it
}

// Stuck is who waits for whom: the person first, then who holds up the most.
type Stuck struct {
	HoldUps []HoldUp `json:"hold_ups"`
	More    bool     `json:"more,omitempty"` // there are older open tickets than were looked at
}
