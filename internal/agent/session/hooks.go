package session

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// hookCall is the tool that the plugin's hooks call.
func (s *Server) hookCall(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var event hook.Event
	text := "{}"
	// A hook that is not understood changes nothing: it must not disturb a session.
	switch err := json.Unmarshal(req.Params.Arguments, &event); {
	case err != nil:
	case event.Name == hook.Approve:
		text = s.approve(ctx, event)
	default:
		text = s.answerHook(ctx, event)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
}

// answerHook answers one event of the client's life.
func (s *Server) answerHook(ctx context.Context, event hook.Event) string {
	if event.Name == hook.Counted { // it shows nothing of what the session does
		s.takeCount(event)
		return "{}"
	}
	defer s.slept()
	defer s.hasRun(event.Name, time.Now())
	s.follow(event)
	s.evidence(event)
	s.personSwitches(event)
	s.edited(event)
	switch {
	case event.Name == hook.Commit:
		return s.checkCommit(ctx, event)
	case event.Name == hook.PreToolUse && event.Changes():
		return s.beforeEdit(ctx, event)
	case event.Name == hook.PreToolUse:
		return s.allow(event)
	case event.Name == hook.StillBusy || event.Name == hook.ToolFailed || event.Name == hook.ToolDenied:
		return "{}"
	case event.Name == hook.DialogOpens:
		return s.asksPerson(event)
	case s.off():
		s.noteWhileOff(event)
		return "{}"
	}
	if event.SessionID != "" {
		s.enter(event)
		s.keepSoon()
	}
	switch event.Name {
	case hook.SessionStart:
		s.want()
		return s.dialect.Write(s.invite(s.greet(ctx)), event.Name)
	case hook.UserPromptSubmit:
		s.want()
		settles := s.personWrites(event)
		decision := s.invite(s.onPrompt(ctx))
		if settles {
			decision = hook.Settled(decision)
		}
		return s.dialect.Write(s.says(s.tellOverlaps(decision)), event.Name)
	case hook.PostToolUse:
		decision := s.showAsk(s.onToolUsed(event))
		if !s.dialect.Deaf() {
			decision = s.tellOverlaps(decision)
		}
		return s.dialect.Write(decision, event.Name)
	case hook.StopEvent:
		return s.dialect.Write(s.onStop(ctx, event), event.Name)
	case hook.StopFailure:
		s.failTurn(event)
	case hook.Refused:
		s.refused(event)
	case hook.SessionEnd:
		// A session that is cleared or changed for another is not the end of the run.
		if event.Reason != "clear" && event.Reason != "resume" {
			s.depart()
		}
	}
	return "{}"
}

// noteWhileOff takes in what a hook shows while c3po is switched off: nothing is said, but
// once it is switched on the session is what it has become meanwhile.
func (s *Server) noteWhileOff(event hook.Event) {
	if event.SessionID != "" {
		s.enter(event)
	}
	switch event.Name {
	case hook.SessionStart, hook.UserPromptSubmit:
		s.mu.Lock()
		s.wantedOff = true
		s.mu.Unlock()
	case hook.StopEvent:
		s.putOff()
	case hook.StopFailure:
		s.failTurn(event)
	}
}

// allow lets a tool of ours run, also when c3po is off: the tool says so then. About every other
// tool it says nothing, also if a client calls the hook for one: nobody was asked about that.
func (s *Server) allow(event hook.Event) string {
	if !s.dialect.May(event) {
		return "{}"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if event.AgentID != "" && event.ToolUseID != "" {
		s.conversation.useOf(event.ToolUseID).subagent = subagentKind(event.AgentType)
	}
	return s.dialect.Allow()
}

// subagentKind is a name others will read: it is cut and kept to one line.
func subagentKind(kind string) string {
	kind = strings.ToValidUTF8(strings.Join(strings.Fields(kind), " "), "")
	if kind == "" {
		return "subagent"
	}
	if runes := []rune(kind); len(runes) > 64 {
		kind = string(runes[:64])
	}
	return kind
}

// enter makes the session of an event the present one. Subagents have the
// session of their parent.
func (s *Server) enter(event hook.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if event.SessionID != s.conversation.id {
		s.conversation.begin(event.SessionID)
		s.client.SetSession(event.SessionID)
	}
	if event.Attended != "" {
		s.conversation.scripted = event.Attended == "0"
		s.conversation.alone = s.conversation.scripted && !s.answers
	}
	if event.Name == hook.SessionStart && event.Source != "startup" {
		s.conversation.memory = s.conversation.memory.Forget()
	}
	if event.Name == hook.UserPromptSubmit {
		s.conversation.prompts++
	}
	s.conversation.shows(event)
	// Kimi does not tell; a second prompt says that somebody is there.
	if s.dialect == hook.Kimi {
		s.conversation.scripted = s.conversation.prompts < 2
		s.conversation.alone = s.conversation.scripted && !s.answers
	}
}

// invite tells a session, once, to wait for mail in the background, if that is how
// it is woken and somebody attends it: some clients do not end before their
// background shells do.
func (s *Server) invite(d hook.Decision) hook.Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	// What makes a turn go on is a prompt to Copilot, so only of Kimi does a second
	// one say that somebody is there.
	attended := s.attended || s.dialect == hook.Kimi && s.conversation.prompts > 1
	if !s.dialect.Waits() || !attended || s.conversation.invited || len(s.conversation.monitors) > 0 {
		return d
	}
	s.conversation.invited = true
	return hook.Invite(d)
}

// greet tells a session where it is, as soon as that is known.
func (s *Server) greet(ctx context.Context) hook.Decision {
	if !s.hookSettled(ctx) {
		return hook.Decision{}
	}
	s.lookAround(ctx)
	return s.decide(s.start)
}

func (s *Server) onPrompt(ctx context.Context) hook.Decision {
	s.mu.Lock()
	greeted := s.conversation.memory.Greeted()
	s.mu.Unlock()
	if !s.hookSettled(ctx) || s.to().Lost() {
		return s.warn()
	}
	if !greeted {
		s.lookAround(ctx)
		return s.decide(s.start)
	}
	if s.worthLooking() {
		s.refresh(ctx)
	}
	return s.decide(s.prompt)
}

// prompt is the rule for the begin of a turn.
func (s *Server) prompt(m hook.Memory, mail []hook.Letter, now time.Time) (hook.Decision, hook.Memory) {
	return hook.Prompt(m, mail, s.conversation.unread(), now)
}

// start is the rule for a session that is not greeted yet.
func (s *Server) start(m hook.Memory, mail []hook.Letter, now time.Time) (hook.Decision, hook.Memory) {
	switch {
	case s.conversation.alone && s.dialect.Prints():
		return hook.Decision{}, m // a greeting that comes in time or not would change the output
	case s.conversation.alone:
		return hook.Alone(m, s.conversation.place)
	}
	return hook.Start(m, s.conversation.place, mail, s.conversation.unread(), now)
}

// warn tells the person, once, that the coordinator is away. One that has not
// answered yet may only be slow.
func (s *Server) warn() hook.Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	slow := s.trouble == nil && !s.client.Lost()
	if s.conversation.warned || slow && time.Since(s.wantedAt) < s.timeouts.FirstAnswer {
		return hook.Decision{}
	}
	s.conversation.warned = true
	if e := c3po.AsError(s.trouble); e != nil && (errors.Is(e, c3po.Unauthorized) || errors.Is(e, c3po.Forbidden)) {
		return hook.Decision{Person: hook.NotLetIn}
	}
	return hook.Decision{Person: hook.Unreachable}
}

