package dialect

import (
	"cmp"
	"context"

	"github.com/c3po-dev/c3po/c3po"
)

// The tools of c2c: its names and arguments over the same operations. What they answer is as
// its document prints it, and otherwise as c3po's own.

// An Alias is the argument of register.
type Alias struct {
	Alias        string   `json:"alias,omitempty" jsonschema:"What to be called; your id if left out"`
	Capabilities []string `json:"capabilities,omitempty" jsonschema:"What you can do"`
}

// A Registration is a row of list.
type Registration struct {
	Alias c3po.AgentID    `json:"alias"`
	Alive *bool           `json:"alive"`
	Rooms []c3po.RoomName `json:"rooms"`
}

// RegistrationList is the result of list.
type RegistrationList struct {
	Registrations []Registration `json:"registrations"`
	Next          string         `json:"next,omitempty"`
}

// Rows is the part that is answered as a bare array.
func (l *RegistrationList) Rows() any { return &l.Registrations }

// Cursor is where the next page starts.
func (l *RegistrationList) Cursor() *string { return &l.Next }

// SendTo is the argument of send.
type SendTo struct {
	ToAlias string `json:"to_alias" jsonschema:"Alias of the recipient"`
	Content string `json:"content" jsonschema:"The message, at most 50000 characters"`
}

// SendAll is the argument of send_all.
type SendAll struct {
	Content string `json:"content" jsonschema:"The message, at most 50000 characters"`
}

// InRoom is the argument of the tools that name a room.
type InRoom struct {
	RoomID c3po.RoomName `json:"room_id" jsonschema:"The room"`
}

// SendRoom is the argument of send_room.
type SendRoom struct {
	RoomID  c3po.RoomName `json:"room_id" jsonschema:"The room"`
	Content string        `json:"content" jsonschema:"What to say"`
}

// RoomInvitation is the argument of send_room_invite.
type RoomInvitation struct {
	RoomID  c3po.RoomName `json:"room_id" jsonschema:"The room"`
	ToAlias string        `json:"to_alias" jsonschema:"Whom to invite"`
}

// RoomVisibility is the argument of set_room_visibility.
type RoomVisibility struct {
	RoomID     c3po.RoomName   `json:"room_id" jsonschema:"The room"`
	Visibility c3po.Visibility `json:"visibility" jsonschema:"public or invite_only"`
}

// An Envelope is a message as c2c prints it. In a room to_alias is alias#room.
type Envelope struct {
	FromAlias c3po.AgentID `json:"from_alias"`
	ToAlias   string       `json:"to_alias"`
	Content   string       `json:"content"`
}

// EnvelopeList is the result of poll_inbox and peek_inbox.
type EnvelopeList struct {
	Messages []Envelope `json:"messages"`
	Next     string     `json:"next,omitempty"`
}

// Rows is the part that is answered as a bare array.
func (l *EnvelopeList) Rows() any { return &l.Messages }

// Cursor is where the next page starts.
func (l *EnvelopeList) Cursor() *string { return &l.Next }

func c2cRegister(svc c3po.Service, ctx context.Context, in Alias) (c3po.Self, error) {
	return svc.RegisterAgent(ctx, c3po.RegisterInput{Name: in.Alias, Capabilities: in.Capabilities})
}

func c2cList(svc c3po.Service, ctx context.Context, in c3po.ListAgentsInput) (RegistrationList, error) {
	list, err := svc.ListAgents(ctx, in)
	out := RegistrationList{Registrations: []Registration{}, Next: list.Next}
	for _, a := range list.Agents {
		out.Registrations = append(out.Registrations, Registration{Alias: a.ID, Alive: a.Alive, Rooms: a.Rooms})
	}
	return out, err
}

