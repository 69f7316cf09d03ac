package session

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/client/attempt"
)

const (
	// DefaultApprovalWait is how long the person is asked elsewhere only, by a client that
	// opens its dialog when the hook has ended.
	DefaultApprovalWait = time.Minute
	// withdrawTimeout is how long one attempt to withdraw a request may take.
	withdrawTimeout = 2 * time.Second
	// withdrawPause is how long after a failed attempt it is tried again. What cannot be
	// withdrawn expires.
	withdrawPause = time.Second
	withdrawTries = 30
	// verdictWait is how long one wait for the person is.
	verdictWait = 5 * time.Minute
	// maxReason is how much of what the agent said before goes with a request.
	maxReason = 600
)

// A request is a dialog of the client that the person can also decide elsewhere.
type request struct {
	approval c3po.Approval
	asked    time.Time
	id       c3po.MessageID     // of the question to the person, once it is asked
	settled  context.CancelFunc // it was decided at the terminal, or is moot
	typed    time.Time          // when somebody had last typed at the terminal before it
}

// approve puts a dialog before the person, wherever they are, and gives what the client
// takes for their verdict. Nothing if the dialog is decided first, or nobody can be asked:
// of a session that a script runs there is none, for nobody would decide it in time.
func (s *Server) approve(ctx context.Context, event hook.Event) string {
	s.mu.Lock()
	scripted := s.conversation.scripted
	s.mu.Unlock()
	if scripted {
		return "{}"
	}
	wait := time.Duration(0)
	if s.dialect.Blocks() {
		wait = s.patience
	}
	answer, decided := s.consult(ctx, event, wait)
	if !decided {
		return "{}"
	}
	verdict, _ := answer.Verdict()
	return s.dialect.Judge(verdict.Allow, answer.Response)
}

// consult asks the person about a dialog and waits for their verdict: as long as given, or
// until the request expires.
func (s *Server) consult(ctx context.Context, event hook.Event, wait time.Duration) (answer c3po.Message, decided bool) {
	if !s.approves() || s.off() || !s.isSettled() || s.to().Lost() {
		return answer, false
	}
	approval := c3po.Approval{Tool: event.ToolName, Input: json.RawMessage(event.Input), Session: event.SessionID, Request: rand.Text(), Folder: event.Cwd}
	hash, err := c3po.ApprovalHash(approval.Tool, approval.Input)
	if err != nil {
		return answer, false
	}
	approval.Hash = hash
	ctx, settled := context.WithCancel(ctx)
	defer settled()
	r := &request{approval: approval, asked: time.Now(), settled: settled}
	s.opens(r)
	defer s.closes(r)
	most, expires := s.timeouts.Ask, ""
	if s.dialect.Blocks() {
		if s.isThere() {
			return answer, false
		}
		most = s.timeouts.BlockedAsk
	}
	if wait > 0 {
		expires = fmt.Sprintf("%ds", max(1, wait/time.Second))
		limited, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		ctx = limited
	}
	asking, cancel := context.WithTimeout(ctx, most)
	asked, err := s.to().RequestApproval(asking, c3po.ApprovalInput{
		Tool: approval.Tool, Input: approval.Input, Session: approval.Session, Request: approval.Request, Folder: approval.Folder,
		Expires: expires, Reason: shorten(cmp.Or(event.Reason, lastWords(event.Transcript))),
	})
	cancel()
	if err != nil || asked.MessageID == "" {
		s.log.InfoContext(ctx, "cannot ask for an approval", "err", err)
		go s.disown(context.WithoutCancel(ctx), approval.Request)
		return answer, false
	}
	s.mu.Lock()
	r.id = asked.MessageID
	s.mu.Unlock()
	approval.Expires = asked.Expires
	if answer, decided = s.verdict(ctx, asked.MessageID, approval); !decided {
		go s.withdraw(context.WithoutCancel(ctx), asked.MessageID)
		return answer, false
	}
	go s.take(context.WithoutCancel(ctx), answer.ID)
	s.mu.Lock()
	s.conversation.activity = s.conversation.activity.Works(time.Now())
	s.mu.Unlock()
	return answer, true
}

// verdict waits until the person has decided exactly this. Not if the dialog was settled,
// the request was withdrawn, or its time is over.
func (s *Server) verdict(ctx context.Context, id c3po.MessageID, approval c3po.Approval) (c3po.Message, bool) {
	ctx, cancel := context.WithDeadline(ctx, approval.Expires)
	defer cancel()
	for ctx.Err() == nil {
		got, err := s.to().WaitForMessage(ctx, c3po.WaitInput{MessageID: id, Timeout: int(verdictWait / time.Second)})
		switch {
		case err != nil && (errors.Is(err, c3po.InvalidRequest) || errors.Is(err, c3po.Forbidden) || errors.Is(err, c3po.Superseded)):
			return c3po.Message{}, false
		case err != nil: // the coordinator is away; the dialog is still there
			attempt.Sleep(ctx, withdrawPause)
		case got.Outcome == nil:
			verdict, ok := got.Message.Verdict()
			ok = ok && got.Message.MessageID == id && verdict.IsFor(approval, time.Now())
			return got.Message, ok && ctx.Err() == nil
		case got.Outcome.Status != c3po.WaitTimeout && got.Outcome.Status != c3po.WaitRetry:
			return c3po.Message{}, false
		}
	}
	return c3po.Message{}, false
}

// take acks a verdict: it is for the client, and no mail to the model.
func (s *Server) take(ctx context.Context, id c3po.MessageID) {
	s.persist(ctx, "ack a verdict", func(ctx context.Context) error {
		_, err := s.to().AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{id}})
		return err
	})
}

