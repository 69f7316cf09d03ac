package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// A notice is what waitForNotice prints as JSON.
type notice struct {
	Notice string `json:"notice"`
}

// waitForNotice ends with one line when there is mail for the agent above this
// command. Its client wakes the agent then.
func (a *app) waitForNotice(ctx context.Context, limited bool, seconds int) error {
	socket, ok := a.sessionAbove()
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
		return a.sayNotice("c3po: another c3po wait runs already, there is nothing to do.")
	}
	defer lock.Release()
	if limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
		defer cancel()
	}
	line, ok := a.nextNotice(ctx, socket, session.Listen)
	if !ok {
		return ctx.Err()
	}
	return a.sayNotice(line + " Then run " + hook.Waiting + " again, in the background.")
}

func (a *app) sayNotice(line string) error {
	return a.show(notice{line}, func(w io.Writer) { fmt.Fprintln(w, line) })
}
