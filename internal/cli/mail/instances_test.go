package mail

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

func TestNothingASessionProcessSaysReachesTheTerminalAsACommand(t *testing.T) {
	t.Parallel()
	const hostile = "MARK\x1b[2J\x1b]0;owned\a\x1b]52;c;ZXZpbA==\a\u202e\u200b\r"
	alive := false
	one := instance{Alive: &alive, Instance: session.Instance{Agent: hostile, Run: hostile, Client: hostile, Folder: hostile, Session: hostile, Trouble: hostile}}
	off := one
	off.Off = true
	var said bytes.Buffer
	printInstances(&said, false, []instance{one, off})
	printExplained(&said, false, []explained{{c3po.Agent{ID: hostile}, append(one.explain(time.Now()), off.explain(time.Now())...)}}, time.Now())
	if at := strings.IndexFunc(said.String(), func(r rune) bool { return r != '\n' && sanitise.Hidden(r) }); at >= 0 {
		t.Errorf("%q", said.String()[max(0, at-40):min(said.Len(), at+40)])
	}
	if strings.Count(said.String(), "MARK") < 5 {
		t.Errorf("little of what was said is shown: %s", said.String())
	}
}
