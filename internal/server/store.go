package server

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
)

var _ store.Store = (*redisstore.Store)(nil)

const (
	// redisPatience is how long Redis may take to come up: both are often
	// started at the same moment.
	redisPatience = 10 * time.Second
	firstPause    = 50 * time.Millisecond
	maxPause      = time.Second
)

// CheckRedis refuses what is no address of a Redis, before it is tried.
func CheckRedis(address string) error { return redisstore.CheckURL(address) }

// openStore opens the store. For a Redis that does not answer yet it waits, but
// not longer than most.
func openStore(ctx context.Context, cfg Config, node string, meter redisstore.Meter, most time.Duration) (*redisstore.Store, error) {
	return patiently(ctx, cfg, most, func(patience context.Context) (*redisstore.Store, error) {
		return redisstore.Open(patience, redisstore.Config{URL: cfg.RedisURL, Limits: cfg.Limits, Node: node, Log: cfg.Log, Meter: meter, Free: paths.FreeDisk, Now: cfg.Now,
			Writer: cmp.Or(cfg.Version, "dev")})
	})
}

// patiently repeats what a start asks of Redis until it is answered, but not for longer
// than most. A lost answer does not end it either: everything a start does may be done
// twice.
func patiently[T any](ctx context.Context, cfg Config, most time.Duration, ask func(context.Context) (T, error)) (T, error) {
	patience, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		answer, err := ask(patience)
		if err == nil {
			return answer, nil
		}
		if ctx.Err() != nil {
			return answer, ctx.Err()
		}
		if patience.Err() == nil && !errors.Is(err, c3po.RedisUnavailable) && !errors.Is(err, c3po.UnknownOutcome) {
			return answer, err
		}
		cfg.Log.Warn("redis cannot be used yet, trying again", "redis", withoutPassword(cfg.RedisURL), "err", err)
		select {
		case <-time.After(pause):
		case <-patience.Done():
			if ctx.Err() != nil {
				return answer, ctx.Err()
			}
			return answer, c3po.Because(err, c3po.RedisUnavailable, "Redis at "+withoutPassword(cfg.RedisURL)+" cannot be used: "+c3po.AsError(err).Message).
				Suggest("Start Redis, or say where it is with --redis or REDIS_URL; `c3po up` starts one by itself.")
		}
	}
}

var userInfo = regexp.MustCompile(`//[^/@]*@`)

// withoutPassword is a Redis URL that may be shown.
func withoutPassword(url string) string { return userInfo.ReplaceAllString(url, "//") }
