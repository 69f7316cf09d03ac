package agentside

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/engine"
)

// sight looks at the client that has started this process: whether it is stopped,
// and of Claude Code what it says of itself in the file by which its sessions know
// each other. The file is not documented, so it is a hint: one that is not there, or
// not understood, says nothing.
func sight(a *console.Console, clientName string, pid int) func() session.Sight {
	if clientName != string(hook.ClaudeCode) {
		return func() session.Sight {
			typed, _ := engine.Typed(pid)
			return session.Sight{Stopped: engine.Stopped(pid), Typed: typed}
		}
	}
	name := ClaudeFolder(a, "sessions", fmt.Sprintf("%d.json", pid))
	started := engine.Started(pid)
	var last session.Sight
	var read time.Time
	return func() session.Sight {
		last.Stopped = engine.Stopped(pid)
		about, err := os.Stat(name)
		if err != nil {
			last.Says, read = "", time.Time{}
			return last
		}
		if about.ModTime().Equal(read) {
			return last
		}
		if data, err := os.ReadFile(name); err == nil {
			read = about.ModTime()
			last.Says, last.Since = ownWord(data, pid, started)
		}
		return last
	}
}

// ownWord is what Claude Code says that it does, and since when.
func ownWord(data []byte, pid int, started int64) (word string, since time.Time) {
	var says struct {
		PID     int    `json:"pid"`
		Started string `json:"procStart"`
		Status  string `json:"status"`
		Since   int64  `json:"statusUpdatedAt"`
	}
	if json.Unmarshal(data, &says) != nil || says.PID != pid || says.Since == 0 {
		return "", time.Time{}
	}
	if says.Started != "" && started != 0 && says.Started != fmt.Sprint(started) {
		return "", time.Time{} // of another process that had the number
	}
	return says.Status, time.UnixMilli(says.Since)
}
