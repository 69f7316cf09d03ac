package clients_test

import (
	"regexp"
	"strings"
)

// mailEnd is the last line of an envelope.
var mailEnd = regexp.MustCompile(`(?m)^\[end .*$`)

// cost says how many bytes of c3po the last exchange has put before the model:
// the notice, the mail, and the receipt of the answer.
func (r *rig) cost() {
	r.t.Helper()
	r.model.mu.Lock()
	defer r.model.mu.Unlock()
	var told, mail, receipt int
	for i, asked := range r.model.requests {
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
		mail = len(text)
		if i+1 < len(r.model.requests) {
			receipt = len(strings.TrimSpace(r.model.requests[i+1].fresh))
		}
	}
	r.t.Logf("%s: an exchange puts %d bytes before the model: %d of notice, %d of mail, %d of receipt", r.client, told+mail+receipt, told, mail, receipt)
	if told == 0 || mail == 0 || receipt == 0 {
		r.t.Error("a part of the exchange was not seen")
	}
}
