package clients_test

import (
	"regexp"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// mailEnd is the last line of an envelope.
var mailEnd = regexp.MustCompile(`(?m)^\[end .*$`)

// cost says how many bytes the last exchange has put before the model, with what
// the client wraps around them: the notice, the mail, and the receipt of the
// answer.
func (r *testAgent) cost() {
	r.T.Helper()
	var told, mail, receipt int
	if !faultrig.Within(20*time.Second, func() bool {
		told, mail, receipt = exchange(r.Model.Seen())
		return told > 0 && mail > 0 && receipt > 0
	}) {
		r.T.Error("a part of the exchange was not seen")
	}
	r.T.Logf("%s: an exchange puts %d bytes before the model: %d of notice, %d of mail, %d of receipt", r.Client.Name, told+mail+receipt, told, mail, receipt)
}

func exchange(requests []llm.Request) (told, mail, receipt int) {
	for i, asked := range requests {
		text := strings.TrimSpace(asked.Fresh())
		if found := llm.Unread.FindString(text); found != "" {
			told = len(found)
		}
		if !llm.ToAnswer.MatchString(text) {
			continue
		}
		if end := mailEnd.FindStringIndex(text); end != nil {
			text = text[:end[1]] // clients say other things after it
		}
		mail, receipt = len(text), 0
		if i+1 < len(requests) {
			receipt = len(strings.TrimSpace(requests[i+1].Fresh()))
		}
	}
	return told, mail, receipt
}