// c2cSend refuses a recipient that is dead, as c2c does. One that is only offline reads it later.
func c2cSend(svc c3po.Service, ctx context.Context, in SendTo) (c3po.Receipt, error) {
	if is, err := svc.GetAgentStatus(ctx, c3po.AgentInput{AgentID: in.ToAlias}); err == nil && is.Alive != nil && !*is.Alive {
		return c3po.Receipt{}, c3po.Errorf(c3po.AgentUnavailable, "recipient is not alive: %s", c3po.Clip(in.ToAlias)).
			Suggest("Send it again when the agent is back: list shows who is alive.")
	}
	expects := false
	return svc.SendMessage(ctx, c3po.SendInput{Target: in.ToAlias, Message: in.Content, ExpectsReply: &expects})
}

func c2cSendAll(svc c3po.Service, ctx context.Context, in SendAll) (c3po.BroadcastReceipt, error) {
	return svc.Broadcast(ctx, c3po.BroadcastInput{Message: in.Content})
}

func envelopes(list c3po.MessageList) EnvelopeList {
	out := EnvelopeList{Messages: []Envelope{}, Next: list.Next}
	for _, m := range list.Messages {
		_, to, _ := m.ID.Split()
		e := Envelope{FromAlias: m.FromAgent, ToAlias: string(cmp.Or(m.ToAgent, to)), Content: m.Text()}
		out.Messages = append(out.Messages, e)
	}
	return out
}

// pollInbox drains: what it gives is acked.
func pollInbox(svc c3po.Service, ctx context.Context, in c3po.GetMessagesInput) (EnvelopeList, error) {
	list, err := svc.GetMessages(ctx, in)
	if err != nil || len(list.Messages) == 0 {
		return envelopes(list), err
	}
	ids := make([]c3po.MessageID, len(list.Messages))
	for i, m := range list.Messages {
		ids[i] = m.ID
	}
	_, err = svc.AckMessages(ctx, c3po.AckInput{MessageIDs: ids})
	return envelopes(list), err
}

func peekInbox(svc c3po.Service, ctx context.Context, in c3po.GetMessagesInput) (EnvelopeList, error) {
	list, err := svc.Peek(ctx, in)
	return envelopes(list), err
}

func c2cJoin(svc c3po.Service, ctx context.Context, in InRoom) (c3po.RoomJoined, error) {
	return svc.RoomJoin(ctx, c3po.RoomJoinInput{Room: in.RoomID, Notify: c3po.NotifyAll}) // its rooms reach every inbox
}

func c2cLeave(svc c3po.Service, ctx context.Context, in InRoom) (c3po.RoomLeft, error) {
	return svc.RoomLeave(ctx, c3po.RoomInput{Room: in.RoomID})
}

func c2cSendRoom(svc c3po.Service, ctx context.Context, in SendRoom) (c3po.PostReceipt, error) {
	return svc.RoomPost(ctx, c3po.RoomPostInput{Room: in.RoomID, Message: in.Content})
}

func c2cHistory(svc c3po.Service, ctx context.Context, in InRoom) (EnvelopeList, error) {
	list, err := svc.RoomHistory(ctx, c3po.RoomHistoryInput{Room: in.RoomID})
	return envelopes(list), err
}

func c2cMyRooms(svc c3po.Service, ctx context.Context, _ c3po.None) (c3po.RoomList, error) {
	return svc.RoomList(ctx, c3po.RoomListInput{})
}

func c2cListRooms(svc c3po.Service, ctx context.Context, _ c3po.None) (c3po.RoomList, error) {
	return svc.RoomList(ctx, c3po.RoomListInput{All: true})
}

func c2cInvite(svc c3po.Service, ctx context.Context, in RoomInvitation) (c3po.RoomInvited, error) {
	return svc.RoomInvite(ctx, c3po.RoomInviteInput{Room: in.RoomID, Agent: in.ToAlias})
}

func c2cSetVisibility(svc c3po.Service, ctx context.Context, in RoomVisibility) (c3po.Room, error) {
	return svc.RoomSet(ctx, c3po.RoomSetInput{Room: in.RoomID, Visibility: in.Visibility})
}
