package c3po

import (
	"encoding/json"
	"slices"
	"time"
)

// Status says whether an agent can be reached over a connection right now.
type Status string

// The values of Status.
const (
	Online  Status = "online"
	Offline Status = "offline"
)

// Availability is what the agent says of itself.
type Availability string

// The values of Availability.
const (
	Available Availability = "available"
	Busy      Availability = "busy"
	Away      Availability = "away"
)

// Reachability says what will happen with mail sent now.
type Reachability string

// The values of Reachability.
const (
	ReachNow             Reachability = "now"                 // it is waiting: it wakes
	ReachNextStep        Reachability = "next_step"           // it is at work and looks at its next step
	ReachTurnEnd         Reachability = "turn_end"            // it is at work, and mail that asks nothing waits for the end of its turn
	ReachSoon            Reachability = "soon"                // it is starting, or its user has just stopped it: mail wakes it within a minute
	ReachNextCall        Reachability = "next_call"           // it has called lately and nothing of it listens: it may have ended since
	ReachRetry           Reachability = "when_retried"        // its last turn failed: its mail starts another after a pause
	ReachQuota           Reachability = "when_quota_returns"  // its model is refused to it, and its mail waits until its quota is back
	ReachPersonReturns   Reachability = "when_person_returns" // it is idle and nothing can wake it
	ReachResumed         Reachability = "when_resumed"        // a person has paused it
	ReachWaitingForHuman Reachability = "waiting_for_human"   // it has asked its person and waits
	ReachDialog          Reachability = "when_dialog_closes"  // a dialog waits for its user
	ReachOff             Reachability = "when_switched_on"    // its user has switched c3po off there
	ReachNextSession     Reachability = "next_session"        // a script runs it, so it hears of no mail
	ReachUnknown         Reachability = "unknown"             // it does not react, or has not been heard of for too long
	ReachStarts          Reachability = "starts_when_mailed"  // its session is closed, and mail that expects an answer resumes it
	ReachOffline         Reachability = "offline"             // it reads its mail when it starts again
)

// A SessionState is what a session is known to be doing, by evidence: its client's
// hooks, its process, its connection.
type SessionState string

// The values of SessionState. It is empty when nothing is known.
const (
	SessionIdle       SessionState = "idle"       // its turn has ended, and mail starts another
	SessionWaiting    SessionState = "waiting"    // a call of it waits for mail
	SessionWorking    SessionState = "working"    // a turn runs
	SessionStarting   SessionState = "starting"   // it has begun, and what wakes it is not there yet
	SessionStopped    SessionState = "stopped"    // its user has stopped its turn: mail starts one after a minute
	SessionFailed     SessionState = "failed"     // its last turn failed, and its mail starts another after a pause
	SessionDialog     SessionState = "dialog"     // a dialog is open, and only its user can close it
	SessionUnarmed    SessionState = "unarmed"    // its turn has ended, and nothing can wake it
	SessionOff        SessionState = "off"        // its user has switched c3po off
	SessionUnattended SessionState = "unattended" // a script runs it for its output, and it hears of no mail
	SessionUnknown    SessionState = "unknown"    // it does not react, or its last sign is too old
	SessionClosed     SessionState = "closed"     // it has ended, and its host resumes it for mail that expects an answer
)

// Known says that a word is one of the states.
func (s SessionState) Known() bool {
	switch s {
	case SessionIdle, SessionWaiting, SessionWorking, SessionStarting, SessionStopped, SessionFailed, SessionDialog, SessionUnarmed, SessionOff, SessionUnattended, SessionUnknown, SessionClosed:
		return true
	}
	return false
}

// Alike are the states that are the same rest: a session is idle since its turn ended,
// whatever can wake it. Of any other state it is that state alone.
func (s SessionState) Alike() []SessionState {
	rest := []SessionState{SessionIdle, SessionStarting, SessionStopped, SessionFailed, SessionUnarmed}
	if slices.Contains(rest, s) {
		return rest
	}
	return []SessionState{s}
}

// PausedForHuman is the reason of an agent that asked its person.
const PausedForHuman = "waiting_for_human"

// PausedByPerson is the reason of a pause that was given none.
const PausedByPerson = "paused by a person"

// An Agent is one participant as others see it.
type Agent struct {
	ID           AgentID         `json:"id"`
	Name         string          `json:"name,omitempty"`
	Status       Status          `json:"status"`
	Availability Availability    `json:"availability"`
	Alive        *bool           `json:"alive"`
	Paused       *string         `json:"paused"`
	Reachability Reachability    `json:"reachability"`
	State        SessionState    `json:"state,omitempty"`       // of its session, while that is connected
	StateSince   *time.Time      `json:"state_since,omitempty"` // when the coordinator first heard so; of one that is idle, that its turn had ended
	OutOfQuota   *OutOfQuota     `json:"out_of_quota,omitempty"`
	Capabilities []string        `json:"capabilities"`
	Type         string          `json:"type,omitempty"`
	Host         string          `json:"host,omitempty"`
	Cwd          string          `json:"cwd,omitempty"`
	Rooms        []RoomName      `json:"rooms"`
	CurrentTask  string          `json:"current_task,omitempty"`
	Client       string          `json:"client,omitempty"`
	Heartbeat    int             `json:"heartbeat_interval,omitempty"` // seconds between its calls, as it declared
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	Unread       *int            `json:"unread,omitempty"` // mail it has not acked; for people and observers
	RegisteredAt time.Time       `json:"registered_at"`
	LastSeen     time.Time       `json:"last_seen"`
}

