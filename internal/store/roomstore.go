package store

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A RoomRecord is what is kept of a room.
type RoomRecord struct {
	Name       c3po.RoomName
	Creator    c3po.AgentID
	Visibility c3po.Visibility
	Created    time.Time
	Number     int64 // of the event that made it: rooms are listed by it
	Members    int
	Posts      int   // that are kept
	Emptied    int64 // the lived second since when nobody is in it and nothing was said; of a room with members it means nothing
	Member     bool
	Invited    bool
}

// JoinStep asks for a place in a room.
type JoinStep struct {
	Room       c3po.RoomName
	Agent      c3po.AgentID
	Run        string
	Visibility c3po.Visibility // of a room that is made by it
	Notify     c3po.Notify     // what wakes the member from now on; empty: as before, or only mentions
}

// Joined is a membership.
type Joined struct {
	Room    RoomRecord
	Made    bool // the room is new
	Already bool // the member keeps its cursor
	Notify  c3po.Notify
}

// LeaveOutcome is what became of a membership that was to end.
type LeaveOutcome string

// The outcomes of leaving.
const (
	LeaveDone  LeaveOutcome = "left"
	LeaveEmpty LeaveOutcome = "empty" // it was the last; the room stays
	LeaveNone  LeaveOutcome = "none"  // there was no such membership
)

// EndRoomStep asks for the end of a room.
type EndRoomStep struct {
	Room    c3po.RoomName
	By      c3po.AgentID
	Run     string
	Outside bool // a person's act, or the rule's: By need not have made the room
	// Silent, unless it is 0, lets only a room end that was empty and silent for so
	// much lived time.
	Silent time.Duration
}

// EndRoomOutcome is what became of a room that was to end.
type EndRoomOutcome string

// The outcomes of ending a room.
const (
	EndDone    EndRoomOutcome = "ended"
	EndMembers EndRoomOutcome = "members" // it has members, who must leave first
	EndKept    EndRoomOutcome = "kept"    // something happened there within Silent
)

// InviteOutcome is what became of an invitation.
type InviteOutcome string

// The outcomes of inviting.
const (
	InviteDone    InviteOutcome = "invited"
	InviteAlready InviteOutcome = "already"
	InviteMember  InviteOutcome = "member"
)

// An Invitation is one of an agent into a room. At is the sequence of the space
// when it was made, which tells it from one that was used before.
type Invitation struct {
	Outcome InviteOutcome
	At      int64
}

// PostStep is something said in a room. To is the room's address, Kind a post
// or a broadcast.
type PostStep struct {
	Draft
	Run        string
	Durability c3po.Durability
	RateLimit  int
	Outside    bool           // the sender need not be a member: a person, or the system
	Mentions   []c3po.AgentID // those of them that are members get it as mail too
	Audience   c3po.Audience  // of a broadcast
}

// MaxMentions is how many members one post reaches as mail.
const MaxMentions = 5

// Posted is what became of a post.
type Posted struct {
	Post    Post // of a repeat, the first one
	Repeat  bool
	Members int
	Sent    int // what its sender has sent within a minute; 0 if that is not limited
	Now     time.Time
	// SenderPaused is why the sender was paused when it said this; empty if it was not, or
	// if this is a repeat.
	SenderPaused string
}

// A Post is an entry of a room's log.
type Post struct {
	Entry
	Mailed   []c3po.AgentID // members that have it as mail: they do not see it in the room again
	Audience c3po.Audience
}

// RoomQuery selects what a member has not acked in its rooms, and broadcasts
// that are for it, oldest first. It leaves out what the owner said itself, what
// it has as mail, and broadcasts that are over.
type RoomQuery struct {
	Run    string
	Reader string
	After  int64 // only posts with a greater sequence
	Limit  int   // 0: only count
	Bytes  int   // stop after so many bytes of bodies, but never before the first post
	// SkipGiven leaves out what the reader was given before. With Positioned
	// that is what it was given in answers that told it a position up to After.
	SkipGiven  bool
	Positioned bool
	Given      []c3po.MessageID // given to the reader by this node, perhaps not yet noted
	// Hears leaves out posts of rooms that do not wake the owner like that. The
	// rooms themselves are listed.
	Hears c3po.Notify
}

// RoomUnread is how much of a room is not acked. Of broadcasts it is an upper
// bound: whom they are for is seen when they are read.
type RoomUnread struct {
	Room   c3po.RoomName
	Unread int
	Notify c3po.Notify
}

// RoomMail is an answer to RoomQuery.
type RoomMail struct {
	Posts []Post
	Next  int64        // sequence of the first post that was left out for Limit or Bytes; 0 if none was
	Rooms []RoomUnread // all the owner is in, by name, and last the broadcasts if there are any for it to look at
	Seq   int64        // the space's sequence when it was read
	Now   time.Time
}

// Unread is the sum over all rooms; Loud is the sum over the rooms whose posts are mail.
func (m RoomMail) Unread() int {
	sum := 0
	for _, room := range m.Rooms {
		sum += room.Unread
	}
	return sum
}

