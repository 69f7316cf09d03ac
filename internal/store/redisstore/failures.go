package redisstore

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
)

// write makes one change in Redis, and makes it again while that can help: every
// step may be repeated. The client library must not do so by itself, because it
// reports its last attempt only. If Redis carried out the first and then refuses
// the second, nobody may say that nothing was stored.
func (s *Store) write(ctx context.Context, step string, once func() error) error {
	inDoubt, err := attempt.Repeat(ctx, attempt.Pace{First: firstPause, Max: maxPause}, func(bool) (attempt.Verdict, error) {
		if err := ctx.Err(); err != nil {
			return attempt.Final, err
		}
		err := once()
		if readOnly(err) {
			s.dials.cut()
		}
		return verdict(err), err
	})
	switch {
	case err == nil:
		return nil
	case inDoubt && !errors.Is(context.Cause(ctx), context.Canceled):
		return s.unknown(ctx, step, err)
	default:
		return s.failure(ctx, step, err)
	}
}

// The pauses between two attempts of a step: a connection that was cut is made
// again at once, a Redis that starts needs longer.
const (
	firstPause = 2 * time.Millisecond
	maxPause   = 200 * time.Millisecond
)

// verdict is what the error of one attempt says about it. A connection that fails
// after it was made may have carried the command.
func verdict(err error) attempt.Verdict {
	refused, answered := rueidis.IsRedisErr(err)
	switch {
	case err == nil, rueidis.IsRedisNil(err):
		return attempt.Final
	case readOnly(err), answered && (refused.IsLoading() || refused.IsClusterDown() || refused.IsTryAgain()):
		return attempt.Undone
	case answered:
		return attempt.Final
	case dialFailed(err), errors.Is(err, rueidis.ErrNoSlot):
		return attempt.Undone
	case errors.Is(err, rueidis.ErrClosing): // we stop
		return attempt.Lost
	default:
		return attempt.Doubt
	}
}

// readOnly reports whether Redis refused a write because it is a replica: since its role
// changed, or because the address leads to one.
func readOnly(err error) bool {
	refused, ok := rueidis.IsRedisErr(err)
	return ok && strings.HasPrefix(refused.Error(), "READONLY")
}

// failure is for what changed nothing: a read, or a change that Redis refused or
// was never asked for.
func (s *Store) failure(ctx context.Context, step string, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
		return cause
	}
	failure := notReached(err)
	if refused, ok := rueidis.IsRedisErr(err); ok {
		failure = s.refusal(step, refused)
	}
	s.meter.StoreFailed(c3po.AsError(failure).Code)
	return failure
}

func (s *Store) unknown(ctx context.Context, step string, err error) error {
	s.meter.StoreFailed(c3po.UnknownOutcome)
	s.log.WarnContext(ctx, "answer lost", "step", step, "err", err)
	return c3po.Because(err, c3po.UnknownOutcome, "the answer of Redis was lost; it may or may not have happened").
		Suggest("Repeat the request with the same client_key: it is done once, whichever it was.")
}

func (s *Store) refusal(step string, refused *rueidis.RedisError) error {
	text := refused.Error()
	switch {
	case strings.HasPrefix(text, "OOM"):
		s.makeRoom()
		return c3po.Because(refused, c3po.StoreFull, "the store is full: Redis has reached its memory limit").
			Suggest("Reading and acking work and make room. This call stored nothing; try again later with the same client_key.")
	case strings.HasPrefix(text, "MISCONF"):
		return c3po.Because(refused, c3po.StoreFull, "Redis cannot write to its disk").
			Suggest("Free disk space on the Redis host. This call stored nothing.")
	case strings.HasPrefix(text, "READONLY"):
		return refuseReplica(refused)
	case strings.HasPrefix(text, "LOADING"):
		return c3po.Because(refused, c3po.RedisUnavailable, "Redis is loading its data").
			Suggest("Wait until it has. This call stored nothing; try again with the same client_key.")
	case strings.HasPrefix(text, "CLUSTERDOWN"), strings.HasPrefix(text, "MASTERDOWN"), strings.HasPrefix(text, "TRYAGAIN"), strings.HasPrefix(text, "BUSY"),
		strings.HasPrefix(text, "NOAUTH"), strings.HasPrefix(text, "WRONGPASS"), strings.HasPrefix(text, "NOPERM"):
		return notReached(refused)
	}
	s.log.Error("script failed", "step", step, "err", refused)
	return c3po.Because(refused, c3po.Internal, "internal error").
		Suggest("This call changed nothing. The coordinator's log says what Redis answered.")
}

func refuseReplica(cause error) error {
	return c3po.Because(cause, c3po.RedisUnavailable, "Redis takes no writes: the Redis URL leads to a replica").
		Suggest("Wait until the failover is over, or point the URL at the primary. This call stored nothing; try again with the same client_key.")
}

// Writable implements store.Store.
func (s *Store) Writable(ctx context.Context) error {
	defer s.took("role", time.Now())
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	said, _, err := askNodes(ctx, s, func(ctx context.Context, node rueidis.Client) (string, error) {
		return node.Do(ctx, node.B().Info().Section("replication").Build()).ToString()
	})
	if err != nil {
		return s.failure(ctx, "read role", err)
	}
	// The client of a cluster follows its primaries.
	if len(said) == 1 && strings.Contains(anyOf(said), "role:slave") {
		s.dials.cut()
		return refuseReplica(nil)
	}
	return nil
}

func notReached(err error) error {
	return c3po.Because(err, c3po.RedisUnavailable, "Redis cannot be reached").
		Suggest("Check that Redis runs and that the coordinator's Redis URL is right. This call stored nothing; try again with the same client_key.")
}

func dialFailed(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}
