package verify

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// hookTool is the tool of a session process that hooks call.
	hookTool = "c3po_hook"
	// callName is how Claude Code names a call to the server.
	callName = "claudecode/toolUseId"
)

// A session is a client's run as verify plays it: a session process, and the events of
// its life. What belongs to the run finds each other by the process that has
// started it, which is this one.
type session struct {
	*run
	client Client
	tools  *tools
	probe  c3po.MessageID // stays unread by each new session, so one serves all hooks
}

// session tries all paths of one client.
func (r *run) session(ctx context.Context, c Client) {
	s := &session{run: r, client: c}
	toolsPath := c.path(PathTools)
	if c.Trouble != "" {
		for _, path := range c.paths() {
			r.keep(Result{Path: path, Verdict: Failed, Says: c.Trouble, Fix: c.Fix})
		}
		return
	}
	works := r.try(ctx, toolsPath, c.Fix, s.useTools)
	if len(c.paths()) > 1 && !works {
		// The other paths are judged by themselves, on a session process that works.
		s.hangUp()
		limited, cancel := context.WithTimeout(ctx, r.Limit)
		s.tools, _ = startTools(limited, r.Own)
		cancel()
	}
	defer r.ackAll(ctx)
	defer s.hangUp()
	if s.tools == nil {
		for _, path := range c.paths()[1:] {
			r.skip(path, toolsPath)
		}
		return
	}
	for _, h := range c.Hooks {
		if h.Event != sessionEnd {
			r.try(ctx, c.hookPath(h), c.Fix, func(ctx context.Context) (c3po.MessageID, string, error) { return s.hook(ctx, h) })
		}
	}
	if c.Wakes {
		r.try(ctx, c.path(pathMonitor), c.Fix, s.monitor)
	}
	for _, h := range c.Hooks {
		if h.Event == sessionEnd { // after it the session is no more
			r.try(ctx, c.hookPath(h), c.Fix, func(ctx context.Context) (c3po.MessageID, string, error) { return s.hook(ctx, h) })
		}
	}
}

func (s *session) hangUp() {
	if s.tools != nil {
		s.tools.end()
		s.tools = nil
	}
}

// useTools reads a probe with the tools the client would have.
func (s *session) useTools(ctx context.Context) (c3po.MessageID, string, error) {
	if s.client.Server == nil {
		return "", "", failuref("its configuration names no command for the tools")
	}
	var err error
	if s.tools, err = startTools(ctx, *s.client.Server); err != nil {
		return "", "", err
	}
	reader, err := s.begin(ctx)
	if err != nil {
		return "", "", err
	}
	probe, err := s.mail(ctx)
	if err != nil {
		return "", "", err
	}
	if err := s.read(ctx, probe, nil); err != nil {
		return probe, "", err
	}
	if err := s.servedTo(ctx, probe, reader); err != nil {
		return probe, "", err
	}
	return probe, "they read the probe", nil
}

// mail is the probe that the sessions of this client are told of. A sender may
// not send often, so it is sent once.
func (s *session) mail(ctx context.Context) (c3po.MessageID, error) {
	if s.probe != "" {
		return s.probe, nil
	}
	var err error
	s.probe, err = s.send(ctx, s.client.path("sessions"), len(s.client.paths()) > 1)
	return s.probe, err
}

// read makes the tools show the inbox, in which the probe must be.
func (s *session) read(ctx context.Context, probe c3po.MessageID, meta any) error {
	text, err := s.tools.call(ctx, "get_messages", map[string]any{}, meta)
	if err != nil {
		return err
	}
	if !strings.Contains(text, string(probe)) {
		return failuref("its tools do not show the probe")
	}
	return nil
}

// begin opens a new session of the client by a call of the tool itself, so that
// no path depends on the hooks of another. It returns the name of the session.
func (s *session) begin(ctx context.Context) (string, error) {
	name := newSession()
	_, err := s.tools.call(ctx, hookTool, map[string]string{"hook_event_name": sessionStart, "session_id": name, "source": "startup"}, nil)
	return name, err
}

const probed = "verify-"

// IsProbe says that a session is one that a probe pretends to be.
func IsProbe(session string) bool { return strings.HasPrefix(session, probed) }

func newSession() string { return probed + strings.ToLower(rand.Text()[:12]) }

// goesOn is the next sign of the session, by which it has taken what it was told.
func (s *session) goesOn(ctx context.Context, name, event string) error {
	_, err := s.tools.call(ctx, hookTool, map[string]string{"hook_event_name": event, "session_id": name}, nil)
	return err
}

// endTurn ends the turn, so that mail may wake the session.
func (s *session) endTurn(ctx context.Context, name string) error {
	for {
		text, err := s.tools.call(ctx, hookTool, map[string]string{"hook_event_name": stopEvent, "session_id": name}, nil)
		if err != nil || contextOf(text) == "" {
			return err
		}
		select {
		case <-ctx.Done():
			return failuref("the session does not come to rest")
		case <-time.After(pollEvery):
		}
	}
}

// answer is what hooks say, as Claude Code takes it.
type answer struct {
	Message  string `json:"systemMessage"`
	Reason   string `json:"reason"` // why a turn goes on, for clients that call it so
	Context  string `json:"additionalContext"`
	Specific struct {
		Context    string `json:"additionalContext"`
		Permission string `json:"permissionDecision"`
		Reason     string `json:"permissionDecisionReason"`
	} `json:"hookSpecificOutput"`
}

// context is what the model is told.
func (a answer) context() string {
	return cmp.Or(a.Specific.Context, a.Context, a.Reason, a.Specific.Reason)
}

// understand reads the answer of a hook. There are clients that take a plain line.
func understand(text string) (a answer, ok bool) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "c3po: ") {
		return answer{Context: text}, true
	}
	return a, text == "" || json.Unmarshal([]byte(text), &a) == nil
}

// contextOf is what an answer tells the model.
func contextOf(text string) string {
	a, _ := understand(text) // what is no answer tells nothing
	return a.context()
}
