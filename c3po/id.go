package c3po

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
)

// An AgentID names an agent: "api", or "build-box/api" with the host it lives on.
//
// A value that came from ParseAgentID or from JSON is valid; code past the edge
// of the program never checks one again. The empty value means "none given".
type AgentID string

// A MessageID names a message: "from::to::8 hex", and "from::#room::8 hex" a
// post in a room. The parts say where to look, never who may act.
type MessageID string

// A Space is the unit of visibility: agents of other spaces do not exist.
type Space string

// DefaultSpace is where callers live who name no space.
const DefaultSpace Space = "main"

const (
	// Human is the mailbox of the person.
	Human AgentID = "human"
	// System is who bounces come from.
	System AgentID = "system"
)

var (
	posingName = regexp.MustCompile(`[_.-]+`)
	notInName  = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)
)

// Names that would let an agent pose as a person, as us, or as an address form.
var reserved = map[string]bool{
	"human": true, "user": true, "person": true, "operator": true, "overseer": true,
	"admin": true, "administrator": true, "root": true, "system": true, "c3po": true,
	"coordinator": true, "all": true, "everyone": true, "here": true, "role": true, "room": true,
}

// ParseAgentID accepts a name or host/name.
func ParseAgentID(s string) (AgentID, error) {
	if !isAgentID(s) {
		return "", Errorf(InvalidRequest, "%q is not an agent id", Clip(s)).
			Suggest("An id is a name or host/name; each part has 1-64 of A-Z a-z 0-9 _ . - and starts with a letter or digit.")
	}
	return AgentID(s), nil
}

// Name is the part after the host.
func (a AgentID) Name() string {
	_, name, found := strings.Cut(string(a), "/")
	if !found {
		return string(a)
	}
	return name
}

// Host is the part before the slash, empty for a bare name.
func (a AgentID) Host() string {
	host, _, found := strings.Cut(string(a), "/")
	if !found {
		return ""
	}
	return host
}

// MaxBriefBytes is how long an id is where a model is told of it in passing: what a
// person would type, and too short for a speech.
const MaxBriefBytes = 64

// Brief is the id as notices and advice name it. A longer one is cut in both
// parts and ends in a mark of the whole, so that two differ as their ids do; it
// is understood wherever an id is asked for, and no agent can be called so.
func (a AgentID) Brief() string {
	if len(a) <= MaxBriefBytes {
		return string(a)
	}
	const maxHostBytes, mark = 20, 9 // bytes; of ~ and the sum
	host := a.Host()
	if len(host) > maxHostBytes {
		host = host[:maxHostBytes]
	}
	name := a.Name()
	sum := sha256.Sum256([]byte(a))
	return fmt.Sprintf("%s/%s~%x", host, name[:min(len(name), MaxBriefBytes-len(host)-1-mark)], sum[:4])
}

// BriefName is the beginning of the name that a brief id stands for, if it is one.
func BriefName(text string) (name string, ok bool) {
	whole, sum, ok := strings.Cut(text, "~")
	if !ok || len(text) > MaxBriefBytes || len(sum) != 8 {
		return "", false
	}
	id, err := ParseAgentID(whole)
	return id.Name(), err == nil
}

// Reserved says that no agent may register under this id.
func (a AgentID) Reserved() bool {
	return reserved[strings.ToLower(a.Name())] || strings.EqualFold(a.Host(), queueHost)
}

// posing are the words that mean the person: no name has one as a part of its own,
// since "from human-2" reads like "from human".
var posing = map[string]bool{"human": true, "person": true}

// Poses says that no new agent is given this id: a reader would take it for a
// reserved name. Separators, capitals and numbers at the end make no other name:
// human-2, H.u.m.a.n and SYSTEM_1 pose, and so do Human-Operator and your-person.
// The host counts like the name: human/api reads like the person's. An agent that was
// called so before the rule keeps its name.
func (a AgentID) Poses() bool {
	return a.Reserved() || poses(a.Name()) || poses(a.Host())
}