func (s *Server) onToolUsed(event hook.Event) hook.Decision {
	s.mu.Lock()
	s.conversation.took(event.ToolUseID)
	s.reportSoon()
	s.mu.Unlock()
	return s.decide(func(m hook.Memory, _ []hook.Letter, now time.Time) (hook.Decision, hook.Memory) {
		return hook.Step(m, s.conversation.audible(), now)
	})
}

func (s *Server) onStop(ctx context.Context, event hook.Event) hook.Decision {
	s.mu.Lock()
	alone, most := s.conversation.alone, s.timeouts.Refresh
	if s.conversation.scripted {
		most = s.timeouts.FirstAnswer // nobody sits before it
	}
	s.mu.Unlock()
	away := !s.isSettled() || s.to().Lost()
	if !alone && !away {
		away = !s.relook(ctx, most) // a session that ends now has no other chance to hear of it
	}
	if away && !alone {
		s.putOff()
		s.hears(false)
		return s.warn()
	}
	s.mu.Lock()
	decision := s.decideHeld(func(m hook.Memory, _ []hook.Letter, now time.Time) (hook.Decision, hook.Memory) {
		return hook.Stop(m, s.conversation.audible(), event.Again == "true", now)
	})
	if decision.Context == "" {
		decision.Person = s.conversation.lacksTools()
		s.conversation.clearTurn()
		s.conversation.endTurn(decision.Later)
	} else {
		s.conversation.turnFor = append(s.conversation.turnFor, s.conversation.calling()...)
		s.conversation.activity = s.conversation.activity.Works(time.Now())
	}
	s.mu.Unlock()
	s.wake()
	return decision
}

// A rule is a decision that is still to be made.
type rule func(hook.Memory, []hook.Letter, time.Time) (hook.Decision, hook.Memory)

// decide applies a rule to what is known now.
func (s *Server) decide(by rule) hook.Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.decideHeld(by)
}

// decideHeld is decide for a caller that holds the lock.
func (s *Server) decideHeld(by rule) hook.Decision {
	decision, memory := by(s.conversation.memory, s.conversation.tellable(), time.Now())
	s.conversation.memory = memory
	if decision.Context != "" {
		s.conversation.hinted = s.conversation.knownUpTo()
	}
	if decision.Counted {
		clear(s.conversation.arrived)
	}
	return decision
}

// worthLooking says whether to ask the coordinator before a turn begins. Mail is known as
// it comes, but posts are not: they wake no waiter. For these alone a coordinator that
// was silent is not waited for again.
func (s *Server) worthLooking() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.conversation.alone && (len(s.conversation.mail) > 0 || !s.silent)
}

// refresh looks what mail there is. The mail that is known may have been acked
// elsewhere, by a person for example; and while the connection is being made anew
// there may be mail that is not known yet. It says whether that could be done.
func (s *Server) refresh(ctx context.Context) bool {
	return !s.to().Lost() && s.relook(ctx, s.timeouts.Refresh)
}

// relook is refresh also where the last that was heard of the coordinator is that it
// is away.
func (s *Server) relook(ctx context.Context, most time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	seen, err := s.look(ctx, c3po.PendingInput{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = err != nil
	s.unanswered = s.unanswered && err != nil
	if err == nil { // else what is known is the best there is
		s.conversation.markArrived(seen.Mail) // the wait will find it known
		s.conversation.replace(seen)
	}
	return err == nil
}
