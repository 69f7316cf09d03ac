package auth

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
)

// buttonRemote is where the audit says that a button's press came from.
const buttonRemote = "ntfy button"

// Button is the person who pressed a button of a notice, and the context to serve them
// under. Whoever calls it has checked the button's signature.
func (k *Keeper) Button(ctx context.Context, space c3po.Space) (c3po.Caller, context.Context) {
	caller := c3po.Caller{Space: space, Role: c3po.RoleHuman, Client: buttonRemote, Route: "button"}
	return caller, context.WithValue(ctx, remoteKey{}, buttonRemote)
}

// RefusedButton writes down that a button was pressed in vain.
func (k *Keeper) RefusedButton(ctx context.Context, space c3po.Space, question c3po.MessageID, err error) {
	if !k.failures.allow(k.now(), maxFailuresPerSecond) {
		return
	}
	detail := c3po.AsError(err).Message
	if question != "" {
		detail = clip(string(question)) + ": " + detail
	}
	k.Record(ctx, AuditEntry{Event: EventButtonRefused, Space: string(space), Remote: buttonRemote, Detail: detail})
}
