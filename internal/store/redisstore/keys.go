package redisstore

import (
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// What belongs to no space.
const (
	spacesKey   = "c3po:1:{_}:spaces"
	grantsKey   = "c3po:1:{_}:grants"
	runsKey     = "c3po:1:{_}:runs"
	auditKey    = "c3po:1:{_}:audit"
	refusalsKey = "c3po:1:{_}:refusals"
	chainKey    = "c3po:1:{_}:chain"
	schemaKey   = "c3po:1:{_}:schema"
	leavingKey  = "c3po:1:{_}:leaving"
	floorKey    = "c3po:1:{_}:floor"
	passkeysKey = "c3po:1:{_}:passkeys" // #nosec G101 -- a key of Redis
)

func grantKey(kid string) string { return "c3po:1:{_}:grant:" + kid }
func inviteKey(id string) string { return "c3po:1:{_}:invite:" + id }
func linkKey(id string) string   { return "c3po:1:{_}:link:" + id }
func proofKey(id string) string  { return "c3po:1:{_}:proof:" + id }

// keys spells the keys of one space. No other file does.
type keys string

func keysOf(space c3po.Space) keys { return keys("c3po:1:{" + string(space) + "}:") }

// noSpace spells the keys of what belongs to no space.
const noSpace = keys("c3po:1:{_}:")

// What scripts call keys is how they are spelt: those of a space, or of none, and
// those that each agent has.
var (
	spaceNames = strings.Fields(`meta agents names seen heard retired renamed owed sessions nodes attached ending idem idemx expire threads dead
		events aliases tickets roles flow flowx imported rooms roomorder deadlines edits editors files filex filebox
		spaces grants changes auth ca runs chain schema reaper leaving floor passkeys`)
	agentNames = strings.Fields("agent inbox body fact box mark ended rate joined skips reads")
)

// A spelling spells many keys with little memory: they stand one after the other in
// one text.
type spelling struct{ text strings.Builder }

func (s *spelling) spell(parts ...string) string {
	need := 0
	for _, part := range parts {
		need += len(part)
	}
	if s.text.Cap()-s.text.Len() < need {
		s.text = strings.Builder{}
		s.text.Grow(max(need, 1<<10))
	}
	start := s.text.Len()
	for _, part := range parts {
		s.text.WriteString(part)
	}
	return s.text.String()[start:]
}

// named spells a key of the space itself.
func (k keys) named(name string) (string, bool) {
	return string(k) + name, slices.Contains(spaceNames, name)
}

// owned are the keys that one agent has.
type owned struct {
	keys keys
	id   c3po.AgentID
}

func (k keys) of(id c3po.AgentID) owned { return owned{k, id} }

// named spells one of them.
func (o owned) named(name string) (string, bool) {
	return string(o.keys) + name + ":" + string(o.id), o.keys != "" && slices.Contains(agentNames, name)
}

func (k keys) meta() string      { return string(k) + "meta" }
func (k keys) agents() string    { return string(k) + "agents" }
func (k keys) names() string     { return string(k) + "names" }
func (k keys) seen() string      { return string(k) + "seen" }
func (k keys) lastKnown() string { return string(k) + "heard" }
func (k keys) retired() string   { return string(k) + "retired" }
func (k keys) renamed() string   { return string(k) + "renamed" }
func (k keys) owed() string      { return string(k) + "owed" }
func (k keys) nodes() string     { return string(k) + "nodes" }
func (k keys) attached() string  { return string(k) + "attached" }
func (k keys) ending() string    { return string(k) + "ending" }
func (k keys) expire() string    { return string(k) + "expire" }
func (k keys) threads() string   { return string(k) + "threads" }
func (k keys) dead() string      { return string(k) + "dead" }
func (k keys) events() string    { return string(k) + "events" }
func (k keys) aliases() string   { return string(k) + "aliases" }
func (k keys) tickets() string   { return string(k) + "tickets" }
func (k keys) queues() string    { return string(k) + "roles" }
func (k keys) flow() string      { return string(k) + "flow" }
func (k keys) wake() string      { return string(k) + "wake" }
func (k keys) imported() string  { return string(k) + "imported" }
func (k keys) edits() string     { return string(k) + "edits" }
func (k keys) editors() string   { return string(k) + "editors" }

func (k keys) rooms() string     { return string(k) + "rooms" }
func (k keys) roomOrder() string { return string(k) + "roomorder" }
func (k keys) deadlines() string { return string(k) + "deadlines" }

func (k keys) files() string              { return string(k) + "files" }
func (k keys) filebox() string            { return string(k) + "filebox" }
func (k keys) filesDue() string           { return string(k) + "filex" }
func (k keys) file(id c3po.FileID) string { return string(k) + "file:" + string(id) }

func (k keys) agent(id c3po.AgentID) string  { return string(k) + "agent:" + string(id) }
func (k keys) inbox(id c3po.AgentID) string  { return string(k) + "inbox:" + string(id) }
func (k keys) body(id c3po.AgentID) string   { return string(k) + "body:" + string(id) }
func (k keys) fact(id c3po.AgentID) string   { return string(k) + "fact:" + string(id) }
func (k keys) box(id c3po.AgentID) string    { return string(k) + "box:" + string(id) }
func (k keys) mark(id c3po.AgentID) string   { return string(k) + "mark:" + string(id) }
func (k keys) rate(id c3po.AgentID) string   { return string(k) + "rate:" + string(id) }
func (k keys) joined(id c3po.AgentID) string { return string(k) + "joined:" + string(id) }
func (k keys) skips(id c3po.AgentID) string  { return string(k) + "skips:" + string(id) }
func (k keys) reads(id c3po.AgentID) string  { return string(k) + "reads:" + string(id) }

func (k keys) room(name c3po.RoomName) string    { return string(k) + "room:" + string(name) }
func (k keys) members(name c3po.RoomName) string { return string(k) + "members:" + string(name) }
func (k keys) invited(name c3po.RoomName) string { return string(k) + "invited:" + string(name) }
