package client

import (
	"cmp"
	"context"
	"crypto/rand"

	"github.com/c3po-dev/c3po"
)

// The methods of c3po.Service, one line each. Those that store a message give
// it a key first, so that a repeat of the call is never a second message.

func (c *Client) Ping(ctx context.Context, in c3po.None) (c3po.Pong, error) {
	return call[c3po.Pong](ctx, c, "ping", in)
}

func (c *Client) ServerInfo(ctx context.Context, in c3po.None) (c3po.ServerInfo, error) {
	return call[c3po.ServerInfo](ctx, c, "server_info", in)
}

func (c *Client) RegisterAgent(ctx context.Context, in c3po.RegisterInput) (c3po.Self, error) {
	return call[c3po.Self](ctx, c, "register_agent", in)
}

func (c *Client) WhoAmI(ctx context.Context, in c3po.None) (c3po.Self, error) {
	return call[c3po.Self](ctx, c, "whoami", in)
}

func (c *Client) ListAgents(ctx context.Context, in c3po.ListAgentsInput) (c3po.AgentList, error) {
	return call[c3po.AgentList](ctx, c, "list_agents", in)
}

func (c *Client) CoWorkers(ctx context.Context, in c3po.ListAgentsInput) (c3po.CoWorkerList, error) {
	return call[c3po.CoWorkerList](ctx, c, "co_workers", in)
}

func (c *Client) GetAgentStatus(ctx context.Context, in c3po.AgentInput) (c3po.Agent, error) {
	return call[c3po.Agent](ctx, c, "get_agent_status", in)
}

func (c *Client) SetStatus(ctx context.Context, in c3po.StatusInput) (c3po.StatusResult, error) {
	return call[c3po.StatusResult](ctx, c, "set_status", in)
}

func (c *Client) Unregister(ctx context.Context, in c3po.None) (c3po.Unregistered, error) {
	return call[c3po.Unregistered](ctx, c, "unregister", in)
}

func (c *Client) ReportDeath(ctx context.Context, in c3po.DeathInput) (c3po.DeathResult, error) {
	return call[c3po.DeathResult](ctx, c, "report_death", in)
}

// SendMessage sends, and with WaitSeconds waits for the answer in calls of
// their own: once the message is stored, nothing that happens to the wait can
// turn the receipt into an error.
func (c *Client) SendMessage(ctx context.Context, in c3po.SendInput) (c3po.Receipt, error) {
	in.ClientKey = cmp.Or(in.ClientKey, rand.Text())
	wait := in.WaitSeconds
	if waitable(wait) {
		in.WaitSeconds = 0
	}
	receipt, err := call[c3po.Receipt](ctx, c, "send_message", in)
	if err != nil || !waitable(wait) {
		return receipt, err
	}
	c.awaitReply(ctx, &receipt, wait)
	return receipt, nil
}

func (c *Client) GetMessages(ctx context.Context, in c3po.GetMessagesInput) (c3po.MessageList, error) {
	return call[c3po.MessageList](ctx, c, "get_messages", in)
}

func (c *Client) Peek(ctx context.Context, in c3po.GetMessagesInput) (c3po.MessageList, error) {
	return call[c3po.MessageList](ctx, c, "peek", in)
}

func (c *Client) Reply(ctx context.Context, in c3po.ReplyInput) (c3po.Message, error) {
	in.ClientKey = cmp.Or(in.ClientKey, rand.Text())
	return call[c3po.Message](ctx, c, "reply", in)
}

func (c *Client) AckMessages(ctx context.Context, in c3po.AckInput) (c3po.AckResult, error) {
	return call[c3po.AckResult](ctx, c, "ack_messages", in)
}

func (c *Client) Claim(ctx context.Context, in c3po.MessageInput) (c3po.Message, error) {
	return call[c3po.Message](ctx, c, "claim", in)
}

func (c *Client) Received(ctx context.Context, in c3po.ReceivedInput) (c3po.AckResult, error) {
	return call[c3po.AckResult](ctx, c, "received", in)
}

