package hub_test

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// roomNames are the rooms of a list, in its order.
func roomNames(list c3po.RoomList) []c3po.RoomName {
	out := []c3po.RoomName{}
	for _, r := range list.Rooms {
		out = append(out, r.Room)
	}
	return out
}

func (h *testHub) invite(by c3po.AgentID, room c3po.RoomName, guest string) (c3po.RoomInvited, error) {
	return h.as(by).RoomInvite(h.t.Context(), c3po.RoomInviteInput{Room: room, Agent: guest})
}

func (h *testHub) setRoom(by actor, room c3po.RoomName, v c3po.Visibility) (c3po.Room, error) {
	return by.RoomSet(h.t.Context(), c3po.RoomSetInput{Room: room, Visibility: v})
}

// secretRoom is one of ann's that nobody else sees.
func (h *testHub) secretRoom(name c3po.RoomName) {
	h.t.Helper()
	must(h.as("ann").RoomJoin(h.t.Context(), c3po.RoomJoinInput{Room: name, Visibility: c3po.InviteOnly}))(h.t)
}

func TestAnInvitedAgentIsToldOnceAndMayJoinAHiddenRoom(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("ann", "bob", "carl")
	h.secretRoom("attic")
	_, err := h.as("bob").RoomJoin(t.Context(), c3po.RoomJoinInput{Room: "attic"})
	refused(t, err, c3po.InvalidRequest, "there is no room")

	same(t, "the first invitation", must(h.invite("ann", "attic", "bob"))(t), c3po.RoomInvited{Room: "attic", Agent: "bob"})
	same(t, "the second", must(h.invite("ann", "attic", "bob"))(t), c3po.RoomInvited{Room: "attic", Agent: "bob", Already: true})
	mail := h.inbox("bob")
	if len(mail) != 1 || mail[0].FromAgent != "ann" || mail[0].Room != "attic" || mail[0].ExpectsReply {
		t.Errorf("the guest is told %+v", mail)
	}
	same(t, "it sees the room", roomNames(must(h.as("bob").RoomList(t.Context(), c3po.RoomListInput{All: true}))(t)), []c3po.RoomName{"attic"})
	h.joinRoom("attic", "bob")
	same(t, "a member", must(h.invite("ann", "attic", "bob"))(t), c3po.RoomInvited{Room: "attic", Agent: "bob", Member: true})
	same(t, "is not told again", len(h.inbox("bob")), 1)
	must(h.invite("bob", "attic", "carl"))(t) // every member may
	h.joinRoom("attic", "carl")
}

func TestAnAgentThatLeftARoomHearsOfANewInvitation(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("ann", "bob")
	h.secretRoom("attic")
	must(h.invite("ann", "attic", "bob"))(t)
	h.joinRoom("attic", "bob")
	must(h.as("bob").RoomLeave(t.Context(), c3po.RoomInput{Room: "attic"}))(t)
	must(h.invite("ann", "attic", "bob"))(t)
	same(t, "invitations it was told of", len(h.inbox("bob")), 2)
}

func TestOnlyMembersAndPeopleInviteAndOnlyAgentsThatExist(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("ann", "bob", "carl")
	h.joinRoom("build", "ann")
	h.secretRoom("attic")
	_, err := h.invite("bob", "build", "carl")
	refused(t, err, c3po.Forbidden, "you are not in the room")
	// Whoever is not in a hidden room must not learn that it exists.
	_, hidden := h.invite("bob", "attic", "carl")
	_, absent := h.invite("bob", "cellar", "carl")
	refused(t, hidden, c3po.InvalidRequest, "there is no room 'attic'")
	refused(t, absent, c3po.InvalidRequest, "there is no room 'cellar'")
	_, err = h.invite("ann", "build", "dave")
	refused(t, err, c3po.AgentNotFound)
	_, err = h.invite("ann", "", "bob")
	refused(t, err, c3po.InvalidRequest, "room is missing")
	same(t, "a person's invitation", must(h.asPerson().RoomInvite(t.Context(), c3po.RoomInviteInput{Room: "attic", Agent: "carl"}))(t).Agent, c3po.AgentID("carl"))
	h.joinRoom("attic", "carl")
	same(t, "who was not invited hears nothing", len(h.inbox("bob")), 0)
}

