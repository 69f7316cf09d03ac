package bench

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

const (
	// waitSeconds is how long one wait is; a new one follows it.
	waitSeconds = 50
	// What a machine was too busy for is done again, but not for ever.
	maxRepeats  = 100
	repeatAfter = 100 * time.Millisecond
)

// web is the way through a coordinator, by REST or by MCP.
type web struct {
	address string // host:port
	space   c3po.Space
	mcp     bool
}

// open connects, and makes the agent's first call, which costs more than the
// ones that are measured.
func (d *web) open(ctx context.Context, id c3po.AgentID) (seat, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", d.address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	s := &webSeat{door: d, id: id, conn: conn, answers: bufio.NewReader(conn), run: rand.Text()}
	_, err = s.call(ctx, "ping", c3po.None{})
	return s, err
}

// A webSeat has a connection of its own. It speaks HTTP by itself: a client
// that does much for its caller would be measured together with the server.
type webSeat struct {
	door    *web
	id      c3po.AgentID
	conn    net.Conn
	answers *bufio.Reader
	out, in bytes.Buffer
	run     string // tells its keys from those of an agent of that name before it
	sent    int
	given   int64
}

// toolCall is a call as MCP has it.
type toolCall struct {
	JSONRPC string     `json:"jsonrpc"`
	ID      int        `json:"id"`
	Method  string     `json:"method"`
	Params  toolParams `json:"params"`
}

type toolParams struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

// insist does something until Redis has answered, as clients do: it is done once
// however often it is asked for, since what is written has a key. The time it
// takes is that of the operation.
func insist(ctx context.Context, do func() error) error {
	for repeats := 0; ; repeats++ {
		err := do()
		if repeats == maxRepeats || !errors.Is(err, c3po.RedisUnavailable) && !errors.Is(err, c3po.UnknownOutcome) {
			return err
		}
		if pass(ctx, repeatAfter, nil, nil) != nil {
			return err
		}
	}
}

// call runs an operation and returns the answer as it was written, good until
// the next call.
func (s *webSeat) call(ctx context.Context, operation string, arguments any) (answer []byte, err error) {
	s.sent++
	err = insist(ctx, func() error {
		answer, err = s.callOnce(operation, arguments)
		return err
	})
	return answer, err
}

func (s *webSeat) callOnce(operation string, arguments any) ([]byte, error) {
	path, more, body := "/api/op/"+operation, "", arguments
	if s.door.mcp {
		path = "/mcp?tools=core,more,rooms"
		more = "Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2025-06-18\r\n"
		body = toolCall{"2.0", s.sent, "tools/call", toolParams{operation, arguments}}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	s.out.Reset()
	fmt.Fprintf(&s.out, "POST %s HTTP/1.1\r\nHost: %s\r\n%s: %s\r\n%s: %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n",
		path, s.door.address, auth.AgentHeader, s.id, auth.SpaceHeader, s.door.space, more, len(data))
	s.out.Write(data)
	if _, err := s.conn.Write(s.out.Bytes()); err != nil {
		return nil, err
	}
	answer, err := http.ReadResponse(s.answers, nil)
	if err != nil {
		return nil, err
	}
	s.in.Reset()
	if _, err := s.in.ReadFrom(answer.Body); err != nil {
		return nil, err
	}
	return s.in.Bytes(), refusal(answer.StatusCode, s.in.Bytes())
}

// refusal is what a coordinator answered instead of a result.
func refusal(status int, body []byte) error {
	if status == http.StatusOK && !bytes.Contains(body, []byte(`"isError":true`)) && !bytes.Contains(body, []byte(`"error":{`)) {
		return nil
	}
	var refused c3po.Error
	if json.Unmarshal(body, &refused) == nil && refused.Code != "" {
		if refused.Code == c3po.RateLimited || refused.Code == c3po.BudgetSpent {
			refused.Suggestion = "Measure a coordinator that was started with --sends-per-minute 0 and --budgets off."
		}
		return &refused
	}
	// What a model reads is not JSON, but names the code.
	for _, code := range []c3po.Code{c3po.RedisUnavailable, c3po.UnknownOutcome} {
		if bytes.Contains(body, []byte(code)) {
			return c3po.Errorf(code, "the coordinator was too busy for a call").Suggest("Give a smaller --concurrency.")
		}
	}
	return c3po.Because(fmt.Errorf("status %d: %.500s", status, body), c3po.Internal, "the coordinator refused a call").
		Suggest("Check that it is a c3po coordinator of this version.")
}

// key names what is sent next, as every client of ours does.
func (s *webSeat) key() string { return fmt.Sprintf("%s-%s-%d", s.id, s.run, s.sent) }

func (s *webSeat) send(ctx context.Context, to c3po.AgentID, text string) (c3po.MessageID, error) {
	answer, err := s.call(ctx, "send_message", c3po.SendInput{Target: string(to), Message: text, ClientKey: s.key()})
	if err != nil {
		return "", err
	}
	return messageID(answer, string(s.id)+"::")
}

func (s *webSeat) woken(ctx context.Context) error {
	_, err := s.next(ctx)
	return err
}

func (s *webSeat) next(ctx context.Context) (c3po.MessageID, error) {
	return s.await(ctx, c3po.WaitInput{Timeout: waitSeconds, After: &s.given}, "::"+string(s.id)+"::")
}

func (s *webSeat) answer(ctx context.Context, to c3po.MessageID) (c3po.MessageID, error) {
	_, helper, _ := to.Split()
	return s.await(ctx, c3po.WaitInput{Timeout: waitSeconds, MessageID: to, After: &s.given}, string(helper)+"::"+string(s.id)+"::")
}

func (s *webSeat) reply(ctx context.Context, to c3po.MessageID, text string) error {
	_, err := s.call(ctx, "reply", c3po.ReplyInput{MessageID: to, Response: text, ClientKey: s.key()})
	return err
}

func (s *webSeat) ack(ctx context.Context, id c3po.MessageID) error {
	_, err := s.call(ctx, "ack_messages", c3po.AckInput{MessageIDs: []c3po.MessageID{id}})
	return err
}

// await waits until there is a message whose id has this part.
func (s *webSeat) await(ctx context.Context, in c3po.WaitInput, part string) (c3po.MessageID, error) {
	for {
		answer, err := s.call(ctx, "wait_for_message", in)
		if err != nil {
			return "", err
		}
		s.given = max(s.given, cursor(answer, s.door.mcp))
		if id, err := messageID(answer, part); err == nil {
			return id, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
}

var errNoID = errors.New("the answer names no message")

// messageID finds the id of a message in an answer, be it JSON or the text that
// a model reads, by the part of it that is known. To decode the answer would
// cost us more than it cost the coordinator to write it.
func messageID(answer []byte, part string) (c3po.MessageID, error) {
	at := bytes.Index(answer, []byte(part))
	if at < 0 {
		return "", errNoID
	}
	start, end := at, at+len(part)
	for start > 0 && inID(answer[start-1]) {
		start--
	}
	if start > 0 && answer[start-1] == '\\' {
		start++ // the letter of an escaped line break
	}
	for end < len(answer) && inID(answer[end]) {
		end++
	}
	return c3po.ParseMessageID(string(answer[start:end]))
}

func inID(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == ':'
}

// cursor finds where the next wait goes on from.
func cursor(answer []byte, mcp bool) int64 {
	mark := `"seq":`
	if mcp {
		mark = "after="
	}
	at := bytes.LastIndex(answer, []byte(mark))
	if at < 0 {
		return 0
	}
	digits := string(answer[at+len(mark):])
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
