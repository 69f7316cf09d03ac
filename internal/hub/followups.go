package hub

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
)

// A call whose change is stored is answered as done. Whatever fails after that, a read
// for the answer or the next of several steps, goes into the answer's notice and never
// replaces the answer: an error means that nothing changed.

// doneBut is the notice about what failed after the change: what is its first
// half, "you are in the room, but its history cannot be read now".
func (me *identity) doneBut(ctx context.Context, what string, err error) string {
	if err == nil {
		return ""
	}
	me.hub.log.WarnContext(ctx, "done, but not all of it", "space", me.space, "agent", me.id, "what", what, "err", err)
	return what + ": " + c3po.AsError(me.dropIfSuperseded(err)).Message
}

// stoppedAt is doneBut for the steps of one call: some were taken, one failed,
// and the others were not tried.
func (me *identity) stoppedAt(ctx context.Context, err error) string {
	if err == nil {
		return ""
	}
	return sentences(me.doneBut(ctx, "not all of it was done", err), "Make the same call again for the rest: what was done stays done, once")
}
