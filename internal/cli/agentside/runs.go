package agentside

import (
	"context"
	"errors"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// reportTimeout bounds the last thing a session process does.
const reportTimeout = time.Second

// noteRun keeps that a coordinator has the run, or soon may: the next session process on this
// host reports its end if it cannot itself. Where nothing can be written the name is
// free again after a while.
func noteRun(a *console.Console, r ClientRun, id c3po.AgentID) {
	if _, ok := c3po.ParseProcessRun(r.Name); ok {
		_ = a.Folders.NoteRun(paths.Run{Run: r.Name, Agent: id})
	}
}

// reportEnd says that the agent's process is gone, if it is: its session process may be the
// only one on this host that knows. Where nobody was registered it changes nothing.
func reportEnd(ctx context.Context, a *console.Console, r ClientRun, to *client.Client, knows bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTimeout)
	defer cancel()
	if r.Started != 0 && engine.Started(r.PID) != r.Started {
		_, err := to.ReportDeath(ctx, c3po.DeathInput{Run: r.Name})
		knows = knows || err == nil
	}
	if knows {
		_ = a.Folders.ForgetRun(r.Name) // else the next one reports it in vain
	}
}

// reportEnded tells the coordinator of runs on this host that are over. One whose
// coordinator was away when it ended, or whose session process was killed with it, is taken
// for one that goes on, and holds its name: whoever registers before that is told
// gets another for good. So it fails if the coordinator does not answer.
func reportEnded(ctx context.Context, a *console.Console, to *client.Client) error {
	for _, noted := range a.Folders.Runs() {
		process, ok := c3po.ParseProcessRun(noted.Run)
		if ok && engine.Started(process.PID) == process.Start {
			continue
		}
		_, err := to.ReportDeath(ctx, c3po.DeathInput{AgentID: noted.Agent, Run: noted.Run})
		for _, silence := range []error{c3po.CoordDown, c3po.RedisUnavailable, c3po.UnknownOutcome, c3po.Timeout} {
			if errors.Is(err, silence) {
				return err
			}
		}
		_ = a.Folders.ForgetRun(noted.Run) // else it is reported once more
	}
	return nil
}
