package redisstore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// Limits in bytes mean bytes of Redis: what the books say a space holds is what
// its MEMORY USAGE says, whatever is sent.
func TestAccountsAreWhatRedisHolds(t *testing.T) {
	t.Parallel()
	short, page, long := "a question?", strings.Repeat("sixteen letters ", 64), strings.Repeat("0123456789", 5_000)
	source := strings.Repeat("\tif a < b && \"x\" != y {\n\t\treturn\n\t}\n", 30)
	unicode := strings.Repeat("Grüße, 世界! 👋 ", 40)
	colours := strings.Repeat("\x1b[32m--- PASS\x1b[0m: TestName (0.00s)\r\n", 40)
	pair := func(int) (from, to c3po.AgentID) { return "ana", "bob" }
	hosts := func(int) (from, to c3po.AgentID) { return "laptop/frontend", "nas-2/backend" }
	many := func(n int) (from, to c3po.AgentID) { return "lead", c3po.AgentID(fmt.Sprintf("worker-%d", n%50)) }
	for _, test := range []struct {
		name   string
		count  int
		who    func(int) (from, to c3po.AgentID)
		texts  []string
		change func(*store.SendStep)
	}{
		{"short mail", 500, pair, []string{short}, nil},
		{"short mail between hosts", 500, hosts, []string{short}, nil},
		{"pages", 300, pair, []string{page}, nil},
		{"the longest there are", 60, pair, []string{long}, nil},
		{"source text", 300, hosts, []string{source}, nil},
		{"unicode", 300, hosts, []string{unicode}, nil},
		{"control characters", 30, pair, []string{strings.Repeat("\x1b", 49_990)}, nil},
		{"zeros", 150, pair, []string{strings.Repeat("\x00", 2_000)}, nil},
		{"line separators", 150, pair, []string{strings.Repeat("\u2028", 800)}, nil},
		{"a coloured log", 150, hosts, []string{colours}, nil},
		{"all that is escaped", 150, pair, []string{strings.Repeat("\x7f\b\f\v\r\u2029\\/<>&'", 100)}, nil},
		{"marks in metadata", 150, pair, []string{short}, func(s *store.SendStep) { s.Metadata = []byte(`"` + strings.Repeat("<b>&\u2028", 100) + `"`) }},
		{"a mix in one big inbox", 600, hosts, []string{short, short, short, page, page, unicode, source, long}, nil},
		{"many small agents", 1_000, many, []string{short, short, page}, nil},
		{"mail with keys", 500, hosts, []string{short, page}, func(s *store.SendStep) { s.Key = fmt.Sprintf("%032x", len(s.Text)+int(s.Text[0])<<16) + s.Text[:6] }},
		{"mail that expects nothing", 500, hosts, []string{short}, func(s *store.SendStep) { s.ExpectsReply = false }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBalance(t)
			var ids []c3po.MessageID
			before := b.holds()
			for n := range test.count {
				from, to := test.who(n)
				b.enter(from, to)
				step := store.SendStep{Durability: c3po.OnDisk}
				step.Draft = store.Draft{From: from, To: to, Kind: c3po.KindMessage, ExpectsReply: true, Text: fmt.Sprintf("%06d", n) + test.texts[n%len(test.texts)]}
				if test.change != nil {
					test.change(&step)
				}
				stored, err := b.store.Send(t.Context(), "main", step)
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, stored.Message.ID)
			}
			b.compare("unread", b.books().PendingBytes, before)

			// Dealt with and a day old, so that the keys are forgotten.
			for _, id := range ids {
				_, to, _ := id.Split()
				served := store.Notes{Served: []store.ServedNote{{ID: id, Reader: "session", Route: "mcp", At: b.now}}}
				if err := b.store.WriteNotes(t.Context(), "main", served); err != nil {
					t.Fatal(err)
				}
				if _, err := b.store.Ack(t.Context(), "main", to, "", []c3po.MessageID{id}); err != nil {
					t.Fatal(err)
				}
			}
			b.day()
			b.compare("ended", b.books().EndedBytes, before)
		})
	}
}

func TestTheBytesOfARoomAreWhatRedisHolds(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"control characters": strings.Repeat("\x1b", 1_000), "line separators": strings.Repeat("\u2028", 800)}
	for _, size := range []int{11, 37, 50, 105, 133, 250, 500, 768, 1_000, 1_024, 1_500, 1_950, 2_000, 3_000, 3_990, 4_090, 5_000, 20_000, 49_990} {
		texts[fmt.Sprint(size, " characters")] = strings.Repeat("x", size)
	}
	for name, text := range texts {
		b := newBalance(t)
		b.enter("laptop/frontend")
		if _, err := b.store.Join(t.Context(), "main", store.JoinStep{Room: "room", Agent: "laptop/frontend", Visibility: c3po.Public}); err != nil {
			t.Fatal(err)
		}
		before, weighs := b.holds(), int64(0)
		for n := range 300 {
			step := store.PostStep{Durability: c3po.OnDisk}
			step.Draft = store.Draft{From: "laptop/frontend", To: "#room", Room: "room", Kind: c3po.KindPost, Text: fmt.Sprintf("%06d", n) + text}
			posted, err := b.store.Post(t.Context(), "main", step)
			if err != nil {
				t.Fatal(err)
			}
			weighs += int64(posted.Post.Facts.Bytes)
		}
		b.day()
		b.compare("posts, "+name, weighs, before)
	}
}