func TestARoomIsChangedByItsMakerOrAPerson(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("ann", "bob", "carl")
	h.joinRoom("build", "ann", "bob")
	_, err := h.setRoom(h.as("bob"), "build", c3po.InviteOnly)
	refused(t, err, c3po.Forbidden, "only 'ann'")
	_, err = h.setRoom(h.as("ann"), "build", "secret")
	refused(t, err, c3po.InvalidRequest, "visibility")
	changed := must(h.setRoom(h.as("ann"), "build", c3po.InviteOnly))(t)
	if changed.Visibility != c3po.InviteOnly || changed.Members != 2 || !changed.Joined {
		t.Errorf("the room is %+v", changed)
	}
	_, err = h.setRoom(h.as("carl"), "build", c3po.Public)
	refused(t, err, c3po.InvalidRequest, "there is no room")
	_, err = h.as("carl").RoomJoin(t.Context(), c3po.RoomJoinInput{Room: "build"})
	refused(t, err, c3po.InvalidRequest, "there is no room")
	same(t, "a person opens it", must(h.setRoom(h.asPerson(), "build", c3po.Public))(t).Visibility, c3po.Public)
	h.joinRoom("build", "carl")
}

func TestARoomAndItsHistoryOutlastTheLastMember(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("ann", "bob")
	h.joinRoom("build", "ann", "bob")
	leave := func(id c3po.AgentID) c3po.RoomLeft {
		t.Helper()
		return must(h.as(id).RoomLeave(t.Context(), c3po.RoomInput{Room: "build"}))(t)
	}
	same(t, "bob leaves", leave("bob"), c3po.RoomLeft{Room: "build", Left: true})
	same(t, "and again", leave("bob"), c3po.RoomLeft{Room: "build"})
	h.say("ann", "build", "for members")
	same(t, "who left hears", len(h.inbox("bob")), 0)
	left := leave("ann")
	same(t, "ann leaves", left.Left, true)
	all := must(h.as("ann").RoomList(t.Context(), c3po.RoomListInput{All: true}))(t)
	same(t, "rooms", roomNames(all), []c3po.RoomName{"build"})
	same(t, "its members", all.Rooms[0].Members, 0)
	back := must(h.as("bob").RoomJoin(t.Context(), c3po.RoomJoinInput{Room: "build"}))(t)
	same(t, "made by ann, and no second time", back.Creator == "ann" && !back.Made, true)
	same(t, "what was said there", texts(back.Messages), []string{"for members"})
	_, err := h.as("ann").RoomLeave(t.Context(), c3po.RoomInput{})
	refused(t, err, c3po.InvalidRequest, "room is missing")
	h.balanced()
}

func TestARoomIsEndedByItsMakerOrAPersonOnly(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("ann", "bob")
	h.joinRoom("build", "ann", "bob")
	h.say("ann", "build", "hello")
	_, err := h.as("bob").RoomEnd(t.Context(), c3po.RoomInput{Room: "build"})
	refused(t, err, c3po.Forbidden, "only 'ann'")
	same(t, "who was refused evicted nobody", h.agent("ann").Rooms, []c3po.RoomName{"build"})
	ended := must(h.as("ann").RoomEnd(t.Context(), c3po.RoomInput{Room: "build"}))(t)
	same(t, "ended", ended, c3po.RoomEnded{Room: "build", Members: 2, Posts: 1})
	same(t, "rooms", roomNames(must(h.asPerson().RoomList(t.Context(), c3po.RoomListInput{}))(t)), []c3po.RoomName{})
	same(t, "its members", len(h.agent("ann").Rooms)+len(h.agent("bob").Rooms), 0)
	h.joinRoom("build", "bob")
	same(t, "a person ends any", must(h.asPerson().RoomEnd(t.Context(), c3po.RoomInput{Room: "build"}))(t).Members, 1)
	h.balanced()
}

