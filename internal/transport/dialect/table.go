// Package dialect speaks two foreign documents over a c3po.Service: the tickets
// of the agent-to-agent bridge, whose Broker is in broker.go, and the requests
// of the first design, in request.go. It also holds the whole table of
// operations: c3po's own and those of the dialects.
package dialect

import (
	"slices"

	"github.com/c3po-dev/c3po/c3po"
)

var operations = table(c3po.NativeOperations(), []c3po.Operation{
	c3po.Op("send_request", c3po.Compat, "Send a request to another c3po agent.", sendRequest, c3po.NoCommand("first design's name for `c3po send`")),
	c3po.Op("get_pending_requests", c3po.Compat, "Get all pending c3po requests for this agent.", getPendingRequests, c3po.ReadOnly, c3po.CarriesBodies, c3po.NoCommand("first design's name for `c3po inbox`")),
	c3po.Op("respond_to_request", c3po.Compat, "Respond to a c3po request.", respondToRequest, c3po.NoCommand("first design's name for `c3po reply`")),
	c3po.Op("wait_for_response", c3po.Compat, "Block until the response to a c3po request arrives.", waitForResponse, c3po.ReadOnly, c3po.CarriesBodies, c3po.AtLeastOne("timeout"), c3po.NoCommand("first design's name for `c3po wait --for`")),
	c3po.Op("wait_for_request", c3po.Compat, "Block until a c3po request arrives.", waitForRequest, c3po.CarriesBodies, c3po.AtLeastOne("timeout"), c3po.NoCommand("first design's name for `c3po wait --incoming`")),

	c3po.Op("bridge_send_message", c3po.Bridge, "Send a message to another c3po agent and wait for its answer.", sendAndAwait, c3po.Called("send_message"), c3po.CarriesBodies, c3po.AtLeastOne("timeoutMs"), c3po.NoCommand("bridge dialect's name for `c3po send --wait`")),
	c3po.Op("await_reply", c3po.Bridge, "Wait for the answer to your ticket.", awaitReply, c3po.Idempotent, c3po.CarriesBodies, c3po.AtLeastOne("timeoutMs"), c3po.NoCommand("bridge dialect's name for `c3po wait --for`")),
	c3po.Op("post_reply", c3po.Bridge, "Answer a ticket that was sent to you through c3po.", postReply, c3po.Idempotent, c3po.Command("bridge-reply")),
	c3po.Op("broadcast_message", c3po.Bridge, "Send a message to several c3po agents, with a ticket for each, or to all of them at once.", broadcast, c3po.ForWriters, c3po.NoCommand("bridge dialect's name for `c3po broadcast`, or several `c3po send`")),
	c3po.Op("subscribe_updates", c3po.Bridge, "Show the latest c3po events, or those after an earlier answer. Never what messages say.", latestUpdates, c3po.ReadOnly, c3po.ForViewers, c3po.NoCommand("bridge dialect's name for `c3po tail`")),
	c3po.Op("cancel_ticket", c3po.Bridge, "Withdraw your ticket if nobody has answered it yet.", cancelTicket, c3po.Idempotent, c3po.NoCommand("bridge dialect's name for `c3po cancel`")),
	c3po.Op("bridge_list_agents", c3po.Bridge, "List the agents of other programs and hosts you can reach through c3po, with all they say of themselves.", listAgents, c3po.Called("list_agents"), c3po.ReadOnly, c3po.ForViewers, c3po.NoCommand("bridge dialect's name for `c3po agents`")),
	c3po.Op("bridge_co_workers", c3po.Bridge, "List c3po agents in one short line each.", listCoWorkers, c3po.Called("co_workers"), c3po.ReadOnly, c3po.ForViewers, c3po.NoCommand("bridge dialect's name for `c3po agents`")),
	c3po.Op("bridge_register_agent", c3po.Bridge, "Describe yourself to other c3po agents (type, directory, capabilities).", register, c3po.Called("register_agent"), c3po.Idempotent, c3po.Command("bridge-register")),

	c3po.Op("c2c_register", c3po.C2C, "Claim an alias for this c3po session.", c2cRegister, c3po.Called("register"), c3po.Idempotent, c3po.NoCommand("c2c's name for `c3po register`")),
	c3po.Op("c2c_whoami", c3po.C2C, "Show your c3po alias.", c3po.Service.WhoAmI, c3po.Called("whoami"), c3po.ReadOnly, c3po.NoCommand("c2c's name for `c3po whoami`")),
	c3po.Op("c2c_list", c3po.C2C, "List c3po registrations: who is alive, and in which rooms.", c2cList, c3po.Called("list"), c3po.ReadOnly, c3po.ForViewers, c3po.NoCommand("c2c's name for `c3po agents`")),
	c3po.Op("c2c_send", c3po.C2C, "Send a message to one alias through c3po.", c2cSend, c3po.Called("send"), c3po.NoCommand("c2c's name for `c3po send --no-reply`")),
	c3po.Op("send_all", c3po.C2C, "Send a c3po message to every other live agent.", c2cSendAll, c3po.NoCommand("c2c's name for `c3po broadcast`")),
	c3po.Op("poll_inbox", c3po.C2C, "Read your c3po messages and take them out of the inbox.", pollInbox, c3po.CarriesBodies, c3po.NoCommand("c2c's name for `c3po inbox` and `c3po ack`")),
	c3po.Op("peek_inbox", c3po.C2C, "Read your c3po messages and leave them in the inbox.", peekInbox, c3po.ReadOnly, c3po.CarriesBodies, c3po.NoCommand("c2c's name for `c3po inbox`")),
	c3po.Op("join_room", c3po.C2C, "Join a c3po room, and read what was last said in it.", c2cJoin, c3po.CarriesBodies, c3po.Idempotent, c3po.NoCommand("c2c's name for `c3po room join`")),
	c3po.Op("leave_room", c3po.C2C, "Leave a c3po room.", c2cLeave, c3po.Idempotent, c3po.NoCommand("c2c's name for `c3po room leave`")),
	c3po.Op("send_room", c3po.C2C, "Say something in a c3po room.", c2cSendRoom, c3po.NoCommand("c2c's name for `c3po room post`")),
	c3po.Op("c2c_room_history", c3po.C2C, "Read what was last said in a c3po room.", c2cHistory, c3po.Called("room_history"), c3po.ReadOnly, c3po.CarriesBodies, c3po.NoCommand("c2c's name for `c3po room history`")),
	c3po.Op("my_rooms", c3po.C2C, "List the c3po rooms you are in.", c2cMyRooms, c3po.ReadOnly, c3po.NoCommand("c2c's name for `c3po room list`")),
	c3po.Op("list_rooms", c3po.C2C, "List all c3po rooms you can see.", c2cListRooms, c3po.ReadOnly, c3po.NoCommand("c2c's name for `c3po room list --all`")),
	c3po.Op("send_room_invite", c3po.C2C, "Invite an alias to a c3po room.", c2cInvite, c3po.Idempotent, c3po.NoCommand("c2c's name for `c3po room invite`")),
	c3po.Op("set_room_visibility", c3po.C2C, "Make a c3po room public or invite_only.", c2cSetVisibility, c3po.Idempotent, c3po.NoCommand("c2c's name for `c3po room set`")),
})

// table puts the dialects after c3po's own tools and before the operations that are not
// tools.
func table(native, dialects []c3po.Operation) []c3po.Operation {
	tools := slices.IndexFunc(native, func(o c3po.Operation) bool { return o.Toolset == "" })
	return slices.Insert(native, tools, dialects...)
}

// Operations is the whole table, in the order tools are listed.
func Operations() []c3po.Operation { return slices.Clone(operations) }

// FindOperation looks a name up in the whole table.
func FindOperation(name string) (c3po.Operation, error) {
	return c3po.FindOperation(operations, name)
}