// Self is an agent as it sees itself: what others see, and what only it needs.
type Self struct {
	Agent
	Space     Space   `json:"space"`
	Epoch     int64   `json:"epoch"`
	AskedID   AgentID `json:"asked_id,omitempty"` // set when the id it asked for was taken
	Notice    string  `json:"notice,omitempty"`   // says so in words
	Unread    int     `json:"unread"`
	SessionID string  `json:"session_id,omitempty"`
	// LeftBehind is mail of sessions beside this one that have ended. Only whoami
	// says so.
	LeftBehind []LeftBehind `json:"left_behind,omitempty" jsonschema:"Mail of sessions beside this one that have ended; of whoami"`
}

// LeftBehind is unacked mail of an agent whose session has ended and whose number
// nobody may ever be given again: get_messages with left_by reads it.
type LeftBehind struct {
	ID     AgentID `json:"id"`
	Unread int     `json:"unread"`
}

// TypeProbe is the type of an agent that is there to try something out. It is
// forgotten as soon as it unregisters.
const TypeProbe = "probe"

// RegisterInput describes the caller. All of it is optional, and what is left out
// stays as it was; an empty list of capabilities is none.
type RegisterInput struct {
	Name              string          `json:"name,omitempty" jsonschema:"Display name; defaults to the agent id"`
	Capabilities      []string        `json:"capabilities,omitzero" jsonschema:"What this agent can help with, for example mqtt or review"`
	Type              string          `json:"type,omitempty" jsonschema:"Kind of client, for example claude-code or codex"`
	Cwd               string          `json:"cwd,omitempty" jsonschema:"Working directory"`
	Host              string          `json:"host,omitempty" jsonschema:"Host name"`
	PID               int             `json:"pid,omitempty" jsonschema:"Process id of the agent"`
	PIDStart          int64           `json:"pid_start,omitempty" jsonschema:"Start time of that process, as its host counts it"`
	Metadata          json.RawMessage `json:"metadata,omitempty" jsonschema:"A JSON object of at most 4 KiB"`
	HeartbeatInterval *int            `json:"heartbeat_interval,omitempty" jsonschema:"Seconds between your calls, at most 3600: you are online for three of them, instead of 90 seconds. 0 withdraws it"`
}

// ListAgentsInput selects and pages.
type ListAgentsInput struct {
	Cursor string `json:"cursor,omitempty" jsonschema:"Where to go on: the next of an earlier answer"`
	Limit  int    `json:"limit,omitempty" jsonschema:"How many at the most"`
	Status Status `json:"status,omitempty" jsonschema:"Only agents that are online or offline"`
	Type   string `json:"type,omitempty" jsonschema:"Only agents of this kind of client"`
}

// An AgentList is one page of agents in the order they registered.
type AgentList struct {
	Agents []Agent `json:"agents"`
	Next   string  `json:"next,omitempty"`
}

// Rows is the part that REST answers as a bare array.
func (l *AgentList) Rows() any { return &l.Agents }

// Cursor is where the next page starts.
func (l *AgentList) Cursor() *string { return &l.Next }

// AgentInput names an agent.
type AgentInput struct {
	AgentID string `json:"agent_id" jsonschema:"The agent's id"`
}

// StatusInput is what an agent says of itself.
type StatusInput struct {
	Status      Availability `json:"status" jsonschema:"available, busy or away"`
	CurrentTask string       `json:"current_task,omitempty" jsonschema:"What you are working on, in a few words"`
}

// StatusResult confirms a StatusInput.
type StatusResult struct {
	Success      bool         `json:"success"`
	ID           AgentID      `json:"id"`
	Availability Availability `json:"availability"`
	CurrentTask  string       `json:"current_task,omitempty"`
}

// A CoWorker is an agent in one line.
type CoWorker struct {
	ID     AgentID `json:"id"`
	Type   string  `json:"type,omitempty"`
	Cwd    string  `json:"cwd,omitempty"`
	Status Status  `json:"status"`
}

// A CoWorkerList is one page of co-workers.
type CoWorkerList struct {
	CoWorkers []CoWorker `json:"co_workers"`
	Next      string     `json:"next,omitempty"`
}

// Rows is the part that REST answers as a bare array.
func (l *CoWorkerList) Rows() any { return &l.CoWorkers }

// Cursor is where the next page starts.
func (l *CoWorkerList) Cursor() *string { return &l.Next }

// Unregistered confirms the end of a session.
type Unregistered struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// RenameInput is a new name for the caller.
type RenameInput struct {
	NewID string `json:"new_id" jsonschema:"The new id; a bare name stays on your host"`
}

// A Renaming confirms a RenameInput.
type Renaming struct {
	OldID   AgentID `json:"old_id"`
	ID      AgentID `json:"id"`
	Message string  `json:"message"`
}

// Expires is when an agent that does not call again is no longer online, given how
// long that is without a declared interval.
func (a Agent) Expires(window time.Duration) time.Time {
	if a.Heartbeat > 0 {
		window = OnlineBeats * time.Duration(a.Heartbeat) * time.Second
	}
	return a.LastSeen.Add(window)
}