// Loud is what is unread in rooms of which the owner wants to hear everything.
func (m RoomMail) Loud() int {
	sum := 0
	for _, room := range m.Rooms {
		if room.Notify == c3po.NotifyAll {
			sum += room.Unread
		}
	}
	return sum
}

// A Member of a room.
type Member struct {
	ID     c3po.AgentID
	Number int64 // of the event by which it joined: members are listed by it
}

type roomStore interface {
	// Join makes the agent a member, and the room if there is none. Its cursor
	// starts at the end of the log. Checks in this order: SUPERSEDED,
	// AGENT_NOT_FOUND, RefuseNoRoom if the room is for invited agents and this is
	// neither one nor its creator, RefuseManyRooms. An invitation is spent by it. Who
	// is a member already can change what wakes it; its waits then look again.
	Join(ctx context.Context, space c3po.Space, step JoinStep) (Joined, error)
	// Leave ends a membership. The room stays, also without members.
	Leave(ctx context.Context, space c3po.Space, room c3po.RoomName, id c3po.AgentID, run string) (LeaveOutcome, error)
	// EndRoom forgets a room, its history and its invitations. Only its creator may,
	// unless Outside: SUPERSEDED, RefuseNoRoom, RefuseNotCreator.
	EndRoom(ctx context.Context, space c3po.Space, step EndRoomStep) (EndRoomOutcome, error)
	// Invite lets an agent into a room. Only a member may, unless outside: RefuseNoRoom,
	// RefuseNotInRoom.
	Invite(ctx context.Context, space c3po.Space, room c3po.RoomName, by c3po.AgentID, run string, outside bool, guest c3po.AgentID) (Invitation, error)
	// SetVisibility changes who sees a room. Only its creator may, unless outside:
	// RefuseNoRoom, RefuseNotCreator.
	SetVisibility(ctx context.Context, space c3po.Space, room c3po.RoomName, by c3po.AgentID, run string, outside bool, v c3po.Visibility) error
	// Post adds to the log of a room, once whatever the number of members, and
	// puts it into the inboxes of mentioned members that have room for it and want it. The oldest posts
	// go when there are more than RoomPosts, or RoomBytes. Checks in this order:
	// SUPERSEDED, the repeat of an earlier post (KEY_CONFLICT), RefuseNoRoom,
	// RefuseNotInRoom, RATE_LIMITED.
	Post(ctx context.Context, space c3po.Space, step PostStep) (Posted, error)
	// AckPosts moves the cursors of the owner to the posts named, never back:
	// everything before them counts as dealt with too. Outcomes are in the order
	// of ids. It works when the store is full.
	AckPosts(ctx context.Context, space c3po.Space, owner c3po.AgentID, run string, ids []c3po.MessageID) ([]AckOutcome, error)

	// Reads.

	RoomMail(ctx context.Context, space c3po.Space, owner c3po.AgentID, q RoomQuery) (RoomMail, error)
	// Rooms returns the rooms of that name, in that order, leaving out unknown
	// ones, with what the viewer is there.
	Rooms(ctx context.Context, space c3po.Space, viewer c3po.AgentID, names []c3po.RoomName) ([]RoomRecord, error)
	// RoomPage returns the names of up to limit rooms that were made after the event after,
	// and that event of the last.
	RoomPage(ctx context.Context, space c3po.Space, after int64, limit int) ([]c3po.RoomName, int64, error)
	// RoomsOf returns the rooms an agent is in, by name.
	RoomsOf(ctx context.Context, space c3po.Space, id c3po.AgentID) ([]c3po.RoomName, error)
	// RoomMembers returns up to limit members that joined after the event after.
	RoomMembers(ctx context.Context, space c3po.Space, room c3po.RoomName, after int64, limit int) ([]Member, error)
	// History returns up to limit posts of a room below the sequence before (0: the latest),
	// oldest first, and whether there are older ones. Bytes is as in RoomQuery.
	History(ctx context.Context, space c3po.Space, room c3po.RoomName, before int64, limit, bytes int) ([]Post, bool, error)
	// OnePost returns a post; nil if it is unknown or no longer kept.
	OnePost(ctx context.Context, space c3po.Space, id c3po.MessageID) (*Post, error)
}

// PostNumber is the sequence of a post, given its id and a number that is at
// most 2^32 above it: that of the last post of its room.
func PostNumber(id c3po.MessageID, last int64) int64 {
	_, _, hex := id.Split()
	number := last&^0xffffffff | unpermute(hex)
	if number > last {
		number -= 1 << 32
	}
	return number
}

// Fingerprint is that of the draft, and of whom it is for.
func (s PostStep) Fingerprint() string {
	return Fingerprint(s.Draft, c3po.MessageID(s.Audience.Text()))
}

// Mail is the post as a member gets it that is mentioned in it: somebody speaks
// to it, so an answer is expected.
func (s PostStep) Mail(to c3po.AgentID) Draft {
	d := s.Draft
	d.To, d.Kind, d.ExpectsReply, d.Key = to, c3po.KindMessage, true, ""
	return d
}
