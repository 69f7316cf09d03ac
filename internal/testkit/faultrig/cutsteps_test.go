package faultrig_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// errHalf is how a deed says that its answer named something to be done again.
var errHalf = errors.New("not all of it was done, and the answer says so")

func half(undecided []c3po.MessageID, err error) error {
	if err == nil && len(undecided) > 0 {
		return errHalf
	}
	return err
}

// furtherDeeds are the operations that change something and are not among deeds.
func furtherDeeds() []deed {
	nothing := func(context.Context, *scene) error { return nil }
	join := func(ids ...c3po.AgentID) func(context.Context, *scene) error {
		return func(ctx context.Context, s *scene) error {
			for _, id := range ids {
				if _, err := s.as(id).RoomJoin(ctx, c3po.RoomJoinInput{Room: "hall"}); err != nil {
					return err
				}
			}
			return nil
		}
	}
	task := func(ctx context.Context, s *scene) error {
		_, err := s.as("cyd").RegisterAgent(ctx, c3po.RegisterInput{Capabilities: []string{"review"}})
		if err == nil {
			err = s.send(ctx, "ana", "role:review", "who looks?")
		}
		if err == nil {
			err = s.send(ctx, "ana", "cyd", "and you?")
		}
		return err
	}
	dead := func(ctx context.Context, s *scene) error {
		err := s.sends(ctx, "one", "two", "three")
		for _, text := range []string{"one", "two", "three"} {
			if err == nil {
				_, err = s.sound.Bury(ctx, s.space, s.ids[text], c3po.ReasonExpired, "late")
			}
		}
		return err
	}
	return []deed{
		{"join a room", join("bob"), join("ana")},
		{"make a room", nothing, join("ana")},
		{"leave a room", join("ana", "bob"), func(ctx context.Context, s *scene) error {
			_, err := s.as("bob").RoomLeave(ctx, c3po.RoomInput{Room: "hall"})
			return err
		}},
		{"invite", join("ana"), func(ctx context.Context, s *scene) error {
			out, err := s.as("ana").RoomInvite(ctx, c3po.RoomInviteInput{Room: "hall", Agent: "bob"})
			if err == nil && out.Notice != "" {
				return errHalf // bob may come in, and was not told
			}
			return err
		}},
		{"close a room", join("ana"), func(ctx context.Context, s *scene) error {
			_, err := s.as("ana").RoomSet(ctx, c3po.RoomSetInput{Room: "hall", Visibility: c3po.InviteOnly})
			return err
		}},
		{"broadcast", nothing, func(ctx context.Context, s *scene) error {
			_, err := s.as("ana").Broadcast(ctx, c3po.BroadcastInput{Message: "hello", ClientKey: "hello"})
			return err
		}},
		{"set a status", nothing, func(ctx context.Context, s *scene) error {
			_, err := s.as("ana").SetStatus(ctx, c3po.StatusInput{Status: c3po.Busy, CurrentTask: "this"})
			return err
		}},
		{"pause", nothing, func(ctx context.Context, s *scene) error {
			_, err := s.person().Pause(ctx, c3po.PauseInput{AgentID: "bob"})
			return err
		}},
		{"rename", nothing, func(ctx context.Context, s *scene) error {
			_, err := s.as("dan").Rename(ctx, c3po.RenameInput{NewID: "daniel"})
			return err
		}},
		{"unregister", nothing, func(ctx context.Context, s *scene) error {
			_, err := s.as("dan").Unregister(ctx, c3po.None{})
			return err
		}},
		{"claim", task, func(ctx context.Context, s *scene) error {
			_, err := s.as("cyd").Claim(ctx, c3po.MessageInput{MessageID: s.ids["who looks?"]})
			return err
		}},
		{"ack of two mailboxes", task, func(ctx context.Context, s *scene) error {
			out, err := s.as("cyd").AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{s.ids["and you?"], s.ids["who looks?"]}})
			return half(out.Undecided, err)
		}},
		{"received", task, func(ctx context.Context, s *scene) error {
			out, err := s.as("cyd").Received(ctx, c3po.ReceivedInput{MessageIDs: []c3po.MessageID{s.ids["and you?"], s.ids["who looks?"]}})
			return half(out.Undecided, err)
		}},
		{"replay dead letters", dead, func(ctx context.Context, s *scene) error {
			out, err := s.person().DeadLetterReplay(ctx, c3po.LetterSelection{Reason: c3po.ReasonExpired})
			return half(out.Undecided, err)
		}},
		{"purge dead letters", dead, func(ctx context.Context, s *scene) error {
			out, err := s.person().DeadLetterPurge(ctx, c3po.LetterSelection{Reason: c3po.ReasonExpired})
			return half(out.Undecided, err)
		}},
	}
}

