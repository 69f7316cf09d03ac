package c3po

import (
	"regexp"
	"strings"
	"time"
)

// Agents that registered with a capability share a queue: a message to it, sent to
// role:NAME, is for any one of them. It waits in a mailbox whose id has the form
// "role/reviewer"; no agent can be on a host of that name. The address and the stored
// keys say role for historical reasons.

const (
	queueHost   = "role"
	queuePrefix = "role:"
)

var queueForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// ParseTarget accepts whom a message can be sent to: an agent id, or
// "role:NAME", which gives the mailbox of that queue.
func ParseTarget(s string) (AgentID, error) {
	name, isQueue := strings.CutPrefix(s, queuePrefix)
	if !isQueue {
		return ParseAgentID(s)
	}
	if !queueForm.MatchString(name) {
		return "", Errorf(InvalidRequest, "%q is not a role", Clip(s)).
			Suggest("A role is role: and a capability of 1-64 of A-Z a-z 0-9 _ . - that starts with a letter or digit.")
	}
	return queueMailbox(name), nil
}

func queueMailbox(name string) AgentID { return AgentID(queueHost + "/" + name) }

// Queue is the name of the queue whose mailbox this is; empty for an agent.
func (a AgentID) Queue() string {
	name, ok := strings.CutPrefix(string(a), queueHost+"/")
	if !ok {
		return ""
	}
	return name
}

// QueuesOf lists the mailboxes of the queues that an agent with these capabilities
// takes part in. A capability that cannot name a queue has none.
func QueuesOf(capabilities []string) []AgentID {
	var queues []AgentID
	for _, capability := range capabilities {
		if queueForm.MatchString(capability) {
			queues = append(queues, queueMailbox(capability))
		}
	}
	return queues
}

// A Claim says which agent holds a message of a queue, and since when.
type Claim struct {
	By AgentID   `json:"by"`
	At time.Time `json:"at"`
	// Released is a claim whose holder cannot work on the message now: others may take it.
	Released bool `json:"released,omitempty"`
}
