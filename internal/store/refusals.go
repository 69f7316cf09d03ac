package store

import (
	"errors"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// What a store refuses it refuses in these words, whichever store it is.

// RefuseNoAgent is AGENT_NOT_FOUND for an id that was never registered.
func RefuseNoAgent(id c3po.AgentID) *c3po.Error {
	return c3po.Errorf(c3po.AgentNotFound, "Agent '%s' not found", id).
		Suggest("Check the spelling of the agent id; list_agents shows who is there.")
}

// RefuseNotClosed is the refusal to take a session for closed that goes on.
func RefuseNotClosed(id c3po.AgentID) *c3po.Error {
	return c3po.Errorf(c3po.InvalidRequest, "'%s' is online: its session is not closed", id).Suggest("Wait until it is offline.")
}

// RefuseNoBrief is the refusal of a brief id that fits no agent, or several.
func RefuseNoBrief(text string) *c3po.Error {
	return c3po.Errorf(c3po.AgentNotFound, "Agent '%s' not found", text).Suggest("Give its whole id.")
}

// RefuseSuperseded is SUPERSEDED for a run that no longer holds its id.
func RefuseSuperseded(id c3po.AgentID) *c3po.Error {
	return c3po.Errorf(c3po.Superseded, "another run has taken '%s' over", id).
		Suggest("Call register_agent to go on under an id of your own.")
}

// RefuseNameTaken is INVALID_REQUEST for a name that is not free.
func RefuseNameTaken(id c3po.AgentID) *c3po.Error {
	return c3po.Errorf(c3po.InvalidRequest, "the name '%s' is not free", id).
		Suggest("Choose another: this one belongs to an agent, has mail, or still answers for an agent that was renamed.")
}

// RefuseRenames is RATE_LIMITED for an agent that may be renamed again only after wait.
func RefuseRenames(id c3po.AgentID, wait time.Duration) *c3po.Error {
	minutes := max(1, int((wait+time.Minute-1)/time.Minute))
	return c3po.Errorf(c3po.RateLimited, "'%s' was renamed %d times within an hour, the most allowed", id, MaxRenames).
		Suggest("It keeps the name '%s'. Try again in %d min.", id, minutes)
}

// RefuseAllTaken is for a step whose candidates are all taken: INVALID_REQUEST, or
// FORBIDDEN if there would be more for another token.
func RefuseAllTaken(step RegisterStep) *c3po.Error {
	if len(step.Candidates(false)) < MaxNumbered {
		return c3po.Errorf(c3po.Forbidden, "another session holds '%s', and this token is for no other name you could have", step.Want).
			Suggest("It is for %s. End the other session, or use a token for more names.", step.Agents.Words())
	}
	return c3po.Errorf(c3po.InvalidRequest, "'%s' and its numbers up to %d are all taken by live runs", step.Want, MaxNumbered).
		Suggest("Choose another agent id.")
}

// RefuseOtherName is FORBIDDEN for a name that the caller's token is not for.
func RefuseOtherName(id c3po.AgentID, agents c3po.Pattern) *c3po.Error {
	return c3po.Errorf(c3po.Forbidden, "this token is not for acting as '%s'", id).
		Suggest("It is for %s.", agents.Words())
}

// RefuseKeyConflict is KEY_CONFLICT for a key that stands for another message.
func RefuseKeyConflict(key string) *c3po.Error {
	return c3po.Errorf(c3po.KeyConflict, "client_key '%s' was used for another message", key).
		Suggest("Use a new client_key for a new message; repeat the old one only with the same text.")
}

// RefuseRate is RATE_LIMITED, with the count and the limit.
func RefuseRate(count, limit int) *c3po.Error {
	return c3po.Errorf(c3po.RateLimited, "rate limit: %d of %d messages sent in the last 60 seconds", count, limit).
		Suggest("Wait 60 seconds, at most %d messages a minute.", limit)
}

// What an inbox can be full of.
const (
	FullOfMessages   = "it holds as many messages as it may"
	FullOfBytes      = "it holds as many bytes as it may"
	FullOfSender     = "it holds as many of your messages as one sender may have there"
	FullOfSenderSize = "it holds as many of your bytes as one sender may have there"
)

// RefuseSpaceFull is STORE_FULL for a space that holds all the unacked mail it may.
func RefuseSpaceFull(most int) *c3po.Error {
	return c3po.Errorf(c3po.StoreFull, "the space is full: it holds %d bytes of unacked mail, which is the most", most).
		Suggest("Nothing was sent. Reading, acking and answering work and make room; try again later with the same client_key.")
}

// RefuseInboxFull is INBOX_FULL; why is one of the words above.
func RefuseInboxFull(id c3po.AgentID, why string) *c3po.Error {
	return c3po.Errorf(c3po.InboxFull, "the inbox of '%s' is full: %s", id, why).
		Suggest("Nothing was sent. Try again when '%s' has read its mail.", id)
}

// RefuseAway is AGENT_UNAVAILABLE for a sender that asked to fail then.
func RefuseAway(id c3po.AgentID) *c3po.Error {
	return c3po.Errorf(c3po.AgentUnavailable, "Agent '%s' is not available", id).
		Suggest("%s", c3po.AdviseQueue)
}

// RefuseMoved is INVALID_REQUEST for a bare name that lately meant another
// agent. The alias is the name, after the asking host and a bar if one is given.
func RefuseMoved(alias string, was, now c3po.AgentID) *c3po.Error {
	name := alias
	if _, after, found := strings.Cut(alias, "|"); found {
		name = after
	}
	return c3po.Errorf(c3po.InvalidRequest, "'%s' meant '%s' until now and would mean '%s'", name, was.Brief(), now.Brief()).
		Suggest("Give the full id: '%s' or '%s'.", was.Brief(), now.Brief())
}

// RefuseNoMessage is INVALID_REQUEST for a message that is not known.
func RefuseNoMessage(id c3po.MessageID) *c3po.Error {
	return c3po.Errorf(c3po.InvalidRequest, "there is no message '%s'", id).
		Suggest("Copy the id whole from get_messages or from the receipt; ended messages are forgotten after a while.")
}

// RefuseCancelled is INVALID_REQUEST for an answer to a cancelled message.
func RefuseCancelled(id c3po.MessageID) *c3po.Error {
	from, _, _ := id.Split()
	return c3po.Errorf(c3po.InvalidRequest, "'%s' has cancelled message '%s'", from, id).
		Suggest("No answer is needed. If what you found matters all the same, send it with send_message.")
}

// RefuseAnswered is INVALID_REQUEST for a second answer of a person to one question.
func RefuseAnswered(id c3po.MessageID) *c3po.Error {
	from, _, _ := id.Split()
	return c3po.Errorf(c3po.InvalidRequest, "'%s' has its answer already", id).
		Suggest("Nothing was sent. Write '%s' a message to tell it something else.", from)
}

// RefuseHandedOver is INVALID_REQUEST for a ticket that somebody else has by now.
func RefuseHandedOver(id c3po.MessageID) *c3po.Error {
	return c3po.Errorf(c3po.InvalidRequest, "message '%s' was handed over before", id).
		Suggest("Who has it now can hand it on; you can still answer it yourself.")
}

// RefuseNotYours is FORBIDDEN for a message addressed to another agent.
func RefuseNotYours(id c3po.MessageID) *c3po.Error {
	return c3po.Errorf(c3po.Forbidden, "message '%s' is not addressed to you", id).
		Suggest("Only the recipient of a message can answer it; write to its sender with send_message.")
}

// RefuseNoRoom is INVALID_REQUEST for a room that does not exist, or not for
// the caller: the words are the same.
func RefuseNoRoom(room c3po.RoomName) *c3po.Error {
	return c3po.Errorf(c3po.InvalidRequest, "there is no room '%s' for you", room).
		Suggest("room_list with all shows the rooms you can see; into others you need an invitation of a member.")
}

// RefuseNotInRoom is FORBIDDEN for somebody who can see a room and is not in it.
func RefuseNotInRoom(room c3po.RoomName) *c3po.Error {
	return c3po.Errorf(c3po.Forbidden, "you are not in the room '%s'", room).Suggest("Join it first, with room_join.")
}

// RefuseNotCreator is FORBIDDEN for a member that did not make the room.
func RefuseNotCreator(room c3po.RoomName, creator c3po.AgentID) *c3po.Error {
	if creator == "" {
		return c3po.Errorf(c3po.Forbidden, "the creator of the room '%s' is gone: only an admin may do this", room).
			Suggest("Ask a person, or make another room.")
	}
	return c3po.Errorf(c3po.Forbidden, "only '%s', who made the room '%s', or an admin may do this", creator.Brief(), room).
		Suggest("Ask '%s' with send_message.", creator.Brief())
}

// RefuseManyRooms is INVALID_REQUEST for one room too many.
func RefuseManyRooms(whose string, most int) *c3po.Error {
	return c3po.Errorf(c3po.InvalidRequest, "%s %d rooms, which is the most", whose, most).
		Suggest("Use a room that is there, leave one with room_leave, or end one with room_end.")
}

// Whose rooms are too many.
const (
	ManyInSpace = "this space has"
	ManyOfAgent = "you are in"
)

// NothingStored marks the refusal of a step that looked its key up before anything else:
// nothing is stored under the key. A conflict has found something.
func NothingStored(key string, refusal error) error {
	known, ok := errors.AsType[*c3po.Error](refusal)
	if !ok || key == "" || known.Code == c3po.KeyConflict {
		return refusal
	}
	marked := *known
	marked.NotStored = true
	return &marked
}