// everything is a fingerprint of all that Redis holds of a space.
const everything = `
local names, all = redis.call('KEYS', ARGV[1]), {}
table.sort(names)
for _, name in ipairs(names) do
  local text
  if redis.call('TYPE', name).ok == 'hash' then
    local rows, fields = {}, redis.call('HGETALL', name)
    for i = 1, #fields, 2 do rows[#rows + 1] = fields[i] .. '=' .. fields[i + 1] end
    table.sort(rows)
    text = table.concat(rows, '\0')
  else
    text = redis.call('DUMP', name)
  end
  all[#all + 1] = name .. ' ' .. redis.sha1hex(text)
end
return table.concat(all, '\n')`

func (s *scene) raw(t *testing.T) string {
	t.Helper()
	text, err := redistest.Do(s.redis, "EVAL", everything, "0", fmt.Sprintf("c3po:1:{%s}:*", s.space))
	if err != nil {
		t.Error(err)
	}
	return fmt.Sprint(text)
}

// strike takes a scene away: what looks at all keys is slow when there are many.
func (s *scene) strike(t *testing.T) {
	t.Helper()
	const away = `for _, name in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('UNLINK', name) end return 1`
	if _, err := redistest.Do(s.redis, "EVAL", away, "0", fmt.Sprintf("c3po:1:{%s}:*", s.space)); err != nil {
		t.Error(err)
	}
}

// A cutter is a way to Redis that can be cut, with a store behind it that lives on.
type cutter struct {
	t      *testing.T
	redis  *redistest.Server
	proxy  *faultrig.Proxy
	sound  *redisstore.Store
	store  *redisstore.Store
	limits c3po.Limits
	scenes *atomic.Int64
}

// opened opens a store, however long a busy machine takes for that.
func opened(t *testing.T, cfg redisstore.Config) (store *redisstore.Store) {
	t.Helper()
	var err error
	if !faultrig.Within(time.Minute, func() bool { store, err = redisstore.Open(t.Context(), cfg); return err == nil }) {
		t.Fatal(err)
	}
	return store
}

// patience is how long a caller waits at least: what cannot be done is said within it.
const patience = 600 * time.Millisecond

// lanes are how many are cut at once.
const lanes = 16

// surely does what nothing stands in the way of, however busy the machine is.
func (c *cutter) surely(what string, do func() error) {
	var err error
	done := faultrig.Within(time.Minute, func() bool {
		err = do()
		return !errors.Is(err, c3po.RedisUnavailable) && !errors.Is(err, c3po.UnknownOutcome) && !errors.Is(err, errHalf)
	})
	if !done || err != nil {
		c.t.Errorf("%s: %v", what, err)
	}
}

func (c *cutter) stage(d deed) *scene {
	s := &scene{
		space: c3po.Space(fmt.Sprintf("cut-%d-", c.scenes.Add(1))), redis: c.redis.Addr(), ids: map[string]c3po.MessageID{}, clock: new(atomic.Int64), sound: c.sound,
	}
	s.hub = hub.New(hub.Config{Store: oneSpace{c.sound, s.space}, Limits: c.limits})
	for _, id := range cast() {
		c.surely("register", func() error {
			_, err := s.as(id).RegisterAgent(c.t.Context(), c3po.RegisterInput{})
			return err
		})
	}
	c.surely("prepare to "+d.name, func() error { return d.prepare(c.t.Context(), s) })
	// Everybody is known there, so that the deed alone is seen.
	s.hub = hub.New(hub.Config{Store: oneSpace{c.store, s.space}, Limits: c.limits})
	for _, id := range cast() {
		c.surely("enter", func() error {
			_, err := s.as(id).WhoAmI(c.t.Context(), c3po.None{})
			return err
		})
	}
	return s
}

func (c *cutter) onSound(s *scene) *scene {
	s.hub = hub.New(hub.Config{Store: oneSpace{c.sound, s.space}, Limits: c.limits})
	return s
}

// rehearse counts the steps of a deed, and says what it comes to and how long it takes.
func (c *cutter) rehearse(d deed) (steps int, want []string, took time.Duration) {
	s := c.stage(d)
	defer s.strike(c.t)
	c.proxy.FailAt(string(s.space), 0, false, nil)
	began := time.Now()
	if err := d.do(c.t.Context(), s); err != nil {
		c.t.Errorf("%s: %v", d.name, err)
	}
	took = time.Since(began)
	return c.proxy.Requests(), c.onSound(s).state(c.t), took
}

