package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

const (
	// hookTimeout is how long a hook keeps its client waiting.
	hookTimeout = 150 * time.Millisecond
	// refreshTimeout is how long a hook that is about to speak of mail looks whether it
	// is still there.
	refreshTimeout = 150 * time.Millisecond
	// firstAnswerTimeout is how long a coordinator may take for its first answer before the
	// person is told that it is away, and at the end of a run that nobody sits before.
	firstAnswerTimeout = 2 * time.Second
)

// hookCall is the tool that the plugin's hooks call.
func (b *Bridge) hookCall(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var event hook.Event
	text := "{}"
	// A hook that is not understood changes nothing: it must not disturb a session.
	if err := json.Unmarshal(req.Params.Arguments, &event); err == nil {
		text = b.hooked(ctx, event)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
}

// hooked answers one event of the client's life.
func (b *Bridge) hooked(ctx context.Context, event hook.Event) string {
	defer b.slept()
	defer b.hasRun(event.Name, time.Now())
	b.evidence(event)
	b.personSwitches(event)
	switch {
	case event.Name == hook.PreToolUse:
		return b.allow(event)
	case event.Name == hook.DialogOpens:
		return b.asksPerson(event)
	case b.off():
		b.unheard(event)
		return "{}"
	}
	if event.SessionID != "" {
		b.enter(event)
	}
	switch event.Name {
	case hook.SessionStart:
		b.want()
		return b.dialect.Write(b.invite(b.greet(ctx)), event.Name)
	case hook.UserPromptSubmit:
		b.want()
		settles := b.personWrites(event)
		decision := b.invite(b.prompted(ctx))
		if settles {
			decision = hook.Settled(decision)
		}
		return b.dialect.Write(decision, event.Name)
	case hook.PostToolUse:
		return b.dialect.Write(b.showAsk(b.stepped(event)), event.Name)
	case hook.StopEvent:
		return b.dialect.Write(b.stopped(ctx, event), event.Name)
	case hook.StopFailure:
		b.failed()
	case hook.SessionEnd:
		// A session that is cleared or changed for another is not the end of the run.
		if event.Reason != "clear" && event.Reason != "resume" {
			b.depart()
		}
	}
	return "{}"
}

// unheard takes in what a hook shows while c3po is switched off: nothing is said, but
// once it is switched on the session is what it has become meanwhile.
func (b *Bridge) unheard(event hook.Event) {
	if event.SessionID != "" {
		b.enter(event)
	}
	switch event.Name {
	case hook.SessionStart, hook.UserPromptSubmit:
		b.mu.Lock()
		b.wantedOff = true
		b.mu.Unlock()
	case hook.StopEvent:
		b.putOff()
	case hook.StopFailure:
		b.failed()
	}
}

// allow lets a tool of ours run, also when c3po is off: the tool says so then.
func (b *Bridge) allow(event hook.Event) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if event.AgentID != "" && event.ToolUseID != "" {
		b.session.useOf(event.ToolUseID).subagent = subagentKind(event.AgentType)
	}
	return b.dialect.Allow()
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
func (b *Bridge) enter(event hook.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if event.SessionID != b.session.id {
		b.session.begin(event.SessionID)
		b.client.SetSession(event.SessionID)
	}
	if event.Attended != "" {
		b.session.scripted = event.Attended == "0"
		b.session.alone = b.session.scripted && !b.answers
	}
	if event.Name == hook.SessionStart && event.Source != "startup" {
		b.session.memory = b.session.memory.Forget()
	}
	if event.Name == hook.UserPromptSubmit {
		b.session.prompts++
	}
	// Kimi does not tell; a second prompt says that somebody is there.
	if b.dialect == hook.Kimi {
		b.session.scripted = b.session.prompts < 2
		b.session.alone = b.session.scripted && !b.answers
	}
}

// invite tells a session, once, to wait for mail in the background, if that is how
// it is woken and somebody attends it: some clients do not end before their
// background shells do.
func (b *Bridge) invite(d hook.Decision) hook.Decision {
	b.mu.Lock()
	defer b.mu.Unlock()
	// What makes a turn go on is a prompt to Copilot, so only of Kimi does a second
	// one say that somebody is there.
	attended := b.attended || b.dialect == hook.Kimi && b.session.prompts > 1
	if !b.dialect.Waits() || !attended || b.session.invited || len(b.session.monitors) > 0 {
		return d
	}
	b.session.invited = true
	return hook.Invite(d)
}

// greet tells a session where it is, as soon as that is known.
func (b *Bridge) greet(ctx context.Context) hook.Decision {
	if !b.hookSettled(ctx) {
		return hook.Decision{}
	}
	b.lookAround(ctx)
	return b.decide(b.start)
}

func (b *Bridge) prompted(ctx context.Context) hook.Decision {
	b.mu.Lock()
	greeted := b.session.memory.Greeted()
	b.mu.Unlock()
	if !b.hookSettled(ctx) || b.to().Lost() {
		return b.warn()
	}
	if !greeted {
		b.lookAround(ctx)
		return b.decide(b.start)
	}
	if b.worthLooking() {
		b.refresh(ctx)
	}
	return b.decide(b.prompt)
}

// prompt is the rule for the begin of a turn.
func (b *Bridge) prompt(m hook.Memory, mail []hook.Letter, now time.Time) (hook.Decision, hook.Memory) {
	return hook.Prompt(m, mail, b.session.unread(), now)
}

// start is the rule for a session that is not greeted yet.
func (b *Bridge) start(m hook.Memory, mail []hook.Letter, now time.Time) (hook.Decision, hook.Memory) {
	if b.session.alone { // what it prints may show the greeting: nothing in it changes
		return hook.Alone(m, b.session.place)
	}
	return hook.Start(m, b.session.place, mail, b.session.unread(), now)
}

// warn tells the person, once, that the coordinator is away. One that has not
// answered yet may only be slow.
func (b *Bridge) warn() hook.Decision {
	b.mu.Lock()
	defer b.mu.Unlock()
	slow := b.trouble == nil && !b.client.Lost()
	if b.session.warned || slow && time.Since(b.wantedAt) < firstAnswerTimeout {
		return hook.Decision{}
	}
	b.session.warned = true
	if e := c3po.AsError(b.trouble); e != nil && (errors.Is(e, c3po.Unauthorized) || errors.Is(e, c3po.Forbidden)) {
		return hook.Decision{Person: hook.NotLetIn}
	}
	return hook.Decision{Person: hook.Unreachable}
}

func (b *Bridge) stepped(event hook.Event) hook.Decision {
	b.mu.Lock()
	b.session.took(event.ToolUseID)
	b.reportSoon()
	b.mu.Unlock()
	return b.decide(func(m hook.Memory, _ []hook.Letter, _ time.Time) (hook.Decision, hook.Memory) {
		return hook.Step(m, b.session.audible())
	})
}

func (b *Bridge) stopped(ctx context.Context, event hook.Event) hook.Decision {
	b.mu.Lock()
	alone, most := b.session.alone, refreshTimeout
	if b.session.scripted {
		most = firstAnswerTimeout // nobody sits before it
	}
	b.mu.Unlock()
	away := !b.isSettled() || b.to().Lost()
	if !alone && !away {
		away = !b.relook(ctx, most) // a session that ends now has no other chance to hear of it
	}
	if away && !alone {
		b.putOff()
		b.hears(false)
		return b.warn()
	}
	b.mu.Lock()
	decision := b.decideHeld(func(m hook.Memory, _ []hook.Letter, now time.Time) (hook.Decision, hook.Memory) {
		return hook.Stop(m, b.session.audible(), event.Again == "true", now)
	})
	if decision.Context == "" {
		b.session.left()
		b.session.rest(decision.Later)
	} else {
		b.session.turnFor = append(b.session.turnFor, b.session.calling()...)
		b.session.activity = b.session.activity.Works(time.Now())
	}
	b.mu.Unlock()
	b.wake()
	return decision
}

// A rule is a decision that is still to be made.
type rule func(hook.Memory, []hook.Letter, time.Time) (hook.Decision, hook.Memory)

// decide applies a rule to what is known now.
func (b *Bridge) decide(by rule) hook.Decision {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.decideHeld(by)
}

// decideHeld is decide for who holds the lock already.
func (b *Bridge) decideHeld(by rule) hook.Decision {
	decision, memory := by(b.session.memory, b.session.tellable(), time.Now())
	b.session.memory = memory
	if decision.Context != "" {
		b.session.hinted = b.session.heard()
	}
	return decision
}

// worthLooking says whether to ask the coordinator before a turn begins. Mail is
// known as it comes, but posts are not: nobody is woken for them. For these alone
// a coordinator that was silent is not waited for again.
func (b *Bridge) worthLooking() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.session.alone && (len(b.session.mail) > 0 || !b.silent)
}

// refresh looks what mail there is. The mail that is known may have been acked
// elsewhere, by a person for example; and while the connection is being made anew
// there may be mail that is not known yet. It says whether that could be done.
func (b *Bridge) refresh(ctx context.Context) bool {
	return !b.to().Lost() && b.relook(ctx, refreshTimeout)
}

// relook is refresh also where the last that was heard of the coordinator is that it
// is away.
func (b *Bridge) relook(ctx context.Context, most time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	seen, err := b.look(ctx, c3po.PendingInput{})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.silent = err != nil
	b.unanswered = b.unanswered && err != nil
	if err == nil { // else what is known is the best there is
		b.session.replace(seen)
	}
	return err == nil
}
