package clients_test

import (
	"regexp"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// mailEnd is the last line of an envelope.
var mailEnd = regexp.MustCompile(`(?m)^\[end .*$`)

// cost says how many bytes the last exchange has put before the model, with what
// the client wraps around them: the notice, the mail, and the receipt of the
// answer.
func (r *rig) cost() {
	r.t.Helper()
	var told, mail, receipt int
	if !faultrig.Within(20*time.Second, func() bool {
		told, mail, receipt = r.model.exchange()
		return told > 0 && mail > 0 && receipt > 0
	}) {
		r.t.Error("a part of the exchange was not seen")
	}
	r.t.Logf("%s: an exchange puts %d bytes before the model: %d of notice, %d of mail, %d of receipt", r.client, told+mail+receipt, told, mail, receipt)
}

func (m *model) exchange() (told, mail, receipt int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, asked := range m.requests {
		if found := notice.FindString(asked.fresh); found != "" {
			told = len(found)
		}
		if !toAnswer.MatchString(asked.fresh) {
			continue
		}
		text := strings.TrimSpace(asked.fresh)
		if end := mailEnd.FindStringIndex(text); end != nil {
			text = text[:end[1]] // clients say other things after it
		}
		mail, receipt = len(text), 0
		if i+1 < len(m.requests) {
			receipt = len(strings.TrimSpace(m.requests[i+1].fresh))
		}
	}
	return told, mail, receipt
}