func TestARoomOutlivesASweepAndARetirementAndIsPrunedWhenItIsEmptyForLong(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		// Days of an hour, because every second of them is lived through.
		const day = time.Hour
		h := build(t, func(l *c3po.Limits) { l.RetireAfter, l.RoomLife = 7*day, 30*day })
		h.enter("ann", "bob")
		h.joinRoom("build", "ann")
		h.joinRoom("attic", "bob")
		h.say("ann", "build", "hello")
		rooms := func() []c3po.RoomName {
			t.Helper()
			return roomNames(must(h.asPerson().RoomList(t.Context(), c3po.RoomListInput{}))(t))
		}
		pass(2 * day)
		same(t, "swept", len(must(h.asPerson().Sweep(t.Context(), c3po.SweepInput{Older: "1h"}))(t).Swept), 2)
		same(t, "after a sweep", rooms(), []c3po.RoomName{"build", "attic"})
		prune := func(days int, dry bool) []c3po.RoomName {
			t.Helper()
			in := c3po.RoomPruneInput{Empty: true, Older: days * 3600, DryRun: dry}
			return must(h.asPerson().RoomPrune(t.Context(), in))(t).Ended
		}
		pass(3 * day)
		h.enter("carl")
		h.joinRoom("build", "carl")
		same(t, "too early", prune(4, false), []c3po.RoomName{})
		same(t, "a dry run", prune(2, true), []c3po.RoomName{"attic"})
		same(t, "after a dry run", rooms(), []c3po.RoomName{"build", "attic"})
		same(t, "pruned", prune(2, false), []c3po.RoomName{"attic"})
		pass(8 * day)
		same(t, "after its members are retired", rooms(), []c3po.RoomName{"build"})
		pass(31 * day)
		same(t, "after thirty silent days", rooms(), []c3po.RoomName{})
		h.balanced()
	})
}

func TestAListOfRoomsShowsWhatItsReaderMaySee(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("ann", "bob", "carl")
	h.joinRoom("build", "ann", "bob")
	h.secretRoom("attic")
	h.joinRoom("garden", "carl")
	h.say("ann", "build", "one")
	h.say("ann", "build", "two")
	list := func(by actor, in c3po.RoomListInput) c3po.RoomList {
		t.Helper()
		return must(by.RoomList(t.Context(), in))(t)
	}
	own := list(h.as("bob"), c3po.RoomListInput{})
	if len(own.Rooms) != 1 || own.Rooms[0].Room != "build" || own.Rooms[0].Unread != 2 || own.Rooms[0].Members != 2 || !own.Rooms[0].Joined {
		t.Errorf("bob's own are %+v", own.Rooms)
	}
	same(t, "all that bob sees", roomNames(list(h.as("bob"), c3po.RoomListInput{All: true})), []c3po.RoomName{"build", "garden"})
	same(t, "all that ann sees", roomNames(list(h.as("ann"), c3po.RoomListInput{All: true})), []c3po.RoomName{"build", "attic", "garden"})
	same(t, "what a person sees", roomNames(list(h.asPerson(), c3po.RoomListInput{})), []c3po.RoomName{"build", "attic", "garden"})
	// Pages do not end where something hidden is.
	var paged []c3po.RoomName
	for in := (c3po.RoomListInput{All: true, Limit: 1}); ; {
		page := list(h.as("bob"), in)
		paged = append(paged, roomNames(page)...)
		if in.Cursor = page.Next; in.Cursor == "" {
			break
		}
	}
	same(t, "in pages", paged, []c3po.RoomName{"build", "garden"})
}

func TestTheBooksOfASpaceAreReadWithoutACaller(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("ann", "bob")
	h.joinRoom("build", "ann", "bob")
	sent := h.send("ann", "bob", "one")
	h.send("ann", "bob", "two")
	must(h.as("bob").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{sent.ID}}))(t)
	got := must(h.Fsck(t.Context(), c3po.DefaultSpace))(t)
	if !got.Balanced || got.Sent != 2 || got.Acked != 1 || got.Pending != 1 || got.Found != 1 || got.Agents != 2 || got.Rooms != 1 || len(got.Problems) != 0 {
		t.Errorf("the books are %+v", got)
	}
	if other := must(h.Fsck(t.Context(), "other"))(t); other.Space != "other" || other.Sent != 0 || !other.Balanced {
		t.Errorf("those of another space are %+v", other)
	}
}
