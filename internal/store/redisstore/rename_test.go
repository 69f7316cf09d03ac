package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// weigher counts the commands that each script runs, on a Redis that nobody else
// uses.
type weigher struct {
	rueidis.Client
	t     *testing.T
	most  int
	which string
}

func (w *weigher) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	words := cmd.Commands()
	if words[0] != "EVALSHA" {
		return w.Client.Do(ctx, cmd)
	}
	keys := fmt.Sprint(words[2], " keys from ", words[3])
	before := commands(w.t, w.Client)
	answer := w.Client.Do(ctx, cmd)
	if ran := commands(w.t, w.Client) - before; ran > w.most {
		w.most, w.which = ran, keys
	}
	return answer
}

// commands is how many Redis has run, those of scripts too.
func commands(t *testing.T, client rueidis.Client) int {
	t.Helper()
	info, err := client.Do(t.Context(), client.B().Info().Section("commandstats").Build()).ToString()
	if err != nil {
		t.Fatal(err)
	}
	stats := map[string]CommandStat{}
	addCommandStats(stats, info)
	total := 0
	for _, stat := range stats {
		total += int(stat.Calls)
	}
	return total
}

// slowest is the longest that Redis was held up, since it was last asked.
func slowest(t *testing.T, s *Store) time.Duration {
	t.Helper()
	everything := s.commands.B().ConfigSet().ParameterValue().ParameterValue("slowlog-log-slower-than", "0").ParameterValue("slowlog-max-len", "4096").Build()
	if err := s.commands.Do(t.Context(), everything).Error(); err != nil {
		t.Fatal(err)
	}
	entries, err := s.commands.Do(t.Context(), s.commands.B().SlowlogGet().Count(-1).Build()).ToArray()
	if err != nil {
		t.Fatal(err)
	}
	most := time.Duration(0)
	for _, entry := range entries {
		if row := list(entry); len(row) > 2 {
			most = max(most, time.Duration(integer(row[2]))*time.Microsecond)
		}
	}
	if err := s.commands.Do(t.Context(), s.commands.B().SlowlogReset().Build()).Error(); err != nil {
		t.Fatal(err)
	}
	return most
}

