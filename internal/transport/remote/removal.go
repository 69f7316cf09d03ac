package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/client/attempt"
)

// errRemoved is why a remote is no longer served whose token does not work any more.
var errRemoved = errors.New("the remote agent was removed")

// forget takes a removed remote from the list of agents, once its mail is answered. All
// coordinators try: the one that served it may have died.
func (f *Forwarder) forget(ctx context.Context, remote auth.Remote) {
	caller := remote.Caller(f.run())
	for pause := minPause; ctx.Err() == nil; pause = min(2*pause, maxPause) {
		switch gone, err := f.Hub.ForgetRemote(ctx, caller); {
		case err != nil && ctx.Err() == nil:
			f.Log.WarnContext(ctx, "cannot take a removed remote agent from the list", "agent", remote.Agent, "err", err)
		case gone:
			return
		case f.turnAway(ctx, remote):
			continue
		}
		attempt.Sleep(ctx, pause)
	}
}

// turnAway answers what waits for a removed remote, and says whether it did.
func (f *Forwarder) turnAway(ctx context.Context, remote auth.Remote) bool {
	actor := f.Hub.As(remote.Caller(f.run()))
	mail, err := actor.Pending(ctx, c3po.PendingInput{})
	if err != nil {
		return false // another coordinator has the name, for half a minute at most
	}
	for _, m := range mail.Messages {
		if m.ExpectsReply {
			_, err = actor.Reply(ctx, c3po.ReplyInput{
				MessageID: m.ID, Status: c3po.ReplyError, ClientKey: "a2a-removed-" + nameOf(remote.Space, m.ID),
				Response: fmt.Sprintf("The remote agent '%s' was removed before it answered. Whether it has done anything is unknown.", remote.Agent),
			})
		} else {
			_, err = actor.AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{m.ID}})
		}
		if err != nil {
			f.Log.WarnContext(ctx, "cannot answer for a removed remote agent", "agent", remote.Agent, "message_id", m.ID, "err", err)
			return false
		}
	}
	return len(mail.Messages) > 0
}
