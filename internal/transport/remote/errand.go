package remote

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/hub"
)

const (
	// maxReplyCharacters is what a reply can hold.
	maxReplyCharacters = 50_000
	// maxFileBytes is how much all files of a message may have together to be forwarded: they
	// go within one request.
	maxFileBytes = 4 << 20
)

// A conversation is where a remote left off, in the metadata of what it said last: what
// follows in the thread goes on there, whichever coordinator forwards it.
type conversation struct {
	Context string `json:"context,omitempty"`
	Task    string `json:"task,omitempty"` // that waits for an answer; empty if none does
}

// conversationKey is the name of a conversation in metadata.
const conversationKey = "a2a"

func conversationIn(metadata json.RawMessage) (c conversation) {
	var all map[string]json.RawMessage
	if json.Unmarshal(metadata, &all) != nil || json.Unmarshal(all[conversationKey], &c) != nil {
		return conversation{}
	}
	return c
}

// ask brings a message to the remote, and its answer back. The asker hears of it whatever
// happens, unless this coordinator stops: then the next one asks again, under the same id.
func (e *errand) ask(ctx context.Context, m c3po.Message) {
	if m.Kind != c3po.KindMessage && m.Kind != c3po.KindReply {
		e.ack(ctx, m.ID) // what is said of its own mail means nothing to the remote
		return
	}
	var way hub.Forwarding
	if err := e.patiently(ctx, time.Time{}, func() (err error) {
		way, err = e.actor().Forwarding(ctx, m)
		return err
	}); err != nil {
		if ctx.Err() == nil {
			e.Log.WarnContext(ctx, "cannot read what a message to a remote agent goes on with", "agent", e.Agent, "message_id", m.ID, "err", err)
		}
		return // it stays in the inbox for the next coordinator
	}
	before := conversationIn(way.Before)
	answers := m.Kind == c3po.KindReply && before.Task != ""
	if m.Kind == c3po.KindReply && !answers && !m.ExpectsReply {
		e.ack(ctx, m.ID) // it thanks for an answer, and nothing is asked
		return
	}
	t, err := e.done(ctx, m, way, before)
	switch {
	case ctx.Err() != nil:
	case m.ExpectsReply:
		reply := e.report(t, err)
		reply.MessageID, reply.ClientKey = m.ID, "a2a-"+nameOf(e.Space, m.ID)
		if e.insist(ctx, m.ID, func() error {
			_, err := e.actor().Reply(ctx, reply)
			return err
		}) {
			e.end(m.ID)
		}
	case answers:
		// An answer to an answer wakes nobody, and this one is waited for.
		report := e.report(t, err)
		e.insist(ctx, m.ID, func() error {
			_, err := e.actor().SendMessage(ctx, c3po.SendInput{
				Target: string(m.FromAgent), Thread: m.Thread, Message: report.Response, ExpectsReply: &report.ExpectsReply, Metadata: report.Metadata,
				ClientKey: "a2a-" + nameOf(e.Space, m.ID),
			})
			return err
		})
		if ctx.Err() == nil {
			e.ack(ctx, m.ID)
		}
	default:
		e.ack(ctx, m.ID)
	}
}

// report is what the asker hears of a task.
func (e *errand) report(t task, err error) c3po.ReplyInput {
	reply := c3po.ReplyInput{Status: c3po.ReplySuccess}
	said := conversation{Context: t.ContextID}
	switch state := t.state(); {
	case err != nil && t.accepted:
		reply.Status, reply.Response = c3po.ReplyError, fmt.Sprintf("The remote agent '%s' accepted the task, and then c3po lost track of it: %s. Whether it has done anything is unknown.", e.Agent, strings.TrimSuffix(err.Error(), "."))
	case err != nil:
		reply.Status, reply.Response = c3po.ReplyError, fmt.Sprintf("c3po could not ask the remote agent '%s': %s. Whether it has done anything is unknown.", e.Agent, strings.TrimSuffix(err.Error(), "."))
	case t.answered != nil || state == "completed":
		reply.Response = cmp.Or(t.answer(), "(The remote agent has completed the task and said nothing.)")
	case state == "input-required":
		reply.Status, reply.ExpectsReply, said.Task = c3po.ReplyAsksBack, true, t.ID
		reply.Response = "The remote agent asks back. Reply to this with what it needs: " + cmp.Or(t.answer(), "(It does not say what.)")
	case state == "auth-required":
		reply.Status, reply.ExpectsReply, said.Task = c3po.ReplyAsksBack, true, t.ID
		reply.Response = "The remote agent needs to be authorized before it goes on. Do that where it says, then reply to this: " + cmp.Or(t.answer(), "(It does not say where.)")
	default:
		reply.Status, reply.Response = c3po.ReplyError, fmt.Sprintf("The remote agent ended the task as %s. %s", state, t.answer())
	}
	reply.Response = cut(reply.Response)
	if said != (conversation{}) {
		reply.Metadata, _ = json.Marshal(map[string]conversation{conversationKey: said}) // two strings
	}
	return reply
}

// cut is a text as a reply can hold it. Whoever reads it sees that something is missing.
func cut(text string) string {
	runes := []rune(text)
	if len(runes) <= maxReplyCharacters {
		return text
	}
	note := fmt.Sprintf("\n\n[c3po has cut this: it has %d characters, and a reply holds %d.]", len(runes), maxReplyCharacters)
	return string(runes[:maxReplyCharacters-len(note)]) + note
}