func openRoomy(t *testing.T) *Store {
	t.Helper()
	limits := c3po.DefaultLimits().Unbudgeted()
	limits.InboxMessages, limits.InboxBytes, limits.SenderShare, limits.EndedBytes = 1<<20, 1<<30, 1, 1<<30
	s, err := Open(t.Context(), Config{URL: redistest.Start(t), Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestARenamingHoldsNobodyUpHoweverMuchThereIs(t *testing.T) {
	t.Parallel()
	const maxCommands, maxTime = 1_000, 5 * time.Millisecond
	ended, unread, tasks, names, rooms := 1_500, 300, 300, 20, 150
	if faultrig.Torture() {
		ended, unread, tasks, names, rooms = 30_000, 10_000, 10_000, 1_000, 10_000
	}
	s := openRoomy(t)
	ctx, space := t.Context(), c3po.Space("main")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []c3po.AgentID{"ana", "bob", "carl"} {
		_, err := s.Register(ctx, space, store.RegisterStep{Want: id, Explicit: true, Profile: store.Profile{Capabilities: []string{"work"}}})
		must(err)
	}
	for n := range names {
		for _, name := range []string{"nomad-", "rover-", "drifter-"} {
			id := c3po.AgentID(fmt.Sprint(name, n))
			_, err := s.Register(ctx, space, store.RegisterStep{Want: id})
			must(err)
			must(s.Rename(ctx, space, id, id+"-now", ""))
		}
	}
	send := func(n int, to c3po.AgentID) c3po.MessageID {
		in := sendStep(fmt.Sprint(to, n))
		in.To, in.Alias, in.RateLimit, in.Queue, in.Within = to, "", 0, to != "bob", time.Hour
		stored, err := s.Send(ctx, space, in)
		must(err)
		return stored.Message.ID
	}
	for n := range rooms {
		maker := c3po.AgentID(fmt.Sprint("maker-", n/s.limits.AgentRooms))
		_, err := s.Register(ctx, space, store.RegisterStep{Want: maker})
		must(err)
		_, err = s.Join(ctx, space, store.JoinStep{Room: c3po.RoomName(fmt.Sprint("room-", n)), Agent: maker, Visibility: c3po.Public})
		must(err)
	}
	for n := range ended {
		_, err := s.Ack(ctx, space, "bob", "", []c3po.MessageID{send(n, "bob")})
		must(err)
	}
	for n := range unread {
		send(ended+n, "bob")
	}
	for n := range tasks {
		send(n, "role/work")
		if n < 10 {
			_, err := s.Claim(ctx, space, store.ClaimStep{Queue: "role/work", Agent: "bob", Reader: fmt.Sprint(n)})
			must(err)
		}
	}
	slowest(t, s)
	must(s.Rename(ctx, space, "bob", "robert", ""))
	held := slowest(t, s)
	weighed := &weigher{Client: s.commands, t: t}
	s.commands = weighed
	must(s.Rename(ctx, space, "robert", "bob", ""))
	t.Logf("ended %d, unread %d, tasks %d, rooms %d, earlier names %d: Redis was held up for %s, the largest script ran %d commands (%s)",
		ended, unread, tasks, rooms, 3*names, held, weighed.most, weighed.which)
	if weighed.most > maxCommands {
		t.Errorf("a script of a renaming runs %d commands, at most %d (%s)", weighed.most, maxCommands, weighed.which)
	}
	faultrig.Hold(t, "Redis held up by a renaming", held, maxTime)
}

// broken lets no script through that follows one that renames or retires: it
// knows them by how many keys they name.
type broken struct{ rueidis.Client }

func (b broken) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	words := cmd.Commands()
	if n, err := strconv.Atoi(words[min(2, len(words)-1)]); words[0] == "EVALSHA" && err == nil && (n == 2 || n == 8) {
		return b.Client.Do(ctx, b.Client.B().Arbitrary("CUT").Build()) // which Redis does not know
	}
	return b.Client.Do(ctx, cmd)
}

// What a node leaves that dies right after the step that renames, or retires, the
// next reaper does.
func TestARenamingThatWasInterruptedIsFinished(t *testing.T) {
	t.Parallel()
	for _, st := range []struct {
		name string
		do   func(context.Context, *Store, c3po.Space) error
	}{
		{"renamed", func(ctx context.Context, s *Store, space c3po.Space) error {
			return s.Rename(ctx, space, "bob", "robert", "")
		}},
		{"renamed twice", func(ctx context.Context, s *Store, space c3po.Space) error {
			return errors.Join(s.Rename(ctx, space, "bob", "bert", ""), s.Rename(ctx, space, "bert", "robert", ""))
		}},
		{"renamed and back", func(ctx context.Context, s *Store, space c3po.Space) error {
			return errors.Join(s.Rename(ctx, space, "bob", "robert", ""), s.Rename(ctx, space, "robert", "bob", ""))
		}},
		{"retired", func(ctx context.Context, s *Store, space c3po.Space) error {
			outcome, err := s.Retire(ctx, space, "carl", 0, false)
			if outcome != store.RetireDone {
				return fmt.Errorf("%s, %w", outcome, err)
			}
			return err
		}},
	} {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			now := time.UnixMilli(1_800_000_000_000)
			s, err := Open(t.Context(), Config{URL: redistest.Start(t), Now: func() time.Time { return now }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			fill := func(space c3po.Space) {
				prepare(t, s, space)
				if _, err := s.Claim(t.Context(), space, store.ClaimStep{Queue: "role/role-of-bob", Agent: "bob"}); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Invite(t.Context(), space, "room", "ana", "", false, "carl"); err != nil {
					t.Fatal(err)
				}
			}
			fill("whole")
			fill("cut")
			now = now.Add(s.limits.OnlineWindow)
			if err := st.do(t.Context(), s, "whole"); err != nil {
				t.Fatal(err)
			}
			real := s.commands
			s.commands = broken{real}
			if err := st.do(t.Context(), s, "cut"); err != nil {
				t.Fatal(err)
			}
			s.commands = real
			if cmp.Equal(held(t, s, "whole"), held(t, s, "cut")) {
				t.Fatal("nothing was left undone: the test has lost its point")
			}
			for _, space := range []c3po.Space{"whole", "cut"} {
				if _, err := s.Trim(t.Context(), space, 100); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(held(t, s, "whole"), held(t, s, "cut")); diff != "" {
				t.Errorf("after the reaper (-done at once +interrupted):\n%s", diff)
			}
		})
	}
}

// held is what a space holds, and who holds bob's task.
func held(t *testing.T, s *Store, space c3po.Space) map[string][]string {
	t.Helper()
	all := Holds(t, s, space)
	for _, fields := range all {
		slices.Sort(fields)
	}
	page, err := s.Inbox(t.Context(), space, "role/role-of-bob", store.InboxQuery{Limit: 1, Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	all["claim"] = []string{string(page.Entries[0].Facts.Claim.By)}
	return all
}

// With its mail stays whom of its sessions was told of it.
func TestARetiredAgentLeavesOnlyItsMail(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	s, err := Open(t.Context(), Config{URL: redistest.Shared(t), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	ctx, space := t.Context(), c3po.Space("only-mail")
	at := prepare(t, s, space)
	cast := postStep("to all")
	cast.Room, cast.To, cast.Kind, cast.Mentions = c3po.Everybody, c3po.Everybody.Address(), c3po.KindBroadcast, nil
	posted, err := s.Post(ctx, space, cast)
	if err != nil {
		t.Fatal(err)
	}
	for _, post := range []store.Post{at.post, posted.Post} {
		note := store.PostServedNote{ID: post.Message.ID, Seq: post.Message.Seq, Agent: "bob", Reader: "r"}
		if err := s.WriteNotes(ctx, space, store.Notes{ServedPosts: []store.PostServedNote{note}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Leave(ctx, space, "room", "bob", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Unregister(ctx, space, "bob", "", ""); err != nil {
		t.Fatal(err)
	}
	before := Holds(t, s, space)
	if len(before["reads:bob"]) == 0 {
		t.Fatal("bob has read nothing: the test has lost its point")
	}
	if outcome, err := s.Retire(ctx, space, "bob", 0, false); err != nil || outcome != store.RetireDone {
		t.Fatal(outcome, err)
	}
	var left []string
	for key := range Holds(t, s, space) {
		if kind, ok := strings.CutSuffix(key, ":bob"); ok {
			left = append(left, kind)
		}
	}
	slices.Sort(left)
	if diff := cmp.Diff([]string{"body", "box", "ended", "fact", "inbox", "mark"}, left); diff != "" {
		t.Errorf("what is left of it (-want +got):\n%s", diff)
	}
}
