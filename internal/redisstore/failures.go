package redisstore

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po"
)

// failure says which of three things happened: Redis refused (nothing
// changed), Redis was not reached (nothing changed), or the answer was lost
// and nobody can know.
func (s *Store) failure(ctx context.Context, step string, reading bool, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
		return cause
	}
	failure := s.judge(ctx, step, reading, err)
	s.meter.StoreFailed(c3po.AsError(failure).Code)
	return failure
}

func (s *Store) judge(ctx context.Context, step string, reading bool, err error) error {
	if refused, ok := rueidis.IsRedisErr(err); ok {
		return s.refusal(step, refused)
	}
	if reading || dialFailed(err) {
		return notReached(err)
	}
	s.log.WarnContext(ctx, "answer lost", "step", step, "err", err)
	return c3po.Because(err, c3po.UnknownOutcome, "the answer of Redis was lost; it may or may not have happened").
		Suggest("Repeat the request with the same client_key: it is done once, whichever it was.")
}

func (s *Store) refusal(step string, refused *rueidis.RedisError) error {
	text := refused.Error()
	switch {
	case strings.HasPrefix(text, "OOM"):
		return c3po.Because(refused, c3po.StoreFull, "the store is full: Redis has reached its memory limit").
			Suggest("Reading and acking work and make room. Nothing was stored; try again later with the same client_key.")
	case strings.HasPrefix(text, "MISCONF"):
		return c3po.Because(refused, c3po.StoreFull, "Redis cannot write to its disk").
			Suggest("Free disk space on the Redis host. Nothing was stored.")
	case strings.HasPrefix(text, "LOADING"), strings.HasPrefix(text, "CLUSTERDOWN"), strings.HasPrefix(text, "READONLY"),
		strings.HasPrefix(text, "MASTERDOWN"), strings.HasPrefix(text, "TRYAGAIN"), strings.HasPrefix(text, "BUSY"),
		strings.HasPrefix(text, "NOAUTH"), strings.HasPrefix(text, "WRONGPASS"), strings.HasPrefix(text, "NOPERM"):
		return notReached(refused)
	}
	s.log.Error("script failed", "step", step, "err", refused)
	return c3po.Because(refused, c3po.Internal, "internal error").
		Suggest("Nothing was changed. The coordinator's log says what Redis answered.")
}

func notReached(err error) error {
	return c3po.Because(err, c3po.RedisUnavailable, "Redis cannot be reached").
		Suggest("Check that Redis runs and that the coordinator's Redis URL is right. Nothing was stored; try again with the same client_key.")
}

func dialFailed(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}