// cut does a deed whose connections end at a step, and judges the answer.
func (c *cutter) cut(d deed, want []string, took time.Duration, at int, executed bool, then faultrig.Aftermath) (reached, unknown, lied bool) {
	s := c.stage(d)
	defer s.strike(c.t)
	before := s.raw(c.t)
	point := fmt.Sprintf("%s, cut at step %d (executed: %v, then %d)", d.name, at, executed, then)
	// As many do the same at once as there are lanes.
	ctx, cancel := context.WithTimeout(c.t.Context(), max(patience, lanes*took))
	defer cancel()
	c.proxy.CutAt(string(s.space), at, executed, then)
	err := d.do(ctx, s)
	reached = c.proxy.Struck()
	c.proxy.Heal()
	unknown = errors.Is(err, c3po.UnknownOutcome)
	if err != nil && !unknown && !errors.Is(err, errHalf) {
		if diff := cmp.Diff(before, s.raw(c.t)); diff != "" {
			lied = true
			c.t.Errorf("%s: answered with %v, but something changed:\n%s", point, err, diff)
		}
	}
	if err != nil {
		c.surely(point+": again", func() error { return d.do(c.t.Context(), c.onSound(s)) })
	}
	if diff := cmp.Diff(want, c.onSound(s).state(c.t)); diff != "" {
		lied = true
		c.t.Errorf("%s, answered with %v (-alive +cut):\n%s", point, err, diff)
	}
	return reached, unknown, lied
}

// The connections to Redis end before a step is carried out, or after it and
// before its answer, at every step of every operation; and the store that comes
// back finds nobody, a Redis that starts, or one that is well. Whatever comes of
// it: an answer that says that nothing was stored is true.
func TestACutConnectionNeverMakesWhatIsStoredNotStored(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	limits := noLimits()
	limits.ReapEvery = time.Minute
	all := append(deeds(), furtherDeeds()...)
	open := func(url string) *redisstore.Store {
		store := opened(t, redisstore.Config{URL: url, Limits: limits})
		t.Cleanup(store.Close)
		return store
	}
	sound, scenes := open(redis.URL()), new(atomic.Int64)
	lane := func() *cutter {
		proxy := faultrig.NewProxy(t, redis.URL())
		return &cutter{t: t, redis: redis, proxy: proxy, sound: sound, store: open("redis://" + proxy.Addr()), limits: limits, scenes: scenes}
	}

	type point struct {
		deed
		want     []string
		took     time.Duration
		at       int
		executed bool
		then     faultrig.Aftermath
	}
	var points []point
	rehearsal := lane()
	for turn, d := range all {
		if d.name == "reap" || d.name == "bring back" || d.name == "dead letter" {
			continue // these change what time and damage do, not what somebody asks for
		}
		rehearsal.rehearse(d) // a script that Redis sees for the first time takes a step more
		steps, want, took := rehearsal.rehearse(d)
		for n := range faultrig.Size(1, 7) * 2 * steps * 4 {
			// The short form takes one aftermath at each point, by turns.
			if then := n / (2 * steps) % 4; faultrig.Torture() || then == (turn+n%(2*steps))%4 {
				points = append(points, point{d, want, took, n/2%steps + 1, n%2 == 1, faultrig.Aftermath(then)})
			}
		}
	}
	work := make(chan point, len(points))
	for _, p := range points {
		work <- p
	}
	close(work)
	var cuts, missed, unknown, lies atomic.Int64
	var busy sync.WaitGroup
	for range lanes {
		c := lane()
		busy.Go(func() {
			for p := range work {
				reached, doubt, lied := c.cut(p.deed, p.want, p.took, p.at, p.executed, p.then)
				for what, counter := range map[*atomic.Int64]bool{&cuts: reached, &missed: !reached, &unknown: doubt, &lies: lied} {
					if counter {
						what.Add(1)
					}
				}
			}
		})
	}
	busy.Wait()
	t.Logf("%d points, %d cuts, %d that the operation did not come to, %d answers unknown, %d wrong", len(points), cuts.Load(), missed.Load(), unknown.Load(), lies.Load())
	if missed.Load()*4 > cuts.Load() || unknown.Load() == 0 {
		t.Errorf("%d of %d cuts did not happen, %d answers were unknown", missed.Load(), len(points), unknown.Load())
	}
	faultrig.Verdict{
		Row: "C2", Holds: []faultrig.Invariant{faultrig.UnknownIsSaid, faultrig.NothingStoredIsLost, faultrig.OneMessageAKey, faultrig.BooksBalance},
		Size: fmt.Sprintf("%d points of %d operations", len(points), len(all)-3), Faults: fmt.Sprintf("%d connections cut at a step", cuts.Load()), Lost: int(lies.Load()),
	}.Record(t)
}
