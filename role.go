package c3po

import (
	"regexp"
	"strings"
	"time"
)

// A role is a capability agents registered with, and what is sent to it is for
// any one of them. Its mail waits in a mailbox of its own, whose id has the form
// "role/reviewer": no agent can live on a host of that name.

const (
	roleHost   = "role"
	rolePrefix = "role:"
)

var roleForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// ParseTarget accepts whom a message can be sent to: an agent id, or
// "role:NAME", which gives the mailbox of that role.
func ParseTarget(s string) (AgentID, error) {
	name, ofRole := strings.CutPrefix(s, rolePrefix)
	if !ofRole {
		return ParseAgentID(s)
	}
	if !roleForm.MatchString(name) {
		return "", Errorf(InvalidRequest, "%q is not a role", Clip(s)).
			Suggest("A role is role: and a capability of 1-64 of A-Z a-z 0-9 _ . - that starts with a letter or digit.")
	}
	return roleMailbox(name), nil
}

func roleMailbox(name string) AgentID { return AgentID(roleHost + "/" + name) }

// Role is the name of the role whose mailbox this is; empty for an agent.
func (a AgentID) Role() string {
	name, ok := strings.CutPrefix(string(a), roleHost+"/")
	if !ok {
		return ""
	}
	return name
}

// RolesOf are the mailboxes of the roles that somebody with these capabilities
// has a part in. A capability that cannot be the name of a role is none.
func RolesOf(capabilities []string) []AgentID {
	var roles []AgentID
	for _, capability := range capabilities {
		if roleForm.MatchString(capability) {
			roles = append(roles, roleMailbox(capability))
		}
	}
	return roles
}

// A Claim says which agent holds a message of a role, and since when.
type Claim struct {
	By AgentID   `json:"by"`
	At time.Time `json:"at"`
}
