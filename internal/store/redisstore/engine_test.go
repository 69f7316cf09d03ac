package redisstore_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func register(t *testing.T, s *redisstore.Store, ids ...c3po.AgentID) {
	t.Helper()
	for _, id := range ids {
		if _, err := s.Register(t.Context(), "main", store.RegisterStep{Want: id}); err != nil {
			t.Fatal(err)
		}
	}
}

func send(t *testing.T, s *redisstore.Store, text string) (c3po.MessageID, error) {
	t.Helper()
	stored, err := s.Send(t.Context(), "main", store.SendStep{
		Draft: store.Draft{From: "ana", To: "bob", Kind: c3po.KindMessage, Text: text}, Durability: c3po.OnDisk,
	})
	return stored.Message.ID, err
}

func do(t *testing.T, addr string, words ...string) string {
	t.Helper()
	reply, err := redistest.Do(addr, words...)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(reply)
}

// info reads one number of INFO; 0 if it is not there.
func info(t *testing.T, addr, section, name string) int {
	t.Helper()
	for line := range strings.Lines(do(t, addr, "INFO", section)) {
		if rest, found := strings.CutPrefix(strings.TrimSpace(line), name); found {
			digits := strings.TrimLeft(rest, ":cals=")
			end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
			if end >= 0 {
				digits = digits[:end]
			}
			n, err := strconv.Atoi(digits)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return 0
}

func TestAThousandReadsRunOnlyReadOnlyScriptsAndGrowNoLog(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	s := open(t, server.URL(), c3po.DefaultLimits(), nil)
	register(t, s, "ana", "bob")
	id, err := send(t, s, "hello")
	if err != nil {
		t.Fatal(err)
	}
	scripts, log := info(t, server.Addr(), "commandstats", "cmdstat_evalsha:"), info(t, server.Addr(), "persistence", "aof_current_size")
	ctx := t.Context()
	for range 125 {
		for name, read := range map[string]func() error{
			"inbox": func() error {
				_, err := s.Inbox(ctx, "main", "bob", store.InboxQuery{Limit: 10, Bytes: 1000})
				return err
			},
			"next":    func() error { _, err := s.Next(ctx, "main", "bob", store.NextQuery{Reader: "r"}); return err },
			"message": func() error { _, err := s.Message(ctx, "main", id); return err },
			"answers": func() error { _, err := s.Answers(ctx, "main", id); return err },
			"thread":  func() error { _, err := s.Thread(ctx, "main", string(id), 0, 10); return err },
			"agents":  func() error { _, err := s.AgentPage(ctx, "main", 0, 10); return err },
			"online":  func() error { _, err := s.OnlineCount(ctx, "main"); return err },
			"events":  func() error { _, err := s.Events(ctx, "main", 0, 10); return err },
		} {
			if err := read(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	if got := info(t, server.Addr(), "commandstats", "cmdstat_evalsha:"); got != scripts {
		t.Errorf("%d writing scripts ran during 1,000 reads", got-scripts)
	}
	if got := info(t, server.Addr(), "persistence", "aof_current_size"); got != log {
		t.Errorf("1,000 reads grew the log by %d bytes", got-log)
	}
	if got := info(t, server.Addr(), "commandstats", "cmdstat_evalsha_ro:"); got < 750 {
		t.Errorf("%d read-only scripts counted, want at least 750: the counters are not what this test thinks", got)
	}
}

func TestAFullStoreRefusesSendsAndCanBeDrained(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	s := open(t, server.URL(), c3po.DefaultLimits(), nil)
	register(t, s, "ana", "bob")
	var ids []c3po.MessageID
	for i := range 10 {
		id, err := send(t, s, fmt.Sprint("message ", i))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	do(t, server.Addr(), "CONFIG", "SET", "maxmemory", "1mb")

	if _, err := send(t, s, "one too many"); !errors.Is(err, c3po.StoreFull) {
		t.Errorf("send to a full store = %v, want %s", err, c3po.StoreFull)
	}
	page, err := s.Inbox(t.Context(), "main", "bob", store.InboxQuery{Limit: 100, Bytes: 1 << 20})
	if err != nil || len(page.Entries) != len(ids) {
		t.Errorf("a full store shows %d messages, %v, want %d", len(page.Entries), err, len(ids))
	}
	outcomes, err := s.Ack(t.Context(), "main", "bob", "", ids)
	if err != nil {
		t.Fatalf("ack on a full store: %v", err)
	}
	for i, outcome := range outcomes {
		if outcome != store.AckDone {
			t.Errorf("ack of message %d on a full store = %s", i, outcome)
		}
	}
	do(t, server.Addr(), "CONFIG", "SET", "maxmemory", "0")
	if _, err := send(t, s, "there is room again"); err != nil {
		t.Errorf("send after the store was drained: %v", err)
	}
}

// What is acked goes when Redis needs the memory, and nothing else does.
func TestAtMaxmemoryAckingMakesRoom(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, "--maxmemory", "6mb", "--maxmemory-policy", "noeviction")
	limits := c3po.DefaultLimits().Unbudgeted()
	limits.SenderShare = 1
	s := open(t, server.URL(), limits, nil)
	register(t, s, "ana", "bob")
	var ids []c3po.MessageID
	fill := func(most int) error {
		for len(ids) < most {
			id, err := send(t, s, fmt.Sprintf("%06d", len(ids))+strings.Repeat("x", 3_000))
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	}
	if err := fill(math.MaxInt); !errors.Is(err, c3po.StoreFull) || len(ids) < 100 {
		t.Fatalf("after %d messages: %v", len(ids), err)
	}
	acked, unread := ids[:len(ids)/2], ids[len(ids)/2:]
	if _, err := s.Ack(t.Context(), "main", "bob", "", acked); err != nil {
		t.Fatal(err)
	}
	ids = nil
	for end := time.Now().Add(10 * time.Second); len(ids) < len(acked)/4; {
		// No more than that: what makes room works beside this, and would go on.
		if err := fill(len(acked) / 4); err != nil && (!errors.Is(err, c3po.StoreFull) || time.Now().After(end)) {
			t.Fatalf("%d messages were acked, and only %d accepted since: %v", len(acked), len(ids), err)
		}
	}
	if entry, err := s.Message(t.Context(), "main", acked[0]); err != nil || entry != nil {
		t.Errorf("the oldest that was acked is %+v, %v: it should have made room", entry, err)
	}
	if entry, err := s.Message(t.Context(), "main", acked[len(acked)-1]); err != nil || entry == nil {
		t.Errorf("the newest that was acked is forgotten as well: %v", err)
	}
	t.Logf("%d messages acked, %d accepted since", len(acked), len(ids))
	for _, id := range append(unread, ids...) {
		if entry, err := s.Message(t.Context(), "main", id); err != nil || entry == nil || entry.State != c3po.StatePending {
			t.Fatalf("unread mail %s is %+v, %v", id, entry, err)
		}
	}
}

func TestTwoThousandSessionsDoNotMakeAMessageDearToRead(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	s := open(t, server.URL(), c3po.DefaultLimits(), nil)
	register(t, s, "ana", "bob")
	id, err := send(t, s, "hello")
	if err != nil {
		t.Fatal(err)
	}
	const sessions, mark = 2000, "c3po:1:{main}:mark:bob"
	tell := func(from, to int, at time.Time) {
		t.Helper()
		var notes store.Notes
		for n := from; n < to; n++ {
			notes.Notified = append(notes.Notified, store.NotifiedNote{Agent: "bob", Reader: fmt.Sprintf("session-%04d", n), Route: "hook", Seq: 3, At: at})
		}
		if err := s.WriteNotes(t.Context(), "main", notes); err != nil {
			t.Fatal(err)
		}
	}
	told := func() []store.NotifiedNote {
		t.Helper()
		e, err := s.Message(t.Context(), "main", id)
		if err != nil {
			t.Fatal(err)
		}
		return e.Facts.Notified
	}
	tell(0, sessions, time.UnixMilli(1))
	if kept := do(t, server.Addr(), "HLEN", mark); kept != fmt.Sprint(store.MaxMarkedReaders) {
		t.Errorf("%s marks of %d sessions are kept, want %d", kept, sessions, store.MaxMarkedReaders)
	}
	if n := len(told()); n != store.MaxMarkedReaders {
		t.Errorf("a message says of %d sessions that they were told, want %d", n, store.MaxMarkedReaders)
	}
	// As an older coordinator left it.
	for n := range sessions {
		do(t, server.Addr(), "HSET", mark, fmt.Sprintf("old-%04d", n), `{"q":3,"a":1,"o":"hook"}`)
	}
	if n := len(told()); n > store.MaxMarkedReaders {
		t.Errorf("before the first note %d marks are read, want at most %d", n, store.MaxMarkedReaders)
	}
	tell(sessions, sessions+200, time.UnixMilli(2))
	if kept := do(t, server.Addr(), "HLEN", mark); kept != fmt.Sprint(store.MaxMarkedReaders) {
		t.Errorf("%s of the marks that an older coordinator left are kept, want %d", kept, store.MaxMarkedReaders)
	}
}

// A restart replaces what the run before it left, so that no number of restarts
// fills a store that has no room.
func TestRestartsInAFullStoreDoNotAddUp(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	limits := c3po.DefaultLimits()
	limits.OnlineWindow, limits.EventEntries = time.Millisecond, 100
	s := open(t, server.URL(), limits, nil)
	restart := func(run int) {
		t.Helper()
		metadata := fmt.Sprintf(`{"run":"%08d","why":%q}`, run, strings.Repeat("x", 1000))
		if _, err := s.Register(t.Context(), "main", store.RegisterStep{
			Want: "ana", Run: fmt.Sprintf("box:%08d:1", run), Session: fmt.Sprintf("session-%08d", run), Explicit: true,
			Profile: store.Profile{Metadata: []byte(metadata), Capabilities: []string{fmt.Sprintf("role-%08d", run)}},
		}); err != nil {
			t.Fatalf("restart %d in a full store: %v", run, err)
		}
		if _, err := s.Unregister(t.Context(), "main", "ana", fmt.Sprintf("box:%08d:1", run), ""); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 {
		restart(i)
	}
	do(t, server.Addr(), "CONFIG", "SET", "maxmemory", "1mb")
	before := info(t, server.Addr(), "memory", "used_memory_dataset")
	const restarts = 1000
	for i := range restarts {
		restart(50 + i)
	}
	// Of a role only its name stays, because it may have mail: about 200 bytes a
	// restart, as the tables of Redis grow. What must not stay is the kilobyte of metadata.
	if grew := info(t, server.Addr(), "memory", "used_memory_dataset") - before; grew > restarts*500 {
		t.Errorf("%d restarts added %d bytes", restarts, grew)
	}
	if _, err := s.Register(t.Context(), "main", store.RegisterStep{Want: "stranger"}); !errors.Is(err, c3po.StoreFull) {
		t.Errorf("a new agent in a full store = %v, want %s", err, c3po.StoreFull)
	}
}

func TestAFlippedBitIsFoundByTheChecksum(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	s := open(t, server.URL(), c3po.DefaultLimits(), nil)
	register(t, s, "ana", "bob")
	id, err := send(t, s, "the truth")
	if err != nil {
		t.Fatal(err)
	}
	_, _, hex := id.Split()
	stored := do(t, server.Addr(), "HGET", "c3po:1:{main}:body:bob", hex)
	do(t, server.Addr(), "HSET", "c3po:1:{main}:body:bob", hex, strings.Replace(stored, "truth", "trush", 1))

	e, err := s.Message(t.Context(), "main", id)
	if err != nil {
		t.Fatal(err)
	}
	if !e.Corrupt || e.Message.Message != "" {
		t.Errorf("a damaged body is shown as %q, corrupt %v", e.Message.Message, e.Corrupt)
	}
}

// What is damaged is in nobody's way: the rest is read and acked, it is put away
// as a dead letter and can be forgotten, but never delivered again.
func TestADamagedMessageIsPutAwayWhateverIsDamaged(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	s := open(t, server.URL(), c3po.DefaultLimits(), nil)
	register(t, s, "ana", "bob")
	space := func(key string) string { return "c3po:1:{main}:" + key }
	for name, damage := range map[string]func(hex, fact string){
		"who wrote it": func(hex, fact string) {
			do(t, server.Addr(), "HSET", space("fact:bob"), hex, strings.Replace(fact, `"ana"`, `"ena"`, 1))
		},
		"its kind": func(hex, fact string) {
			do(t, server.Addr(), "HSET", space("fact:bob"), hex, strings.Replace(fact, `"message"`, `"massage"`, 1))
		},
		"a character of the thread of a notice": func(hex, fact string) {
			do(t, server.Addr(), "HSET", space("fact:bob"), hex, strings.NewReplacer(`"ana"`, `"system"`, "::bob", ":\x1abob").Replace(fact))
		},
		"its number": func(hex, fact string) {
			do(t, server.Addr(), "HSET", space("fact:bob"), hex, strings.Replace(fact, `"q":`, `"q":1`, 1))
		},
		"all of its facts": func(hex, _ string) { do(t, server.Addr(), "HSET", space("fact:bob"), hex, `{"a":1`) },
		"its size": func(hex, fact string) {
			do(t, server.Addr(), "HSET", space("fact:bob"), hex, strings.Replace(fact, `"z":`, `"y":`, 1))
		},
		"facts that are gone": func(hex, _ string) { do(t, server.Addr(), "HDEL", space("fact:bob"), hex) },
		"a body that is gone": func(hex, _ string) { do(t, server.Addr(), "HDEL", space("body:bob"), hex) },
	} {
		t.Run(name, func(t *testing.T) {
			bad, err := send(t, s, "to be damaged: "+name)
			if err != nil {
				t.Fatal(err)
			}
			good, err := send(t, s, "sound beside: "+name)
			if err != nil {
				t.Fatal(err)
			}
			_, _, hex := bad.Split()
			damage(hex, do(t, server.Addr(), "HGET", space("fact:bob"), hex))

			page, err := s.Inbox(t.Context(), "main", "bob", store.InboxQuery{Limit: 10, Bytes: 1 << 20})
			if err != nil || len(page.Entries) != 2 || !page.Entries[0].Corrupt || page.Entries[1].Corrupt {
				t.Fatalf("the inbox has %d messages, %v; want a damaged one and a sound one", len(page.Entries), err)
			}
			next, err := s.Next(t.Context(), "main", "bob", store.NextQuery{Reader: "r"})
			if err != nil || next.Entry == nil || !next.Entry.Corrupt || next.Entry.Message.Message != "" {
				t.Fatalf("next is not the damaged one: %v", err)
			}
			id := page.Entries[0].Message.ID
			if buried, err := s.Bury(t.Context(), "main", id, c3po.ReasonCorrupt, "a bounce"); err != nil || !buried {
				t.Fatalf("Bury = %v, %v", buried, err)
			}
			letters, err := s.DeadLetters(t.Context(), "main", 0, 10)
			if err != nil || len(letters) != 1 || !letters[0].Entry.Corrupt && !letters[0].Entry.BodyGone || letters[0].Entry.Reason != c3po.ReasonCorrupt {
				t.Errorf("%d dead letters, %v; want the damaged one", len(letters), err)
			}
			if done, err := s.Ack(t.Context(), "main", "bob", "", []c3po.MessageID{good}); err != nil || done[0] != store.AckDone {
				t.Errorf("ack of the sound one = %v, %v", done, err)
			}
			if left, err := s.InboxSize(t.Context(), "main", "bob"); err != nil || left != 0 {
				t.Errorf("%d messages are left in the inbox, %v", left, err)
			}
			if purged, err := s.Purge(t.Context(), "main", id); err != nil || !purged {
				t.Errorf("Purge = %v, %v", purged, err)
			}
		})
	}
}

func TestPendingMailSurvivesAKilledRedis(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, "--appendfsync", "always")
	s := open(t, server.URL(), c3po.DefaultLimits(), nil)
	register(t, s, "ana", "bob")
	id, err := send(t, s, "keep me")
	if err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if _, err := send(t, s, "into the void"); !errors.Is(err, c3po.RedisUnavailable) && !errors.Is(err, c3po.UnknownOutcome) {
		t.Errorf("send without Redis = %v, want an honest %s or %s", err, c3po.RedisUnavailable, c3po.UnknownOutcome)
	}
	server.Restart()
	e, err := s.Message(t.Context(), "main", id)
	if err != nil || e == nil || e.Message.Message != "keep me" {
		t.Errorf("after a restart: %+v, %v", e, err)
	}
}

func TestASpaceOfANewerSchemaIsRefusedInWords(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	do(t, server.Addr(), "HSET", "c3po:1:{main}:meta", "min_reader", "2")
	s := open(t, server.URL(), c3po.DefaultLimits(), nil)
	_, err := s.Register(t.Context(), "main", store.RegisterStep{Want: "ana"})
	if err == nil || !strings.Contains(err.Error(), "newer coordinator") {
		t.Errorf("Register = %v, want a refusal that names the newer schema", err)
	}
}