// A balance weighs a space.
type balance struct {
	*testing.T
	store   *Store
	addr    string
	now     time.Time
	entered map[c3po.AgentID]bool
}

// below and above are how far the books may be off. They are those of Redis 7 to 8.4: no
// server may hold much more than they say, and newer ones hold less. Valkey has smaller
// streams, and from 9 on smaller hashes; Redis has smaller streams from 8.6 on.
const below = 0.15

func (b *balance) above() float64 {
	b.Helper()
	info, err := redistest.Do(b.addr, "INFO", "server")
	if err != nil {
		b.Fatal(err)
	}
	_, redis, _ := strings.Cut(fmt.Sprint(info), "redis_version:")
	switch _, version, valkey := strings.Cut(fmt.Sprint(info), "valkey_version:"); {
	case valkey && strings.HasPrefix(version, "8."):
		return 0.20
	case valkey:
		return 0.25
	case strings.HasPrefix(redis, "7.") || strings.HasPrefix(redis, "8.0.") || strings.HasPrefix(redis, "8.2.") || strings.HasPrefix(redis, "8.4."):
		return 0.15
	default:
		return 0.45
	}
}

func newBalance(t *testing.T) *balance {
	t.Helper()
	limits := c3po.DefaultLimits().Unbudgeted()
	limits.InboxMessages, limits.SenderShare, limits.EndedLife = 1<<20, 1, 30*24*time.Hour
	b := &balance{T: t, now: time.UnixMilli(1_800_000_000_000), entered: map[c3po.AgentID]bool{}}
	b.addr = strings.TrimPrefix(redistest.Start(t, "--appendonly", "no"), "redis://")
	var err error
	if b.store, err = Open(t.Context(), Config{URL: "redis://" + b.addr, Limits: limits, Now: func() time.Time { return b.now }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.store.Close)
	return b
}

// enter registers agents, whose records are not mail.
func (b *balance) enter(ids ...c3po.AgentID) {
	b.Helper()
	for _, id := range ids {
		if b.entered[id] {
			continue
		}
		b.entered[id] = true
		if _, err := b.store.Register(b.Context(), "main", store.RegisterStep{Want: id}); err != nil {
			b.Fatal(err)
		}
	}
}

// day lets one pass, with what is done then.
func (b *balance) day() {
	b.Helper()
	for range 2 {
		if _, err := b.store.Tick(b.Context(), "main", "node", 24*time.Hour); err != nil {
			b.Fatal(err)
		}
		b.now = b.now.Add(24 * time.Hour)
	}
	for {
		if n, err := b.store.Trim(b.Context(), "main", 500); err != nil || n == 0 {
			if err != nil {
				b.Fatal(err)
			}
			return
		}
	}
}

func (b *balance) books() store.Counters {
	b.Helper()
	books, err := b.store.Counters(b.Context(), "main")
	if err != nil {
		b.Fatal(err)
	}
	return books
}

// holds adds up what Redis holds of mail and its indexes: the log of events, the
// records of agents and what belongs to no space are not mail.
func (b *balance) holds() (bytes int64) {
	b.Helper()
	do := func(args ...string) any {
		answer, err := redistest.Do(b.addr, args...)
		if err != nil {
			b.Fatal(err)
		}
		return answer
	}
	for _, key := range do("KEYS", "c3po:1:{main}:*").([]any) {
		_, name, _ := strings.Cut(key.(string), "}:")
		name, _, _ = strings.Cut(name, ":")
		switch name {
		case "inbox", "body", "fact", "ended", "expire", "threads", "tickets", "dead", "idem", "idemx", "room":
			if n, isNumber := do("MEMORY", "USAGE", key.(string), "SAMPLES", "0").(int64); isNumber {
				bytes += n
			}
		}
	}
	return bytes
}

func (b *balance) compare(what string, account, before int64) {
	b.Helper()
	holds := b.holds() - before
	off := float64(account-holds) / float64(holds)
	b.Logf("%s: the books say %d bytes, Redis holds %d: %+.1f %%", what, account, holds, 100*off)
	if most := b.above(); off > most || off < -below {
		b.Errorf("%s: the books say %d bytes, Redis holds %d: %+.1f %%, want %+.0f to %+.0f %%", what, account, holds, 100*off, -100*below, 100*most)
	}
}
