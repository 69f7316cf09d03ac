package c3po

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// A RoomName names a room: "lobby". A value that came from ParseRoomName or
// from JSON is valid; the empty value means "none given".
type RoomName string

// Everybody is the built-in room of broadcasts. Nobody joins or leaves it.
const Everybody RoomName = "all"

// ParseRoomName accepts a name, with or without the # that people write.
func ParseRoomName(s string) (RoomName, error) {
	name := strings.TrimPrefix(s, "#")
	if !isLabel(name) {
		return "", Errorf(InvalidRequest, "%q is not the name of a room", Clip(s)).
			Suggest("A room is 1-64 of a-z 0-9 . _ - starting with a letter or digit, for example build.")
	}
	return RoomName(name), nil
}

// UnmarshalText accepts the empty text, so that an optional name can be left out.
func (r *RoomName) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*r = ""
		return nil
	}
	name, err := ParseRoomName(string(text))
	*r = name
	return err
}

// Reserved says that nobody may make a room of this name.
func (r RoomName) Reserved() bool { return reserved[string(r)] }

// Address is how the room stands where an agent's id could: "#lobby".
func (r RoomName) Address() AgentID { return AgentID("#" + string(r)) }

// Reader is the address of one member in the room: "api#lobby".
func (r RoomName) Reader(id AgentID) AgentID { return id + r.Address() }

// Room is the room of an address; empty for that of an agent.
func (a AgentID) Room() RoomName {
	_, room, found := strings.Cut(string(a), "#")
	if !found {
		return ""
	}
	return RoomName(room)
}

// Room is the room a post is in; empty for the id of any other message.
func (m MessageID) Room() RoomName {
	_, to, _ := m.Split()
	return to.Room()
}

// Visibility says who sees a room and may join it.
type Visibility string

// The visibilities.
const (
	Public     Visibility = "public"      // everybody
	InviteOnly Visibility = "invite_only" // its members, and whom they invite
)

// Notify says by what of a room a member is woken.
type Notify string

// The values of Notify.
const (
	NotifyAll      Notify = "all"      // every post counts as mail of the member
	NotifyMentions Notify = "mentions" // only what names the member with @ is mail; the default
	NotifyNone     Notify = "none"     // nothing is, and no wait ends with a post
)

// Known says that a word is one of them.
func (n Notify) Known() bool { return n == NotifyAll || n == NotifyMentions || n == NotifyNone }

// Hears says whether a reader that is after rooms of this kind, or of a louder one,
// hears of a room that is set to other. An empty one hears of all.
func (n Notify) Hears(other Notify) bool {
	switch n {
	case NotifyAll:
		return other == NotifyAll
	case NotifyMentions:
		return other != NotifyNone
	}
	return true
}

// A Room as a caller sees it.
type Room struct {
	Room       RoomName   `json:"room"`
	Visibility Visibility `json:"visibility"`
	Creator    AgentID    `json:"creator"`
	Members    int        `json:"members"`
	Posts      int        `json:"posts"` // that are kept
	Joined     bool       `json:"joined"`
	Unread     int        `json:"unread,omitempty"` // of a room the caller is in
	Notify     Notify     `json:"notify,omitempty"` // of a room the caller is in
	Created    time.Time  `json:"created"`
}

// RoomJoinInput names the room to join.
type RoomJoinInput struct {
	Room       RoomName   `json:"room" jsonschema:"Name of the room; it is made if there is none"`
	Visibility Visibility `json:"visibility,omitempty" jsonschema:"Of a room that is made by this: public (default) or invite_only"`
	Notify     Notify     `json:"notify,omitempty" jsonschema:"What of it is mail that wakes you: all posts, mentions of you (default) or none; joining again changes it"`
}

// RoomJoined is a room and the last that was said in it.
type RoomJoined struct {
	Room
	Made     bool      `json:"made"`    // by this call
	Already  bool      `json:"already"` // the caller was a member before
	Messages []Message `json:"messages"`
	Next     string    `json:"next,omitempty"`   // for room_history: what was said before
	Notice   string    `json:"notice,omitempty"` // what failed after the change was stored
}

// RoomInput names a room.
type RoomInput struct {
	Room RoomName `json:"room" jsonschema:"Name of the room"`
}

// RoomLeft says what became of a membership.
type RoomLeft struct {
	Room  RoomName `json:"room"`
	Left  bool     `json:"left"`
	Empty bool     `json:"empty"` // the caller was its last member; the room and its history stay
}

// RoomPostInput is something to be said in a room.
type RoomPostInput struct {
	Room        RoomName `json:"room" jsonschema:"Name of the room"`
	Message     string   `json:"message" jsonschema:"What to say, at most 50000 characters; @id of a member also sends it to that member as mail"`
	Context     string   `json:"context,omitempty" jsonschema:"Background the others need, at most 50000 characters"`
	ClientKey   string   `json:"client_key,omitempty" jsonschema:"Idempotency key: the same key never posts twice"`
	ContentType string   `json:"content_type,omitempty" jsonschema:"Type of the message text, for example application/json"`
}

// A PostReceipt says that a post was stored, and how safely.
type PostReceipt struct {
	ID         MessageID  `json:"id"`
	Room       RoomName   `json:"room"`
	Seq        int64      `json:"seq"`
	Timestamp  time.Time  `json:"timestamp"`
	Durability Durability `json:"durability"`
	Members    int        `json:"members"`
	Mailed     []AgentID  `json:"mailed"` // members that were mentioned, and have it as mail
	Notice     string     `json:"notice,omitempty"`
	Warning    string     `json:"warning,omitempty"` // a budget is nearly spent
}

