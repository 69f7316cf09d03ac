package mail

import (
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestAReceiptSaysOnceWhenTheMessageIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reach        c3po.Reachability
		notice, want string
	}{
		"soon":              {c3po.ReachNow, "", "sent web::api::0a1b2c3d, on disk; api wakes now\n"},
		"soon, and a word":  {c3po.ReachNow, "'ap' is now called 'api'", "sent web::api::0a1b2c3d, on disk; api wakes now\n'ap' is now called 'api'\n"},
		"not, for a reason": {c3po.ReachOffline, "'api' is offline; it reads this when it starts again", "sent web::api::0a1b2c3d, on disk\n'api' is offline; it reads this when it starts again\n"},
		"not, and a word":   {c3po.ReachOffline, "'ap' is now called 'api'", "sent web::api::0a1b2c3d, on disk; api reads it when it starts again\n'ap' is now called 'api'\n"},
	} {
		var out strings.Builder
		PrintReceipt(&out, c3po.Receipt{Message: c3po.Message{ID: "web::api::0a1b2c3d", ToAgent: "api"}, Durability: c3po.OnDisk, Reachability: c.reach, Notice: c.notice})
		if out.String() != c.want {
			t.Errorf("%s: %q, want %q", name, out.String(), c.want)
		}
	}
}
