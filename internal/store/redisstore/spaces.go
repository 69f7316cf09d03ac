package redisstore

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// knownFor is how long a coordinator takes a space for listed without looking.
	knownFor = 10 * time.Minute
	// leavingFor is how long a space that was taken off the list is left alone: all
	// who took it for listed have looked again by then.
	leavingFor = 2 * knownFor
	// leavingPage is how many spaces are forgotten in one go.
	leavingPage = 100
)

// enter makes a space known before something is created in it, and refuses a
// space that was written by a version this one cannot read.
func (s *Store) enter(ctx context.Context, space c3po.Space) error {
	now := time.Now()
	if s.now != nil {
		now = s.now()
	}
	if at, ok := s.known.Load(space); ok {
		if age := now.Sub(at.(time.Time)); age >= 0 && age < knownFor {
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	is, err := s.strings(ctx, s.commands.B().Hmget().Key(keysOf(space).meta()).Field("min_reader", "seq").Build())
	if err != nil {
		return err
	}
	need := atoi(is[0])
	if need > store.Schema {
		return c3po.Errorf(c3po.InvalidRequest, "space '%s' needs a newer coordinator (schema %d, this one reads %d)", space, need, store.Schema).
			Suggest("Upgrade this coordinator.")
	}
	if is[1] == "" {
		if err := s.begin(ctx, space); err != nil {
			return err
		}
	}
	// A full store takes no SADD, not even one that changes nothing.
	listed, err := s.commands.Do(ctx, s.commands.B().Sismember().Key(spacesKey).Member(string(space)).Build()).AsBool()
	if err != nil {
		return s.failure(ctx, "enter", err)
	}
	if !listed {
		if err := s.write(ctx, "enter", func() error {
			return s.commands.Do(ctx, s.commands.B().Sadd().Key(spacesKey).Member(string(space)).Build()).Error()
		}); err != nil {
			return err
		}
	}
	s.known.Store(space, now)
	return nil
}

// begin lets a space that is new, or was forgotten, begin above the numbers of all
// that were forgotten.
func (s *Store) begin(ctx context.Context, space c3po.Space) error {
	seq, epoch, err := s.floor(ctx)
	if err != nil || seq == 0 {
		return err
	}
	_, err = s.run(ctx, "space_begin", keysOf(space), with{"sequence": seq, "epoch": epoch})
	return err
}

func (s *Store) floor(ctx context.Context) (seq, epoch int64, err error) {
	is, err := s.strings(ctx, s.commands.B().Hmget().Key(floorKey).Field("seq", "epoch").Build())
	if err != nil {
		return 0, 0, err
	}
	return atoi(is[0]), max(1, atoi(is[1])), nil
}

// vacate runs space_vacate.lua. With a sequence it forgets the space.
func (s *Store) vacate(ctx context.Context, space c3po.Space, seq string) (string, error) {
	k := keysOf(space)
	answer, err := s.run(ctx, "space_vacate", k, with{
		"casts": k.room(c3po.Everybody), "box": k.box(c3po.Human), "mark": k.mark(c3po.Human), "life": seconds(store.EmptyLife(s.limits)), "last": seq,
	})
	if err != nil {
		return "", err
	}
	return word(answer[0]), nil
}

// leaving moves a space between the list and what is about to be forgotten.
func (s *Store) leaving(ctx context.Context, space c3po.Space, word string) error {
	_, err := s.run(ctx, "space_leave", noSpace, with{"space": space, "word": word})
	return err
}

// ForgetSpaces implements store.Store. A space leaves the list first, and is
// forgotten once everybody who might still take it for listed has looked again;
// one that was used meanwhile is listed again.
func (s *Store) ForgetSpaces(ctx context.Context) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	rows, err := s.strings(ctx, s.commands.B().Zrangebyscore().Key(leavingKey).Min("-inf").Max(itoa(now.Add(-leavingFor).UnixMilli())).Limit(0, leavingPage).Build())
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := s.forgetSpace(ctx, c3po.Space(row)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) forgetSpace(ctx context.Context, space c3po.Space) error {
	at, err := s.strings(ctx, s.commands.B().Hmget().Key(keysOf(space).meta()).Field("seq", "epoch").Build())
	if err != nil {
		return err
	}
	// The floor rises first: a space that is forgotten and begins anew must find it there.
	seq := max(0, atoi(at[0]))
	if _, err := s.run(ctx, "floor_raise", noSpace, with{"seq": seq, "epoch": max(1, atoi(at[1]))}); err != nil {
		return err
	}
	outcome, err := s.vacate(ctx, space, itoa(seq))
	if err != nil {
		return err
	}
	s.known.Delete(space)
	if outcome == "forgotten" {
		return s.leaving(ctx, space, "gone")
	}
	return s.leaving(ctx, space, "stay")
}

// sequenceOf reads where a space stands; one that has no numbers stands where it
// would begin.
func (s *Store) sequenceOf(ctx context.Context, fields []string) (at store.Sequence, err error) {
	at = store.Sequence{Epoch: max(1, atoi(fields[0])), Last: atoi(fields[1]), Began: atoi(fields[2])}
	if fields[1] == "" {
		at.Last, at.Epoch, err = s.floor(ctx)
	}
	return at, err
}
