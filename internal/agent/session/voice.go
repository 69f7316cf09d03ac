package session

import (
	"context"
	"encoding/json"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

// voice is the client as the tools call it. It notes which mail a call has
// handed to the session and which it has ended, so that hooks need not ask.
type voice struct {
	*client.Client
	server *Server
}

var _ c3po.Service = voice{}

type useKey struct{}

// useOf is the name the client has given to the call under way.
func useOf(ctx context.Context) string {
	id, _ := ctx.Value(useKey{}).(string)
	return id
}

func (v voice) GetMessages(ctx context.Context, in c3po.GetMessagesInput) (c3po.MessageList, error) {
	list, err := v.Client.GetMessages(ctx, in)
	for _, m := range list.Messages {
		v.server.recordHanded(ctx, m)
	}
	return list, err
}

func (v voice) WaitForMessage(ctx context.Context, in c3po.WaitInput) (c3po.WaitResult, error) {
	got, err := v.Client.WaitForMessage(ctx, in)
	if err == nil && got.Outcome == nil {
		v.server.recordHanded(ctx, got.Message)
	}
	return got, err
}

func (v voice) SendMessage(ctx context.Context, in c3po.SendInput) (c3po.Receipt, error) {
	if kind := v.server.subagentOf(ctx); kind != "" {
		in.Metadata = withSubagent(in.Metadata, kind)
	}
	same := v.server.repeats(ctx, "send_message", &in, &in.ClientKey)
	receipt, err := v.Client.SendMessage(ctx, in)
	same(err)
	if receipt.Reply != nil {
		v.server.recordHanded(ctx, *receipt.Reply)
	}
	if err == nil {
		v.server.waitsFor(in, receipt)
	}
	return receipt, err
}

func (v voice) Reply(ctx context.Context, in c3po.ReplyInput) (c3po.Message, error) {
	if kind := v.server.subagentOf(ctx); kind != "" {
		in.Metadata = withSubagent(in.Metadata, kind)
	}
	if in.HandedTo != "" {
		in.Metadata = v.server.leases.handedFiles(in.Metadata)
	}
	same := v.server.repeats(ctx, "reply", &in, &in.ClientKey)
	reply, err := v.Client.Reply(ctx, in)
	same(err)
	if err == nil {
		v.server.dropMail(in.MessageID)
		v.server.forgetOwed(in.MessageID)
	}
	return reply, err
}

func (v voice) Cancel(ctx context.Context, in c3po.MessageInput) (c3po.CancelResult, error) {
	done, err := v.Client.Cancel(ctx, in)
	if err == nil {
		v.server.asksNoMore(in.MessageID)
	}
	return done, err
}

func (v voice) AckMessages(ctx context.Context, in c3po.AckInput) (c3po.AckResult, error) {
	result, err := v.Client.AckMessages(ctx, in)
	if err == nil {
		v.server.dropMail(append(result.Acked, result.Already...)...)
	}
	return result, err
}

func (v voice) EscalateToHuman(ctx context.Context, in c3po.EscalateInput) (c3po.Escalation, error) {
	done, err := v.Client.EscalateToHuman(ctx, in)
	if err == nil {
		v.server.asks(done)
	}
	return done, err
}

// recordHanded says that the answer of the call carries the text of a message.
func (s *Server) recordHanded(ctx context.Context, m c3po.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conversation.hand(m)
	if name := useOf(ctx); name != "" {
		call := s.conversation.useOf(name)
		call.messages = append(call.messages, m.ID)
	}
}

func (s *Server) dropMail(ids ...c3po.MessageID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conversation.drop(ids)
}

func (s *Server) subagentOf(ctx context.Context) string {
	name := useOf(ctx)
	if name == "" {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conversation.useOf(name).subagent
}

// withSubagent adds to the metadata of a message that a subagent sent it.
// Metadata that is no object is left as it is: it will be refused.
func withSubagent(metadata json.RawMessage, kind string) json.RawMessage {
	fields := map[string]json.RawMessage{}
	if len(metadata) > 0 && json.Unmarshal(metadata, &fields) != nil || fields == nil {
		return metadata
	}
	word, err := json.Marshal(kind)
	if err != nil {
		return metadata
	}
	fields["via_subagent"] = word
	if all, err := json.Marshal(fields); err == nil {
		return all
	}
	return metadata
}
