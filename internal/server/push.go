package server

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/auth/pki"
	"github.com/c3po-dev/c3po/internal/person/notify"
)

// browsers are the ones that people want to be told of questions in.
type browsers struct{ keeper *auth.Keeper }

func (b browsers) Any(ctx context.Context) (bool, error) { return b.keeper.AnyPush(ctx) }

func (b browsers) Of(ctx context.Context, space c3po.Space) ([]notify.Browser, error) {
	pushes, err := b.keeper.Pushes(ctx, space)
	var all []notify.Browser
	for _, p := range pushes {
		all = append(all, notify.Browser{ID: p.KID, Word: p.Text, PushInput: p.PushInput})
	}
	return all, err
}

func (b browsers) Gone(ctx context.Context, one notify.Browser) error {
	return b.keeper.EndPush(ctx, auth.Push{KID: one.ID, Text: one.Word})
}

// newNotifier tells the person. Push services know all coordinators by one key, which is
// made from the secret they share.
func newNotifier(ctx context.Context, cfg Config, keeper *auth.Keeper, store auth.Store) (*notify.Notifier, error) {
	config := cfg.Notify
	secret, err := patiently(ctx, cfg, redisPatience, func(ctx context.Context) ([]byte, error) { return store.Authority(ctx, pki.New) })
	if err != nil {
		return nil, err
	}
	if config.PushKey, err = notify.PushKey(secret); err != nil {
		return nil, err
	}
	config.Browsers = browsers{keeper}
	return notify.New(config)
}
