package session

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// promptWait is how long a resumed session waits for the person's verdict. Whoever has asked
// it something waits too, so it is shorter than a person may take at a terminal.
const promptWait = 10 * time.Minute

// A promptVerdict is what Claude Code takes from that tool.
type promptVerdict struct {
	Behavior string          `json:"behavior"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	Message  string          `json:"message,omitempty"`
}

// addPromptTool is for a session that c3po attend has resumed. No other has it.
func (s *Server) addPromptTool(server *mcp.Server) {
	server.AddTool(&mcp.Tool{
		Name:        hook.PromptTool,
		Description: "For the permission prompts of Claude Code; not for you.",
		InputSchema: map[string]any{"type": "object"},
	}, s.promptCall)
}

// promptCall asks the person whether a tool may run.
func (s *Server) promptCall(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	verdict := promptVerdict{Behavior: "deny", Message: hook.NobodyDecided}
	var asked struct {
		Tool  string      `json:"tool_name"`
		Input hook.Object `json:"input"`
	}
	if json.Unmarshal(req.Params.Arguments, &asked) == nil && asked.Tool != "" {
		s.mu.Lock()
		session := s.conversation.id
		s.mu.Unlock()
		event := hook.Event{Name: hook.Approve, SessionID: session, ToolName: asked.Tool, Input: asked.Input, Cwd: s.profile.Cwd}
		if answer, decided := s.consult(ctx, event, promptWait); decided {
			verdict = promptVerdict{Behavior: "deny", Message: hook.DeniedByPerson(answer.Response)}
			if said, _ := answer.Verdict(); said.Allow {
				verdict = promptVerdict{Behavior: "allow", Input: json.RawMessage(asked.Input)}
			}
		}
	}
	text, err := json.Marshal(verdict)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil
}