func (c *Client) GetThread(ctx context.Context, in c3po.ThreadInput) (c3po.MessageList, error) {
	return call[c3po.MessageList](ctx, c, "get_thread", in)
}

func (c *Client) Cancel(ctx context.Context, in c3po.MessageInput) (c3po.CancelResult, error) {
	return call[c3po.CancelResult](ctx, c, "cancel", in)
}

func (c *Client) Tickets(ctx context.Context, in c3po.TicketsInput) (c3po.TicketList, error) {
	return call[c3po.TicketList](ctx, c, "tickets", in)
}

func (c *Client) EscalateToHuman(ctx context.Context, in c3po.EscalateInput) (c3po.Escalation, error) {
	in.ClientKey = cmp.Or(in.ClientKey, rand.Text())
	return call[c3po.Escalation](ctx, c, "escalate_to_human", in)
}

func (c *Client) HumanList(ctx context.Context, in c3po.GetMessagesInput) (c3po.MessageList, error) {
	return call[c3po.MessageList](ctx, c, "human_list", in)
}

func (c *Client) HumanShow(ctx context.Context, in c3po.MessageInput) (c3po.Question, error) {
	return call[c3po.Question](ctx, c, "human_show", in)
}

func (c *Client) HumanAnswer(ctx context.Context, in c3po.AnswerInput) (c3po.Message, error) {
	in.ClientKey = cmp.Or(in.ClientKey, rand.Text())
	return call[c3po.Message](ctx, c, "human_answer", in)
}

func (c *Client) Pause(ctx context.Context, in c3po.PauseInput) (c3po.PauseResult, error) {
	return call[c3po.PauseResult](ctx, c, "pause", in)
}

func (c *Client) ThreadResume(ctx context.Context, in c3po.ThreadResumeInput) (c3po.ThreadResumed, error) {
	return call[c3po.ThreadResumed](ctx, c, "thread_resume", in)
}

func (c *Client) Resume(ctx context.Context, in c3po.PauseInput) (c3po.PauseResult, error) {
	return call[c3po.PauseResult](ctx, c, "resume", in)
}

func (c *Client) Trace(ctx context.Context, in c3po.MessageInput) (c3po.Trace, error) {
	return call[c3po.Trace](ctx, c, "trace", in)
}

func (c *Client) TailLog(ctx context.Context, in c3po.LogInput) (c3po.LogPage, error) {
	return call[c3po.LogPage](ctx, c, "tail_log", in)
}

func (c *Client) Fsck(ctx context.Context, in c3po.None) (c3po.Audit, error) {
	return call[c3po.Audit](ctx, c, "fsck", in)
}

func (c *Client) Sweep(ctx context.Context, in c3po.SweepInput) (c3po.SweepResult, error) {
	return call[c3po.SweepResult](ctx, c, "sweep", in)
}

func (c *Client) DeadLetters(ctx context.Context, in c3po.LettersInput) (c3po.LetterList, error) {
	return call[c3po.LetterList](ctx, c, "dead_letters", in)
}

func (c *Client) DeadLetter(ctx context.Context, in c3po.MessageInput) (c3po.LetterView, error) {
	return call[c3po.LetterView](ctx, c, "dead_letter", in)
}

func (c *Client) DeadLetterReplay(ctx context.Context, in c3po.LetterSelection) (c3po.LetterOutcome, error) {
	return call[c3po.LetterOutcome](ctx, c, "dead_letter_replay", in)
}

func (c *Client) DeadLetterPurge(ctx context.Context, in c3po.LetterSelection) (c3po.LetterOutcome, error) {
	return call[c3po.LetterOutcome](ctx, c, "dead_letter_purge", in)
}

func (c *Client) Rename(ctx context.Context, in c3po.RenameInput) (c3po.Renaming, error) {
	return call[c3po.Renaming](ctx, c, "rename", in)
}
