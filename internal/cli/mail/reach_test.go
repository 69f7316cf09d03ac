package mail

import (
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A session that mail has resumed has no terminal.
func TestWhereADialogIsAnsweredIsSaid(t *testing.T) {
	t.Parallel()
	why := explain(c3po.Agent{ID: "api", Status: c3po.Online, Availability: c3po.Available, State: c3po.SessionDialog, Reachability: c3po.ReachDialog}, nil, time.Now())
	if said := strings.Join(why, " "); !strings.Contains(said, "c3po human list") {
		t.Errorf("it says %q", said)
	}
}