// withdraw takes a request out of the person's mailbox.
func (s *Server) withdraw(ctx context.Context, id c3po.MessageID) {
	s.persist(ctx, "withdraw a request", func(ctx context.Context) error {
		_, err := s.to().Cancel(ctx, c3po.MessageInput{MessageID: id})
		return err
	})
}

// disown withdraws a request of which nobody knows whether it was stored.
func (s *Server) disown(ctx context.Context, name string) {
	s.persist(ctx, "withdraw a request", func(ctx context.Context) error {
		list, err := s.to().Tickets(ctx, c3po.TicketsInput{Which: c3po.TicketsAsked, ClientKey: c3po.ApprovalKey(name)})
		for _, t := range list.Tickets {
			if _, err := s.to().Cancel(ctx, c3po.MessageInput{MessageID: t.ID}); err != nil {
				return err
			}
		}
		return err
	})
}

// withdrawAll withdraws what is still before the person when the session ends.
func (s *Server) withdrawAll(ctx context.Context) {
	s.mu.Lock()
	var ids []c3po.MessageID
	for r := range s.requests {
		if r.id != "" {
			ids = append(ids, r.id)
		}
	}
	s.mu.Unlock()
	for _, id := range ids {
		if _, err := s.to().Cancel(ctx, c3po.MessageInput{MessageID: id}); err != nil {
			s.log.InfoContext(ctx, "cannot withdraw a request", "err", err)
		}
	}
}

// persist tries something until the coordinator has taken it, but not for ever: requests
// expire by themselves.
func (s *Server) persist(ctx context.Context, what string, do func(context.Context) error) {
	var err error
	for range withdrawTries {
		limited, cancel := context.WithTimeout(ctx, withdrawTimeout)
		err = do(limited)
		cancel()
		if err == nil || errors.Is(err, c3po.InvalidRequest) {
			return
		}
		attempt.Sleep(ctx, withdrawPause)
	}
	s.log.InfoContext(ctx, "cannot "+what, "err", err)
}

// opens remembers a dialog.
func (s *Server) opens(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.typed = s.typed
	s.requests[r] = true
	if s.dialect.Blocks() || s.resumed { // no other hook tells of it, and it opens if nobody decides it elsewhere
		s.conversation.activity = s.conversation.activity.Asks(r.asked)
	}
}

func (s *Server) closes(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.requests, r)
}

// settles ends the dialogs that an event shows to be decided: the tool has run, or the
// turn is over. It is called with the lock held.
func (s *Server) settles(event hook.Event) {
	for r := range s.requests {
		switch event.Name {
		case hook.PostToolUse:
			hash, err := c3po.ApprovalHash(event.ToolName, json.RawMessage(event.Input))
			if err == nil && hash == r.approval.Hash && event.SessionID == r.approval.Session {
				r.settled()
				return // of two equal calls, one has run
			}
		case hook.UserPromptSubmit, hook.StopEvent, hook.StopFailure, hook.SessionEnd:
			r.settled()
		}
	}
}

// sawDecided ends the dialogs that the client itself says are gone: it has done
// something else since. It is called with the lock held.
func (s *Server) sawDecided(seen Sight) {
	if seen.Says == "" || seen.Says == saysWaiting {
		return
	}
	for r := range s.requests {
		if seen.Since.After(r.asked) {
			r.settled()
		}
	}
}

// leavesToTerminal ends what is asked elsewhere once the person has switched that off: the
// hooks end without a verdict, and the dialogs are the terminal's alone.
func (s *Server) leavesToTerminal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == 0 || s.approves() && !s.off() {
		return
	}
	for r := range s.requests {
		r.settled()
	}
}

// What Claude Code says of itself while a dialog is open, and between turns.
const (
	saysWaiting = "waiting"
	saysIdle    = "idle"
)

// serveApproval answers a hook that waits for the person. When the hook is ended the
// dialog was decided without it.
func (s *Server) serveApproval(ctx context.Context, connection net.Conn, reader *bufio.Reader, event hook.Event) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		_, _ = reader.ReadByte() // a hook says nothing more: this ends when it does
	}()
	_, _ = connection.Write([]byte(s.approve(ctx, event) + "\n")) // its client may be gone
}

// lastWords is what the agent said last before it asked, from the end of the transcript
// that its client keeps; empty if that cannot be read.
func lastWords(transcript string) string {
	if transcript == "" {
		return ""
	}
	file, err := os.Open(transcript) // #nosec G304 -- the client's own, named by its hook
	if err != nil {
		return ""
	}
	defer file.Close()
	const tail = 64 << 10
	data := make([]byte, tail)
	size := int64(0)
	if info, err := file.Stat(); err == nil {
		size = info.Size()
	}
	n, _ := file.ReadAt(data, max(0, size-tail)) // it may be shorter
	words := ""
	for line := range strings.Lines(string(data[:n])) {
		var said struct {
			Type    string `json:"type"`
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		}
		if json.Unmarshal([]byte(line), &said) != nil {
			continue
		}
		switch said.Type {
		case "user":
			if json.Unmarshal(said.Message.Content, new(string)) == nil {
				words = "" // a prompt: what was said before is about something else
			}
		case "assistant":
			var parts []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			}
			if json.Unmarshal(said.Message.Content, &parts) != nil {
				continue
			}
			for _, part := range parts {
				if part.Type == "text" && strings.TrimSpace(part.Text) != "" {
					words = part.Text
				}
			}
		}
	}
	return words
}

// shorten cuts what the agent said before it asked.
func shorten(words string) string {
	if runes := []rune(words); len(runes) > maxReason {
		words = string(runes[:maxReason]) + "…"
	}
	return words
}
