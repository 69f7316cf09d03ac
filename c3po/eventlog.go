package c3po

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// LogInput selects events of a space's log. What is left out selects nothing
// away; without After and Since it is the newest events.
type LogInput struct {
	After  string      `json:"after,omitempty" jsonschema:"Only events after this place: the at of an earlier answer"`
	Since  string      `json:"since,omitempty" jsonschema:"Only events since then: 10m, 2h, 7d, or a time such as 2026-01-02T15:04:05Z"`
	Agent  AgentID     `json:"agent,omitempty" jsonschema:"Only events about this agent, or a message from or to it"`
	Kinds  []EventKind `json:"kinds,omitempty" jsonschema:"Only events of these kinds"`
	Thread string      `json:"thread,omitempty" jsonschema:"Only messages of this thread: its id, or the id of a message in it"`
	Limit  int         `json:"limit,omitempty" jsonschema:"How many at the most"`
}

// A LogPage is a part of the log, oldest first.
type LogPage struct {
	Events []Event     `json:"events"`
	At     string      `json:"at"`              // everything up to here was looked at: go on with it as after
	More   bool        `json:"more,omitempty"`  // there are events after At already
	Reset  ResetReason `json:"reset,omitempty"` // events between after and the first of these are lost to the reader
}

// Wants says whether an event is of a kind and about an agent that were asked
// for. A bare name stands for every agent that has it. Threads are not looked
// at: an event does not know its own.
func (in LogInput) Wants(e Event) bool {
	if len(in.Kinds) > 0 && !slices.Contains(in.Kinds, e.Kind) {
		return false
	}
	if in.Agent == "" || in.Agent.isOrNames(e.Agent) {
		return true
	}
	from, to, _ := e.ID.Split()
	return in.Agent.isOrNames(from) || in.Agent.isOrNames(to)
}

func (a AgentID) isOrNames(other AgentID) bool {
	return a == other || a.Host() == "" && other != "" && a.Name() == other.Name()
}

// ParseSince reads a time, or how long ago it was.
func ParseSince(text string, now time.Time) (time.Time, error) {
	if passed, err := ParseDuration(text); err == nil && passed >= 0 {
		return now.Add(-passed), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	return time.Time{}, Errorf(InvalidRequest, "%q is neither a time nor how long ago it was", Clip(text)).
		Suggest("Write 10m, 2h or 7d, or a time such as 2026-01-02T15:04:05Z.")
}

// ParseDuration reads a duration as Go writes them, or a number of days: 7d.
func ParseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		// As many as a Duration can hold, and more than anything here lasts.
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, Errorf(InvalidRequest, "%q is no duration", Clip(text)).Suggest("Write 30s, 10m, 2h or 7d.")
	}
	return d, nil
}

// EventKinds are all kinds of events.
func EventKinds() []EventKind {
	return []EventKind{
		EventAccepted, EventAnswered, EventAcked, EventDead, EventRedelivered, EventRetired, EventRenamed, EventDelivered, EventClaimed, EventReleased, EventTimedOut, EventCancelled, EventRegistered, EventUnregistered, EventDied, EventPaused, EventResumed,
		EventPosted, EventJoined, EventLeft, EventRoomEnded, EventRollback,
	}
}
