package agentside

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"

	"github.com/c3po-dev/c3po/internal/cli/console"
)

// rouser is how an idle session of a client is given a turn; nil where there is
// no such way. What is queued is the notice, never the text of a message.
func rouser(a *console.Console, clientName string) func(ctx context.Context, session, line string) error {
	if clientName != console.CodexName {
		return nil
	}
	return func(ctx context.Context, session, line string) error {
		cmd := exec.CommandContext(ctx, "codex", "queue", "--thread", session, "--message", line)
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("codex queue: %w: %s", err, console.Inline(said.String()))
		}
		return nil
	}
}
