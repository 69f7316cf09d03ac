package agentside

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// A notice is what waitForNotice prints as JSON.
type notice struct {
	Notice string `json:"notice"`
}

// WaitForNotice ends with one line when there is mail for the agent above this
// command. Its client wakes the agent then.
func WaitForNotice(ctx context.Context, a *console.Console, limited bool, seconds int) error {
	socket, ok := a.SessionAbove()
	if !ok {
		return c3po.Errorf(c3po.InvalidRequest, "no coding agent with c3po has started this command").
			Suggest("--notice is for the background shell of one. Without it this command waits for mail and prints it.")
	}
	// Two that wait would wake the agent twice.
	lock, err := paths.TryLock(socket + ".wait.lock")
	if err != nil {
		return err
	}
	if lock == nil {
		return sayNotice(a, "c3po: another c3po wait runs already, there is nothing to do.")
	}
	defer lock.Release()
	if limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
		defer cancel()
	}
	line, ok := nextNotice(ctx, a, socket, session.Listen)
	if !ok {
		return ctx.Err()
	}
	return sayNotice(a, line+" Then run "+hook.Waiting+" again, in the background.")
}

func sayNotice(a *console.Console, line string) error {
	return a.Show(notice{line}, func(w io.Writer) { fmt.Fprintln(w, line) })
}
