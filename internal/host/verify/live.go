package verify

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// liveLimit is how long a session may take to ack: it may be in the middle of
// something.
const liveLimit = 2 * time.Minute

// Live asks a session that runs to ack a probe, and waits until it has. This is
// the one probe that is meant to wake somebody.
func Live(ctx context.Context, cfg Config, agent string) Result {
	cfg.Limit = cmp.Or(cfg.Limit, liveLimit)
	r := &run{Config: cfg, tell: func(Result) {}}
	defer r.clean(ctx)
	r.try(ctx, "live "+agent, "c3po agents -v says what becomes of mail to it", func(ctx context.Context) (c3po.MessageID, string, error) {
		self, err := r.Service.RegisterAgent(ctx, r.Profile)
		if err != nil {
			return "", "", err
		}
		r.self = self.ID
		var random [2]byte
		_, _ = rand.Read(random[:]) // it never fails
		number := binary.BigEndian.Uint16(random[:])
		sent, err := r.Service.SendMessage(ctx, c3po.SendInput{
			Target:  agent,
			Message: fmt.Sprintf("This is probe %d of c3po verify. Your user tests whether mail reaches you: please call ack_messages with the id of this message. Nothing else is asked.", number),
		})
		if err != nil {
			return "", "", err
		}
		var last c3po.Trace
		err = r.awaitTrace(ctx, sent.ID, "acked", func(t c3po.Trace) bool {
			last = t
			return t.State == c3po.StateAcked
		})
		if err != nil {
			r.withdraw(ctx, sent.ID)
			return sent.ID, "", &failure{says: fmt.Sprintf("probe %d was not acked: %s", number, progress(last)), code: c3po.Timeout}
		}
		return sent.ID, fmt.Sprintf("probe %d was acked after %s", number, last.Ended.At.Sub(last.Accepted.At).Round(time.Millisecond)), nil
	})
	return r.all[0]
}

// withdraw takes a probe back that nobody waits for any more.
func (r *run) withdraw(ctx context.Context, probe c3po.MessageID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	_, _ = r.Service.Cancel(ctx, c3po.MessageInput{MessageID: probe}) // else it expires
}

// progress is how far a probe has come.
func progress(t c3po.Trace) string {
	switch {
	case t.State == c3po.StateCancelled || t.State == c3po.StateDead:
		return "it is " + t.State
	case t.Received != nil:
		return "the session has it"
	case len(t.Served) > 0:
		return "it was served"
	case len(t.Notified) > 0:
		return "the session was told that there is mail"
	default:
		return "nothing has told the session of it"
	}
}
