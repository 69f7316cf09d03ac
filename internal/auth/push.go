package auth

import (
	"context"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
)

// A Push is a browser that gets a notice of each question of a space, as long as its token works.
type Push struct {
	Grant Grant // given by the store
	KID   string
	Text  string // as it is stored; given by the store
	Space c3po.Space
	c3po.PushInput
}

// Subscribe has notices of the space's questions sent to the caller's browser.
func (k *Keeper) Subscribe(ctx context.Context, caller c3po.Caller, in c3po.PushInput) error {
	mine, err := pushHolder(ctx, caller)
	if err != nil {
		return err
	}
	found, err := k.store.PutPush(ctx, Push{KID: mine.KID, Space: caller.Space, PushInput: in})
	if err == nil && !found {
		err = unauthorized("this token has ended")
	}
	return err
}

// Unsubscribe ends that.
func (k *Keeper) Unsubscribe(ctx context.Context, caller c3po.Caller) error {
	mine, err := pushHolder(ctx, caller)
	if err != nil {
		return err
	}
	return k.store.EndPush(ctx, mine.KID, "")
}

// pushHolder is the token of a person, with which what it asked for ends.
func pushHolder(ctx context.Context, caller c3po.Caller) (Grant, error) {
	mine, _ := ctx.Value(grantKey{}).(Grant)
	switch {
	case !slices.Contains(LinkRoles(), caller.Role):
		return mine, c3po.Errorf(c3po.Forbidden, "questions are for a person, and this token is not a person's")
	case mine.KID == "":
		return mine, c3po.Errorf(c3po.InvalidRequest, "notices to a browser end with its token, and this caller has none").
			Suggest("Sign in with the address that `c3po open` prints.")
	}
	return mine, nil
}

// AnyPush says whether any browser wants notices.
func (k *Keeper) AnyPush(ctx context.Context) (bool, error) { return k.store.AnyPush(ctx) }

// Pushes are the browsers that get notices of a space's questions.
func (k *Keeper) Pushes(ctx context.Context, space c3po.Space) ([]Push, error) {
	all, err := k.store.Pushes(ctx, k.now())
	return slices.DeleteFunc(all, func(p Push) bool { return p.Space != space }), err
}

// EndPush forgets a browser that no notice reaches any more.
func (k *Keeper) EndPush(ctx context.Context, p Push) error {
	return k.store.EndPush(ctx, p.KID, p.Text)
}
