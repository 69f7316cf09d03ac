package redisstore

import (
	"cmp"
	"context"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// idempotency gives the field of the idem hash, and the window of a draft
// without a key (0 if it has one).
func (s *Store) idempotency(d store.Draft, fingerprint string) (field string, window time.Duration) {
	if d.Key != "" {
		return string(d.From) + "\x00k:" + d.Key, 0
	}
	return string(d.From) + "\x00h:" + fingerprint, s.limits.RepeatWindow
}

// Send implements store.Store.
func (s *Store) Send(ctx context.Context, space c3po.Space, step store.SendStep) (store.Stored, error) {
	if err := s.enter(ctx, space); err != nil {
		return store.Stored{}, err
	}
	body, err := encodeBody(step.Draft)
	if err != nil {
		return store.Stored{}, err
	}
	k := keysOf(space)
	messages, inboxBytes, share := s.limits.Inbox(step.From)
	fingerprint := step.Fingerprint()
	field, window := s.idempotency(step.Draft, fingerprint)
	var members []with
	for _, id := range step.Members {
		members = append(members, with{"of": k.of(id), "id": id})
	}
	answer, err := s.run(ctx, "message_send", k, with{"mail": k.of(step.To), "attach": fileIDs(step.Attachments), "members": members},
		plain{"agent", k.agent(step.To)}, plain{"sender", k.agent(step.From)}, plain{"rate", k.rate(step.Counted())},
		plain{"from", string(step.From)}, plain{"to", string(step.To)}, plain{"kind", string(step.Kind)}, plain{"thread", step.Thread},
		plain{"urgent", flag(step.Priority == c3po.Urgent)}, plain{"expects", flag(step.ExpectsReply)},
		plain{"text", body}, plain{"bytes", itoa(step.Bytes())}, plain{"key_bytes", itoa(step.KeyBytes())}, plain{"run", step.Run},
		plain{"durability", string(step.Durability)}, plain{"limit", itoa(step.RateLimit)}, plain{"fail_if_away", flag(step.FailIfAway)},
		plain{"alias", step.Alias}, plain{"mailbox", mailboxWord(step)}, plain{"pause", step.PauseFrom},
		plain{"field", field}, plain{"fingerprint", fingerprint}, plain{"window", millis(window)},
		plain{"max_messages", itoa(messages)}, plain{"max_bytes", itoa(inboxBytes)}, plain{"share", itoa(share)},
		plain{"answer_within", millis(step.Within)}, plain{"chain", step.Chain}, plain{"digest", s.textDigest(step.From, step.To, step.Draft)},
		plain{"barred", flag(step.Barred != nil)}, plain{"goes_back", wordText(step.Draft)},
	)
	if err != nil {
		return store.Stored{}, err
	}
	stored, err := s.readSent(answer, step, body)
	return stored, store.NothingStored(step.Key, err)
}

// readSent reads the answer of message_send.lua.
func (s *Store) readSent(answer []rueidis.RedisMessage, step store.SendStep, body string) (store.Stored, error) {
	switch outcome := word(answer[0]); outcome {
	case "superseded":
		return store.Stored{}, store.RefuseSuperseded(step.From)
	case "conflict":
		return store.Stored{Meant: c3po.AgentID(word(answer[1]))}, store.RefuseKeyConflict(step.Key)
	case "moved":
		return store.Stored{}, store.RefuseMoved(step.Alias, c3po.AgentID(word(answer[1])), step.To)
	case "halted":
		return store.Stored{}, store.RefuseHalted(word(answer[1]))
	case "away":
		return store.Stored{}, store.RefuseAway(step.To)
	case "rate":
		return store.Stored{}, store.RefuseRate(int(integer(answer[1])), step.RateLimit)
	case "ok":
		out, err := s.readStored(outcome, answer, step.Draft, "", body)
		out.Members = membersTold(step, answer[5])
		out.Fill = fillOf(answer[6], answer[7])
		out.Fill.Spending.Sent, out.SenderPaused = int(integer(answer[8])), word(answer[9])
		return out, err
	case "repeat":
		out, err := readRepeat(answer, step.Draft)
		out.Members = membersTold(step, answer[8])
		return out, err
	default:
		return s.readStored(outcome, answer, step.Draft, "", body)
	}
}

func membersTold(step store.SendStep, told rueidis.RedisMessage) (members []store.Record) {
	if !step.Queue {
		return nil
	}
	for i, one := range list(told) {
		if r := recipient(step.Members[i], one); !r.Seen.IsZero() {
			members = append(members, r)
		}
	}
	return members
}

// mailboxWord says what kind of mailbox the recipient has if it is not an agent.
func mailboxWord(step store.SendStep) string {
	if step.Queue {
		return "queue"
	}
	return flag(step.Mailbox)
}

// Reply implements store.Store.
func (s *Store) Reply(ctx context.Context, space c3po.Space, step store.ReplyStep) (store.Stored, error) {
	asked, owner, hex := step.Answers.Split()
	replier, asker := step.From, cmp.Or(step.ReplyTo, asked)
	if replier != owner && owner.Queue() == "" {
		return store.Stored{}, s.notYours(ctx, space, step)
	}
	body, err := encodeBody(step.Draft)
	if err != nil {
		return store.Stored{}, err
	}
	k, l := keysOf(space), s.limits
	messages, inboxBytes, share := l.Inbox(step.From)
	nextMessages, nextBytes, _ := l.Inbox(asked) // what is handed over stays its asker's word
	fingerprint := store.Fingerprint(step.Draft, step.Answers)
	field, window := s.idempotency(step.Draft, fingerprint)
	draft := step.Draft
	draft.To, draft.Kind = asker, c3po.KindReply
	handed, err := s.handedFiles(ctx, space, step)
	if err != nil {
		return store.Stored{}, err
	}
	answer, err := s.run(ctx, "message_reply", k, with{
		"agent": k.agent(asker), "sender": k.agent(replier), "mail": k.of(asker), "own": k.of(owner), "onward": k.of(cmp.Or(step.HandedTo, replier)),
		"from": replier, "to": asker, "answered": step.Answers, "hex": hex, "urgent": step.Priority == c3po.Urgent, "expects": step.ExpectsReply,
		"text": body, "bytes": draft.Bytes(), "key_bytes": draft.KeyBytes(), "run": step.Run, "durability": step.Durability,
		"resume": step.ResumeTo, "mailbox": asker == c3po.Human, "owner": owner, "role": owner.Queue(), "handed_to": step.HandedTo, "asked": asked,
		"field": field, "fingerprint": fingerprint, "window": millis(window), "max_messages": messages, "max_bytes": inboxBytes, "share": share,
		"onward_messages": nextMessages, "onward_bytes": nextBytes, "digest": s.textDigest(replier, asker, step.Draft), "barred": step.Barred != nil,
		"goes_back": wordText(step.Draft), "attach": fileIDs(step.Attachments), "handed_files": fileIDs(handed),
	})
	if err != nil {
		return store.Stored{}, err
	}
	stored, err := s.readReplied(answer, step, draft, body)
	return stored, store.NothingStored(step.Key, err)
}

// readReplied reads the answer of message_reply.lua to a draft that is complete.
func (s *Store) readReplied(answer []rueidis.RedisMessage, step store.ReplyStep, draft store.Draft, body string) (store.Stored, error) {
	_, owner, _ := step.Answers.Split()
	switch outcome := word(answer[0]); outcome {
	case "superseded":
		return store.Stored{}, store.RefuseSuperseded(step.From)
	case "no_message":
		return store.Stored{}, store.RefuseNoMessage(step.Answers)
	case "cancelled":
		return store.Stored{}, store.RefuseCancelled(step.Answers)
	case "answered":
		return store.Stored{}, store.RefuseAnswered(step.Answers)
	case "stale":
		return store.Stored{}, store.RefuseHeld(step.Answers, c3po.AgentID(word(answer[1])))
	case "not_yours":
		return store.Stored{}, store.RefuseNotMember(owner, step.From)
	case "moved":
		return store.Stored{}, store.RefuseHandedOver(step.Answers)
	case "no_next":
		return store.Stored{}, store.RefuseNoAgent(step.HandedTo)
	case "next_full":
		return store.Stored{}, store.RefuseInboxFull(step.HandedTo, fullOf[word(answer[1])])
	case "ok":
		out, err := s.readStored(outcome, answer, draft, c3po.MessageID(word(answer[7])), body)
		out.Fill = fillOf(answer[10], answer[11])
		out.MovedTo = c3po.MessageID(word(answer[8]))
		return out, err
	default:
		return s.readStored(outcome, answer, draft, step.Answers, body)
	}
}

// notYours tells a message of somebody else from one that does not exist.
func (s *Store) notYours(ctx context.Context, space c3po.Space, step store.ReplyStep) error {
	if err := s.stillHeld(ctx, space, step.From, step.Run); err != nil {
		return err
	}
	e, err := s.Message(ctx, space, step.Answers)
	if err != nil {
		return err
	}
	if e == nil {
		return store.RefuseNoMessage(step.Answers)
	}
	return store.RefuseNotYours(step.Answers)
}

// stillHeld is the scripts' superseded, for refusals that need no script.
func (s *Store) stillHeld(ctx context.Context, space c3po.Space, id c3po.AgentID, run string) error {
	if run == "" {
		return nil
	}
	holders, err := s.Agents(ctx, space, []c3po.AgentID{id})
	if err != nil {
		return err
	}
	if len(holders) == 0 || holders[0].Run != "" && holders[0].Run != run {
		return store.RefuseSuperseded(id)
	}
	return nil
}

// readStored reads the answers that message_send.lua and message_reply.lua share.
func (s *Store) readStored(outcome string, answer []rueidis.RedisMessage, d store.Draft, answers c3po.MessageID, body string) (store.Stored, error) {
	switch outcome {
	case "conflict":
		return store.Stored{}, store.RefuseKeyConflict(d.Key)
	case "no_file":
		return store.Stored{}, store.RefuseNoFile(c3po.FileID(word(answer[1])))
	case "barred":
		return store.Stored{}, d.Barred
	case "unknown":
		return store.Stored{}, store.RefuseNoAgent(d.To)
	case "full":
		return store.Stored{}, store.RefuseInboxFull(d.To, fullOf[word(answer[1])])
	case "spent":
		spent := spentOf(answer)
		return store.Stored{Spent: &spent}, store.RefuseSpent(spent, s.limits)
	case "crowded":
		return store.Stored{}, store.RefuseSpaceFull(s.limits.SpaceBytes)
	case "repeat":
		return readRepeat(answer, d)
	}
	hex, now := word(answer[1]), integer(answer[4])
	f := fact{Seq: integer(answer[2]), From: d.From, Thread: word(answer[3]), Kind: d.Kind, Priority: d.Priority, Accepted: now, Answers: answers}
	if d.ExpectsReply {
		f.Expects = 1
	}
	if f.GoesBack = wordText(d); len(answer) > 12 {
		f.GoesBack, f.Quiet = word(answer[12]), int(integer(answer[9]))
	}
	e := outline(d.To, hex, f)
	bodyOf(d).fill(&e.Message)
	if len(d.Metadata) > 0 {
		// JSON may have been respelt on its way into the body.
		e = assemble(d.To, hex, f, body)
	}
	out := store.Stored{Message: e.Message, State: c3po.StatePending, Recipient: recipientOf(d.To, answer[5]), Now: instant(now)}
	out.Acked = len(answer) > 7 && integer(answer[6]) == 1
	return out, nil
}

// fillOf reads what the inbox and the space hold with the message that was stored,
// and what its accounts have used.
func fillOf(held, used rueidis.RedisMessage) *store.Fill {
	fill := &store.Fill{}
	if n, _ := held.AsIntSlice(); len(n) == 5 {
		*fill = store.Fill{Messages: int(n[0]), Bytes: int(n[1]), OwnMessages: int(n[2]), OwnBytes: int(n[3]), SpaceBytes: n[4]}
	}
	if n, _ := used.AsIntSlice(); len(n) == 9 {
		fill.Spending = store.Spending{
			ChainMessages: int(n[0]), ChainBytes: int(n[1]), ChainHops: int(n[2]), PairMessages: int(n[3]), PairBytes: int(n[4]),
			AgentMessages: int(n[5]), AgentBytes: int(n[6]), SameTexts: int(n[7]), ChainTokens: n[8],
		}
	}
	return fill
}

var fullOf = map[string]string{
	"messages": store.FullOfMessages, "bytes": store.FullOfBytes, "sender": store.FullOfSender, "sender_size": store.FullOfSenderSize,
}

func readRepeat(answer []rueidis.RedisMessage, d store.Draft) (store.Stored, error) {
	hex, thread, at := word(answer[1]), word(answer[2]), integer(answer[3])
	out := store.Stored{Repeat: true, State: word(answer[5]), Recipient: recipientOf(d.To, answer[8]), Now: instant(integer(answer[4]))}
	if rawFact := word(answer[6]); rawFact != "" {
		first := entry(d.To, hex, rawFact, word(answer[7]))
		if !first.Corrupt && another(first.Message, d) {
			return store.Stored{}, store.RefuseKeyConflict(d.Key)
		}
		out.Message = first.Message
		return out, nil
	}
	// The record was trimmed; the key still knows that the message existed, and
	// what its sender was called.
	from := c3po.AgentID(word(answer[9]))
	out.Message = c3po.Message{
		ID: c3po.NewMessageID(from, d.To, hex), FromAgent: from, ToAgent: d.To, Thread: thread, Timestamp: instant(at), BodyGone: true,
	}
	return out, nil
}

// another reports whether the first message under a draft's key has another text. Between
// two versions of c3po, whose fingerprints cannot be compared, nothing else tells.
func another(first c3po.Message, d store.Draft) bool {
	return d.Key != "" && !first.BodyGone && first.Text() != d.Text
}

// Ack implements store.Store.
func (s *Store) Ack(ctx context.Context, space c3po.Space, owner c3po.AgentID, run string, ids []c3po.MessageID) ([]store.AckOutcome, error) {
	return s.end(ctx, space, "message_ack", owner, ids, with{"run": run})
}

// Received implements store.Store.
func (s *Store) Received(ctx context.Context, space c3po.Space, owner c3po.AgentID, reader, route string, ids []c3po.MessageID) ([]store.AckOutcome, error) {
	return s.end(ctx, space, "message_receive", owner, ids, with{"reader": reader, "route": route})
}

// end runs one of the two scripts that end mail of an inbox, and sorts ids of
// other inboxes into those that exist and those that do not.
func (s *Store) end(ctx context.Context, space c3po.Space, name scriptName, owner c3po.AgentID, ids []c3po.MessageID, given with) ([]store.AckOutcome, error) {
	k := keysOf(space)
	outcomes := make([]store.AckOutcome, len(ids))
	messages, own := []with{}, []int{}
	for i, id := range ids {
		from, to, hex := id.Split()
		if to == owner {
			own = append(own, i)
			messages = append(messages, with{"from": from, "hex": hex})
			continue
		}
		e, err := s.Message(ctx, space, id)
		if err != nil {
			return nil, err
		}
		outcomes[i] = store.AckNotYours
		if e == nil {
			outcomes[i] = store.AckUnknown
		}
	}
	given["agent"], given["mail"], given["owner"], given["messages"] = k.agent(owner), k.of(owner), owner, messages
	answer, err := s.run(ctx, name, k, given)
	if err != nil {
		return nil, err
	}
	if word(answer[0]) == "superseded" {
		return nil, store.RefuseSuperseded(owner)
	}
	for n, i := range own {
		outcomes[i] = store.AckOutcome(word(answer[n+1]))
	}
	return outcomes, nil
}