// poses says that one part of an id reads like a reserved name.
func poses(text string) bool {
	const digits = "0123456789"
	parts := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune("_.-", r) })
	for _, part := range parts {
		if posing[strings.TrimRight(part, digits)] {
			return true
		}
	}
	return reserved[strings.TrimRight(strings.Join(parts, ""), digits)]
}

// Numbered gives the id a second, third, … run of the same name is known by.
func (a AgentID) Numbered(n int) AgentID {
	if n < 2 {
		return a
	}
	suffix := fmt.Sprintf("-%d", n)
	host, name := a.Host(), a.Name()
	if len(name)+len(suffix) > 64 {
		name = name[:64-len(suffix)]
	}
	if host == "" {
		return AgentID(name + suffix)
	}
	return AgentID(host + "/" + name + suffix)
}

// UnmarshalText accepts the empty text, so that optional ids can be left out,
// and the address of a member in a room, which posts carry as their recipient.
func (a *AgentID) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*a = ""
		return nil
	}
	member, room, inRoom := strings.Cut(string(text), "#")
	id, err := ParseAgentID(member)
	if err == nil && inRoom {
		var name RoomName
		if name, err = ParseRoomName(room); err == nil {
			id = name.Reader(id)
		}
	}
	*a = id
	return err
}

// AgentIDFromFolder turns a folder's name into an agent id that is always valid. Letters
// of Latin, Greek and Cyrillic are spelled in ASCII. Names that have nothing an id may have
// are told apart by a few digits.
func AgentIDFromFolder(folder string) AgentID {
	name := notInName.ReplaceAllString(inASCII(folder), "-")
	name = strings.TrimRight(strings.TrimLeft(name, "_.-"), "-")
	if len(name) > 64 {
		name = name[:64]
	}
	switch {
	case name == "" && folder != "":
		name = fmt.Sprintf("agent-%x", sha256.Sum256([]byte(folder)))[:len("agent-")+4]
	case name == "":
		name = "agent"
	case AgentID(name).Reserved():
		name += "-agent"
	}
	if AgentID(name).Poses() {
		name = posingName.ReplaceAllString(name, "")
		name = name[:min(len(name), 59)]
		if AgentID(name).Poses() {
			name += "agent"
		}
	}
	return AgentID(name)
}

// NewMessageID puts the parts together.
func NewMessageID(from, to AgentID, hex string) MessageID {
	return MessageID(string(from) + "::" + string(to) + "::" + hex)
}

// ParseMessageID checks the form from::to::8hex.
func ParseMessageID(s string) (MessageID, error) {
	if !isMessageID(s) {
		return "", Errorf(InvalidRequest, "%q is not a message id", Clip(s)).
			Suggest("A message id has the form from_agent::to_agent::8 hex digits; copy it whole from get_messages or from the receipt.")
	}
	return MessageID(s), nil
}

// isAddress says whether mail can go there: an agent, or "#room" for a post.
func isAddress(s string) bool {
	if room, found := strings.CutPrefix(s, "#"); found {
		return isLabel(room)
	}
	return isAgentID(s)
}

// Split gives the parts of a valid id.
func (m MessageID) Split() (from, to AgentID, hex string) {
	first, rest, _ := strings.Cut(string(m), "::")
	second, hex, found := strings.Cut(rest, "::")
	if !found || strings.Contains(hex, "::") {
		return "", "", ""
	}
	return AgentID(first), AgentID(second), hex
}

// UnmarshalText accepts the empty text, so that optional ids can be left out.
func (m *MessageID) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*m = ""
		return nil
	}
	id, err := ParseMessageID(string(text))
	*m = id
	return err
}

// ParseSpace checks a space's name; the empty name is the default space.
func ParseSpace(s string) (Space, error) {
	if s == "" {
		return DefaultSpace, nil
	}
	if !isLabel(s) || s == "role" || s == "room" {
		return "", Errorf(InvalidRequest, "%q is not a space", Clip(s)).
			Suggest("A space is 1-64 of a-z 0-9 . _ - starting with a letter or digit, and is neither role nor room.")
	}
	return Space(s), nil
}

// Clip keeps what a caller typed from filling the answer.
func Clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// ContainerHost is the host part of agents in containers, where the runner's token is
// for it. No host can join under it.
const ContainerHost = "docker"