// RoomHistoryInput pages back through a room.
type RoomHistoryInput struct {
	Room   RoomName `json:"room" jsonschema:"Name of the room"`
	Cursor string   `json:"cursor,omitempty" jsonschema:"Where to go on, further back: the next of an earlier answer"`
	Limit  int      `json:"limit,omitempty" jsonschema:"How many at the most; 50 if left out"`
}

// RoomListInput selects and pages.
type RoomListInput struct {
	All    bool   `json:"all,omitempty" jsonschema:"All rooms you can see; only those you are in if left out"`
	Cursor string `json:"cursor,omitempty" jsonschema:"Where to go on: the next of an earlier answer"`
	Limit  int    `json:"limit,omitempty" jsonschema:"How many at the most"`
}

// A RoomList is one page of rooms.
type RoomList struct {
	Rooms []Room `json:"rooms"`
	Next  string `json:"next,omitempty"`
}

// Rows is the part that REST answers as a bare array.
func (l *RoomList) Rows() any { return &l.Rooms }

// Cursor is where the next page starts.
func (l *RoomList) Cursor() *string { return &l.Next }

// RoomInviteInput names whom to invite.
type RoomInviteInput struct {
	Room  RoomName `json:"room" jsonschema:"Name of the room"`
	Agent string   `json:"agent" jsonschema:"Whom to invite: an id, or a bare name if only one agent has it"`
}

// RoomInvited says whether an invitation was new, and whether it was told.
type RoomInvited struct {
	Room    RoomName `json:"room"`
	Agent   AgentID  `json:"agent"`
	Member  bool     `json:"member"`  // it is one already, and needs no invitation
	Already bool     `json:"already"` // it had been invited before
	Notice  string   `json:"notice,omitempty"`
}

// RoomSetInput changes a room.
type RoomSetInput struct {
	Room       RoomName   `json:"room" jsonschema:"Name of the room"`
	Visibility Visibility `json:"visibility" jsonschema:"public or invite_only"`
}

// RoomEnded says whether a room was there to end.
type RoomEnded struct {
	Room    RoomName `json:"room"`
	Members int      `json:"members"` // that it had
	Posts   int      `json:"posts"`   // that were forgotten with it
}

// RoomPruneInput says which members count as dead, or which rooms are over.
type RoomPruneInput struct {
	Room   RoomName `json:"room,omitempty" jsonschema:"Only this room; all of them if left out"`
	Older  int      `json:"older,omitempty" jsonschema:"Seconds without a sign of life; a day if left out, and 30 days of empty rooms"`
	Empty  bool     `json:"empty,omitempty" jsonschema:"Evict nobody; end rooms that have no members and were silent for so long"`
	DryRun bool     `json:"dry_run,omitempty" jsonschema:"Only say what would be done"`
}

// An Eviction is a member that was taken out of a room.
type Eviction struct {
	Room     RoomName  `json:"room"`
	Agent    AgentID   `json:"agent"`
	LastSeen time.Time `json:"last_seen"`
}

// RoomPruned lists who was evicted, and which empty rooms ended. Mail is untouched.
type RoomPruned struct {
	Evicted []Eviction `json:"evicted"`
	Ended   []RoomName `json:"ended"` // empty rooms that have ended
	DryRun  bool       `json:"dry_run"`
	Notice  string     `json:"notice,omitempty"` // what failed after the change was stored
}

// BroadcastInput is something to be said to everybody, or with Cursor the
// question who else was live.
type BroadcastInput struct {
	Message     string `json:"message,omitempty" jsonschema:"What to say, at most 50000 characters"`
	Context     string `json:"context,omitempty" jsonschema:"Background the others need, at most 50000 characters"`
	Type        string `json:"type,omitempty" jsonschema:"Only to agents of this type, for example codex"`
	Capability  string `json:"capability,omitempty" jsonschema:"Only to agents with this capability"`
	Host        string `json:"host,omitempty" jsonschema:"Only to agents of this host"`
	ClientKey   string `json:"client_key,omitempty" jsonschema:"Idempotency key: the same key never sends twice"`
	ContentType string `json:"content_type,omitempty" jsonschema:"Type of the message text, for example application/json"`
	Cursor      string `json:"cursor,omitempty" jsonschema:"The next of a receipt: shows more of who was live, and sends nothing"`
}

// A BroadcastReceipt says that a broadcast was stored, and who was live then.
type BroadcastReceipt struct {
	ID         MessageID  `json:"id"`
	Seq        int64      `json:"seq"`
	Timestamp  time.Time  `json:"timestamp"`
	Durability Durability `json:"durability"`
	Live       []AgentID  `json:"live"`           // of those it is for; the others see it if they return within its life
	Next       string     `json:"next,omitempty"` // the cursor that shows more of them
	Notice     string     `json:"notice,omitempty"`
	Warning    string     `json:"warning,omitempty"` // a budget is nearly spent
}

// An Audience selects whom a broadcast is for; its zero value is everybody.
type Audience struct {
	Type       string `json:"type,omitempty"`
	Capability string `json:"capability,omitempty"`
	Host       string `json:"host,omitempty"`
}

// Text is the audience as it is stored; empty for everybody.
func (a Audience) Text() string {
	if a == (Audience{}) {
		return ""
	}
	text, err := json.Marshal(a)
	if err != nil {
		panic("c3po: an audience cannot fail to be JSON: " + err.Error())
	}
	return string(text)
}

// Includes says whether an agent of this description is meant.
func (a Audience) Includes(kind, host string, capabilities []string) bool {
	return (a.Type == "" || a.Type == kind) && (a.Host == "" || a.Host == host) &&
		(a.Capability == "" || slices.Contains(capabilities, a.Capability))
}
