package c3po

import (
	"errors"
	"fmt"
	"strings"
)

// A Protocol is what programs of ours say to a coordinator, and what it answers,
// as a number. It rises when one that is not told of the change would
// misunderstand it. A new operation or an optional field is no such change.
type Protocol int

// The protocols that this version speaks.
const (
	OldestProtocol Protocol = 1
	NewestProtocol Protocol = 1
)

// The headers in which both ends say which version they are. Our clients name
// theirs in X-C3PO-Client, "c3po/1.2 claude-code".
const (
	VersionHeader  = "X-C3PO-Version"
	ProtocolHeader = "X-C3PO-Protocol"
)

// Protocols are the oldest and the newest that one end speaks.
type Protocols struct{ Oldest, Newest Protocol }

// OwnProtocols are those of this version.
func OwnProtocols() Protocols { return Protocols{OldestProtocol, NewestProtocol} }

// String is what ProtocolHeader holds: "1-2".
func (p Protocols) String() string { return fmt.Sprintf("%d-%d", p.Oldest, p.Newest) }

// ParseProtocols reads a ProtocolHeader.
func ParseProtocols(s string) (Protocols, error) {
	var p Protocols
	if _, err := fmt.Sscanf(s, "%d-%d", &p.Oldest, &p.Newest); err != nil || p.String() != s || p.Oldest < 1 || p.Newest < p.Oldest {
		return Protocols{}, Errorf(InvalidRequest, "header %s is %q, not the oldest and the newest protocol", ProtocolHeader, Clip(s)).
			Suggest("Leave it out, or send for example %s.", OwnProtocols())
	}
	return p, nil
}

// Meet says in one sentence why a client and a coordinator do not understand each
// other, and which of the two is to be upgraded; nil if they do.
func Meet(client Protocols, clientVersion string, coordinator Protocols, coordinatorVersion string) *Error {
	sentence := fmt.Sprintf("this is c3po %s (protocols %s) and its coordinator is %s (protocols %s): they do not understand each other", clientVersion, client, coordinatorVersion, coordinator)
	switch {
	case client.Newest < coordinator.Oldest:
		return Errorf(InvalidRequest, "%s", sentence).Suggest("Upgrade c3po on this host to %s. This call was not carried out.", coordinatorVersion)
	case coordinator.Newest < client.Oldest:
		return Errorf(InvalidRequest, "%s", sentence).Suggest("Upgrade the coordinator to %s. This call was not carried out.", clientVersion)
	}
	return nil
}

// ClientVersion is the version in an X-C3PO-Client of ours; empty for others.
func ClientVersion(client string) string {
	version, ours := strings.CutPrefix(client, "c3po/")
	if !ours {
		return ""
	}
	version, _, _ = strings.Cut(version, " ")
	return version
}

// errNotKnown is the cause of a refusal of something that a coordinator of
// another version may know.
var errNotKnown = errors.New("not known to this version")

// OtherVersion adds to the refusal of an operation or a field that does not exist
// that the client is of another version, if it is.
func OtherVersion(refused *Error, client, coordinator string) *Error {
	if client == "" || client == coordinator || !errors.Is(refused.cause, errNotKnown) {
		return refused
	}
	told := *refused
	return told.Suggest("Your c3po is %s and this coordinator is %s: upgrade the older of them, or do without it. This call was not carried out.", client, coordinator)
}
