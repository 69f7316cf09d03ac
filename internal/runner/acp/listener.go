package acp

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/coder/acp-go-sdk"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// A listener hears what the agent says and does, and grants what it asks leave for:
// the walls it is kept in are those of its container. It offers neither files nor
// terminals; the agent has its own.
type listener struct {
	said, did io.Writer
	listening atomic.Bool // what was said in earlier turns is repeated before

	mu   sync.Mutex
	used *acp.SessionUsageUpdate
}

func (l *listener) listen() { l.listening.Store(true) }

func (l *listener) SessionUpdate(_ context.Context, note acp.SessionNotification) error {
	if !l.listening.Load() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch u := note.Update; {
	case u.AgentMessageChunk != nil && u.AgentMessageChunk.Content.Text != nil:
		_, err := io.WriteString(l.said, strings.Join(sanitise.Lines(u.AgentMessageChunk.Content.Text.Text), "\n"))
		return err
	case u.ToolCall != nil && l.did != nil:
		_, err := fmt.Fprintf(l.did, "[%s]\n", sanitise.Inline(u.ToolCall.Title))
		return err
	case u.UsageUpdate != nil:
		l.used = u.UsageUpdate
	}
	return nil
}

// usage is what the agent told at the end, or on the way there; nil if it told nothing.
func (l *listener) usage(end acp.PromptResponse) *c3po.Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := geminiUsage(end.Meta)
	if told := end.Usage; told != nil {
		u = c3po.Usage{OutputTokens: count(&told.OutputTokens) + count(told.ThoughtTokens), CacheReadTokens: count(told.CachedReadTokens), CacheWriteTokens: count(told.CachedWriteTokens)}
		// Agents differ in whether what was cached is part of the input: the total is what counts.
		u.InputTokens = max(0, int64(told.TotalTokens)-u.Tokens())
	}
	if l.used != nil && l.used.Cost != nil && l.used.Cost.Currency == "USD" {
		u.MicroUSD = int64(math.Round(max(0, l.used.Cost.Amount) * 1e6))
	}
	if u == (c3po.Usage{}) {
		return nil
	}
	return &u
}

func count(n *int) int64 {
	if n == nil {
		return 0
	}
	return max(0, int64(*n))
}

// geminiUsage is what Gemini CLI counts, outside the fields that the protocol has for it.
func geminiUsage(meta map[string]any) c3po.Usage {
	quota, _ := meta["quota"].(map[string]any)
	tokens, _ := quota["token_count"].(map[string]any)
	in, _ := tokens["input_tokens"].(float64)
	out, _ := tokens["output_tokens"].(float64)
	return c3po.Usage{InputTokens: int64(max(0, in)), OutputTokens: int64(max(0, out))}
}

// RequestPermission allows what was asked for, once.
func (l *listener) RequestPermission(_ context.Context, ask acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	for _, option := range ask.Options {
		if option.Kind == acp.PermissionOptionKindAllowOnce {
			return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(option.OptionId)}, nil
		}
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, nil
}

func (*listener) ReadTextFile(context.Context, acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	return acp.ReadTextFileResponse{}, notOffered("files")
}

func (*listener) WriteTextFile(context.Context, acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	return acp.WriteTextFileResponse{}, notOffered("files")
}

func (*listener) CreateTerminal(context.Context, acp.CreateTerminalRequest) (acp.CreateTerminalResponse, error) {
	return acp.CreateTerminalResponse{}, notOffered("terminals")
}

func (*listener) KillTerminal(context.Context, acp.KillTerminalRequest) (acp.KillTerminalResponse, error) {
	return acp.KillTerminalResponse{}, notOffered("terminals")
}

func (*listener) TerminalOutput(context.Context, acp.TerminalOutputRequest) (acp.TerminalOutputResponse, error) {
	return acp.TerminalOutputResponse{}, notOffered("terminals")
}

func (*listener) ReleaseTerminal(context.Context, acp.ReleaseTerminalRequest) (acp.ReleaseTerminalResponse, error) {
	return acp.ReleaseTerminalResponse{}, notOffered("terminals")
}

func (*listener) WaitForTerminalExit(context.Context, acp.WaitForTerminalExitRequest) (acp.WaitForTerminalExitResponse, error) {
	return acp.WaitForTerminalExitResponse{}, notOffered("terminals")
}

func notOffered(what string) error { return fmt.Errorf("c3po offers no %s", what) }
