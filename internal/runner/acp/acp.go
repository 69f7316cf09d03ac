// Package acp has a coding agent do one prompt by the Agent Client Protocol: one shape
// for what it says, what it asks leave for, which conversation goes on and what it used,
// whichever client it is. The agent runs as a child of this process, and ends with it.
package acp

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/group"
)

// A Turn is one prompt and the agent that does it.
type Turn struct {
	Command []string // the agent's program in its ACP mode
	Folder  string
	Session string // the conversation to go on with; a new one if empty
	Model   string // the one that its settings name if empty
	Prompt  string
	Tools   []string  // the command of an MCP server that it is given as "c3po"; none if empty
	Said    io.Writer // what it says, as it says it
	Did     io.Writer // a line for each of its steps; none if nil
	Stderr  io.Writer // its own
	// Counted is told what the turn has used, if that is known, and the agent's process, which
	// is still there. Nobody is if nil.
	Counted func(pid int, session string, used c3po.Usage)
}

// An Outcome is how a turn ended.
type Outcome struct {
	Session string      // its own name for the conversation
	Usage   *c3po.Usage // nil if it does not tell
}

const (
	greetingTime = time.Minute     // until a conversation stands; MCP servers start in it
	partingTime  = 2 * time.Second // to end by itself when nobody speaks to it any more, and then when it is asked to
)

// Do runs the turn to its end. An error says why the agent did not come to it.
func (t Turn) Do(ctx context.Context) (Outcome, error) {
	cmd := exec.Command(t.Command[0], t.Command[1:]...) // #nosec G204 -- one of clients
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = t.Folder, t.Stderr, partingTime
	group.Own(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return Outcome{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Outcome{}, err
	}
	if err := cmd.Start(); err != nil {
		return Outcome{}, c3po.Errorf(c3po.InvalidRequest, "%s cannot be started: %v", t.Command[0], err).
			Suggest("Is it installed in the image, and on its PATH?")
	}
	listener := &listener{said: t.Said, did: t.Did}
	peer := acp.NewClientSideConnection(listener, in, out)
	peer.SetLogger(slog.New(slog.DiscardHandler)) // it would print what is on the agent's output and not of the protocol
	outcome, err := t.converse(ctx, peer, listener)
	if outcome.Usage != nil && t.Counted != nil {
		t.Counted(cmd.Process.Pid, outcome.Session, *outcome.Usage)
	}
	_ = in.Close() // it may be gone
	end(cmd, peer.Done())
	return outcome, err
}

// end waits for the agent to go, and has it go if it does not: some stay for the sake
// of their MCP servers.
func end(cmd *exec.Cmd, gone <-chan struct{}) {
	for _, more := range []func(*exec.Cmd) error{group.Ask, group.End} {
		select {
		case <-gone:
		case <-time.After(partingTime):
		}
		_ = more(cmd) // there may be nobody left
	}
	_ = cmd.Wait() // it has answered: how it ended is its own business
}

func (t Turn) converse(ctx context.Context, peer *acp.ClientSideConnection, l *listener) (Outcome, error) {
	greeting, cancel := context.WithTimeout(ctx, greetingTime)
	defer cancel()
	able, err := peer.Initialize(greeting, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber, ClientInfo: &acp.Implementation{Name: "c3po", Version: "1"},
	})
	if err != nil {
		return Outcome{}, t.refusal("does not speak the Agent Client Protocol", err)
	}
	session, err := t.session(greeting, peer, able.AgentCapabilities)
	if err != nil {
		return Outcome{}, err
	}
	if t.Model != "" {
		if _, err := peer.UnstableSetSessionModel(greeting, acp.UnstableSetSessionModelRequest{SessionId: session, ModelId: acp.UnstableModelId(t.Model)}); err != nil {
			return Outcome{}, t.refusal(fmt.Sprintf("does not take %q for its model", t.Model), err)
		}
	}
	l.listen()
	answer, err := peer.Prompt(ctx, acp.PromptRequest{SessionId: session, Prompt: []acp.ContentBlock{acp.TextBlock(t.Prompt)}})
	outcome := Outcome{Session: string(session), Usage: l.usage(answer)}
	if err != nil {
		return outcome, t.refusal("could not do its prompt", err)
	}
	if answer.StopReason != acp.StopReasonEndTurn {
		return outcome, c3po.Errorf(c3po.Internal, "%s stopped before its end: %s", t.Command[0], strings.ReplaceAll(string(answer.StopReason), "_", " "))
	}
	return outcome, nil
}

// session begins a conversation, or goes on with one. What was said in it is not
// repeated, if the agent can do without.
func (t Turn) session(ctx context.Context, peer *acp.ClientSideConnection, able acp.AgentCapabilities) (acp.SessionId, error) {
	tools := []acp.McpServer{}
	if len(t.Tools) > 0 {
		tools = append(tools, acp.McpServer{Stdio: &acp.McpServerStdio{Name: "c3po", Command: t.Tools[0], Args: t.Tools[1:], Env: []acp.EnvVariable{}}})
	}
	id := acp.SessionId(t.Session)
	switch {
	case t.Session == "":
		made, err := peer.NewSession(ctx, acp.NewSessionRequest{Cwd: t.Folder, McpServers: tools})
		if err != nil {
			return "", t.refusal("begins no conversation", err)
		}
		return made.SessionId, nil
	case able.SessionCapabilities.Resume != nil:
		if _, err := peer.ResumeSession(ctx, acp.ResumeSessionRequest{Cwd: t.Folder, McpServers: tools, SessionId: id}); err != nil {
			return "", t.refusal("does not go on with "+t.Session, err)
		}
	case able.LoadSession:
		if _, err := peer.LoadSession(ctx, acp.LoadSessionRequest{Cwd: t.Folder, McpServers: tools, SessionId: id}); err != nil {
			return "", t.refusal("does not go on with "+t.Session, err)
		}
	default:
		return "", c3po.Errorf(c3po.InvalidRequest, "%s cannot go on with a conversation by the Agent Client Protocol", t.Command[0])
	}
	return id, nil
}

func (t Turn) refusal(what string, err error) error {
	return c3po.Errorf(c3po.Internal, "%s %s: %v", t.Command[0], what, err)
}