// insist tells the asker, again and again while the coordinator cannot take it, and says
// whether that was done. Of a message that was cancelled meanwhile there is nothing to tell.
func (e *errand) insist(ctx context.Context, id c3po.MessageID, tell func() error) bool {
	for pause := minPause; ctx.Err() == nil; pause = min(2*pause, maxPause) {
		err := tell()
		switch {
		case err == nil:
			return true
		case c3po.AsError(err).Code.Retry() == c3po.RetryNo:
			e.Log.InfoContext(ctx, "what a remote agent answered is not wanted", "agent", e.Agent, "message_id", id, "err", err)
			return false
		}
		attempt.Sleep(ctx, pause)
	}
	return false
}

func (e *errand) ack(ctx context.Context, id c3po.MessageID) {
	_, err := e.actor().AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{id}})
	switch {
	case err == nil:
		e.end(id)
	case ctx.Err() == nil:
		e.Log.WarnContext(ctx, "cannot ack a message to a remote agent", "agent", e.Agent, "message_id", id, "err", err)
	}
}

// done asks the remote and waits until it has done what it was asked. What fails for a
// while is tried again; what will not change, or not soon, is an error.
func (e *errand) done(ctx context.Context, m c3po.Message, way hub.Forwarding, before conversation) (task, error) {
	var p peer
	var t task
	token, err := e.token(e.TokenEnv)
	if err != nil {
		return t, err
	}
	out := outgoing{id: nameOf(e.Space, m.ID), chain: way.Chain, trace: way.Trace, conversation: before, text: m.Text()}
	if m.Context != "" {
		out.text += "\n\n" + m.Context
	}
	if out.files, err = e.files(ctx, m); err != nil {
		return t, err
	}
	since := way.Accepted
	if way.Received {
		since = time.Time{} // it has the task, and another coordinator may have heard of it a moment ago
	}
	err = e.patiently(ctx, since, func() (err error) {
		if p, err = meet(ctx, e.http(), e.Card, token); err == nil {
			t, err = p.send(ctx, out)
		}
		return err
	})
	if err != nil {
		return task{accepted: way.Received}, err
	}
	t.accepted = true
	if _, err := e.actor().Received(ctx, c3po.ReceivedInput{MessageIDs: []c3po.MessageID{m.ID}}); err != nil && ctx.Err() == nil {
		e.Log.WarnContext(ctx, "cannot note that a remote agent has a message", "agent", e.Agent, "message_id", m.ID, "err", err)
	}
	for pause := minPause; t.answered == nil && !ended(t.state()); pause = min(pause*3/2, maxPause) {
		if !attempt.Sleep(ctx, pause) {
			return t, ctx.Err()
		}
		if e.withdrawn(ctx, m.ID) {
			return t, p.cancel(ctx, t.ID)
		}
		err := e.patiently(ctx, time.Time{}, func() error {
			now, err := p.get(ctx, t.ID)
			if err == nil {
				t, t.accepted = now, true
			}
			return err
		})
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// files are the bytes of what came with a message.
func (e *errand) files(ctx context.Context, m c3po.Message) ([]file, error) {
	var all []file
	total := int64(0)
	for _, attached := range m.Attachments {
		total += attached.Size
	}
	if total > maxFileBytes {
		return nil, wrongf("the files with the message have %d bytes, and at most %d are forwarded with a message", total, maxFileBytes)
	}
	for _, attached := range m.Attachments {
		content := make([]byte, 0, attached.Size)
		for int64(len(content)) < attached.Size {
			err := e.patiently(ctx, time.Time{}, func() error {
				part, err := e.actor().FileRead(ctx, c3po.FileQuery{MessageID: m.ID, File: attached.ID, Offset: int64(len(content))})
				switch {
				case err != nil && c3po.AsError(err).Code.Retry() == c3po.RetryNo, err == nil && len(part.Data) == 0:
					return wrongf("the file %q that came with the message is not kept here any more", c3po.Clip(attached.Name))
				case err != nil:
					return err
				}
				content = append(content, part.Data...)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		all = append(all, file{attached.Name, attached.Type, content})
	}
	return all, nil
}

// ended says that a task goes on no more by itself.
func ended(state string) bool {
	switch state {
	case "completed", "failed", "canceled", "rejected", "input-required", "auth-required":
		return true
	}
	return false
}

// withdrawn says that the asker has cancelled its message.
func (e *errand) withdrawn(ctx context.Context, id c3po.MessageID) bool {
	list, err := e.actor().Tickets(ctx, c3po.TicketsInput{MessageID: id})
	return err == nil && len(list.Tickets) == 1 && list.Tickets[0].State == c3po.TicketCancelled
}

// patiently tries again what fails for a while: since then, if that is not zero.
func (e *errand) patiently(ctx context.Context, since time.Time, try func() error) error {
	end := patienceEnds(time.Now(), since, cmp.Or(e.GiveUpAfter, giveUpAfter))
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		err := try()
		if err == nil || final(err) || !time.Now().Before(end) {
			return err
		}
		if !attempt.Sleep(ctx, pause) {
			return ctx.Err()
		}
	}
}

// patienceEnds is until when something is tried. What began before this coordinator did gets
// the rest of its time, and enough for a network that is only coming up.
func patienceEnds(now, since time.Time, patience time.Duration) time.Time {
	if since.IsZero() {
		return now.Add(patience)
	}
	end, least := since.Add(patience), now.Add(patience/8)
	if end.Before(least) {
		return least
	}
	return end
}

// nameOf is the id of a message for the other side: the same for every try, and telling
// nothing of who asks.
func nameOf(space c3po.Space, id c3po.MessageID) string {
	sum := sha256.Sum256([]byte(string(space) + "\x00" + string(id)))
	return hex.EncodeToString(sum[:16])
}
