package move

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/testkit/seed"
)

// A try of the property is a life on two machines, so there are fewer than
// rapid makes by itself; -rapid.checks still says how many.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", strconv.Itoa(faultrig.Size(25, 1_000))); err != nil {
		panic(err)
	}
	redistest.Main(m)
}

// A tester is a test, or one try of rapid's.
type tester interface {
	rapid.TB
	Context() context.Context
}

// A machine is a Redis with a hub before it.
type machine struct {
	url   string
	store *redisstore.Store
	hub   *hub.Hub
}

func newMachine(t *testing.T) machine {
	t.Helper()
	m := machine{url: redistest.Start(t)}
	m.open(t)
	t.Cleanup(func() { m.store.Close() })
	return m
}

func (m *machine) open(t tester) {
	t.Helper()
	limits := c3po.DefaultLimits().Unbudgeted()
	limits.SendsPerMinute = 0
	store, err := redisstore.Open(t.Context(), redisstore.Config{URL: m.url, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	m.store, m.hub = store, hub.New(hub.Config{Store: store, Limits: limits})
}

// anew is the same machine, with nothing in it and nothing in anybody's memory.
func (m machine) anew(t *rapid.T) machine {
	if _, err := redistest.Do(strings.TrimPrefix(m.url, "redis://"), "FLUSHALL"); err != nil {
		t.Fatal(err)
	}
	m.open(t)
	t.Cleanup(m.store.Close)
	return m
}

func (m machine) as(id c3po.AgentID) *hub.Actor {
	return m.hub.As(c3po.Caller{Space: "main", ID: id, Role: c3po.RoleAdmin})
}

func (m machine) export(t tester) []byte {
	t.Helper()
	var out bytes.Buffer
	now := func() time.Time { return time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC) }
	if _, err := Export(t.Context(), ExportConfig{RedisURL: m.url, Version: "test", Host: "laptop", Now: now}, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (m machine) take(t tester, export []byte) Imported {
	t.Helper()
	done, err := Import(t.Context(), ImportConfig{RedisURL: m.url, Version: "test"}, bytes.NewReader(export))
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// unread is what an agent has to read, in its order: mail and posts.
func (m machine) unread(t tester, id c3po.AgentID) []string {
	t.Helper()
	var texts []string
	for cursor := ""; ; {
		page, err := m.as(id).GetMessages(t.Context(), c3po.GetMessagesInput{Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range page.Messages {
			texts = append(texts, got.Text())
		}
		if cursor = page.Next; cursor == "" {
			return texts
		}
	}
}

// life makes some of what agents do; what is refused is refused.
func life(t *rapid.T, m machine, salt string) {
	ctx := t.Context()
	ids := []c3po.AgentID{"api", "web", "db", "box/build"}
	for _, id := range ids {
		if _, err := m.as(id).RegisterAgent(ctx, c3po.RegisterInput{Capabilities: []string{"review"}, Metadata: json.RawMessage(`{"n":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range rapid.IntRange(0, 25).Draw(t, "steps") {
		who := m.as(rapid.SampledFrom(ids).Draw(t, "who"))
		other := string(rapid.SampledFrom(append(ids, "role:review", "human")).Draw(t, "other"))
		room := rapid.SampledFrom([]c3po.RoomName{"dev", "ops"}).Draw(t, "room")
		text := fmt.Sprintf("%s %d", salt, n)
		_, _ = who.RoomJoin(ctx, c3po.RoomJoinInput{Room: "dev"})
		switch rapid.SampledFrom([]string{"send", "urgent", "ask", "ack", "reply", "hand over", "join", "secret", "post", "mention", "human", "rename", "leave"}).Draw(t, "what") {
		case "send":
			_, _ = who.SendMessage(ctx, c3po.SendInput{Target: other, Message: text, Context: "why", Thread: rapid.SampledFrom([]string{"", "release"}).Draw(t, "thread")})
		case "urgent":
			_, _ = who.SendMessage(ctx, c3po.SendInput{Target: other, Message: text, Priority: c3po.Urgent})
		case "ask":
			_, _ = who.SendMessage(ctx, c3po.SendInput{Target: other, Message: text, Metadata: json.RawMessage(`{"a":[1]}`)})
		case "ack", "reply", "hand over":
			page, err := who.GetMessages(ctx, c3po.GetMessagesInput{Limit: 3})
			if err != nil || len(page.Messages) == 0 {
				continue
			}
			got := page.Messages[rapid.IntRange(0, len(page.Messages)-1).Draw(t, "message")]
			if n%3 == 0 {
				_, _ = who.AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{got.ID}})
				continue
			}
			in := c3po.ReplyInput{MessageID: got.ID, Response: text}
			if n%3 == 1 {
				in.Status, in.HandedTo = c3po.ReplyHandedOver, rapid.SampledFrom(ids).Draw(t, "next")
			}
			_, _ = who.Reply(ctx, in)
		case "join":
			_, _ = who.RoomJoin(ctx, c3po.RoomJoinInput{Room: room})
		case "secret":
			_, _ = who.RoomJoin(ctx, c3po.RoomJoinInput{Room: "secret", Visibility: c3po.InviteOnly})
		case "post":
			_, _ = who.RoomPost(ctx, c3po.RoomPostInput{Room: room, Message: text})
		case "mention":
			_, _ = who.RoomPost(ctx, c3po.RoomPostInput{Room: room, Message: text + " @" + other})
		case "human":
			_, _ = who.EscalateToHuman(ctx, c3po.EscalateInput{Reason: text, Choices: []string{"yes", "no"}, Deadline: "1h"})
		case "rename":
			_, _ = who.Rename(ctx, c3po.RenameInput{NewID: "new-" + salt})
		case "leave":
			_, _ = who.RoomLeave(ctx, c3po.RoomInput{Room: room})
		}
	}
}

// things are those of an export, with posts called by their place in the file: their
// numbers are of a space, and nothing outside their room speaks of them.
func things(t tester, export []byte) []store.Moved {
	t.Helper()
	f, err := read(bytes.NewReader(export))
	if err != nil {
		t.Fatal(err)
	}
	places := map[c3po.MessageID]c3po.MessageID{}
	for _, m := range f.things["main"] {
		if m.Post != nil {
			from, to, _ := m.Post.ID.Split()
			places[m.Post.ID] = c3po.NewMessageID(from, to, fmt.Sprintf("%08x", len(places)))
			m.Post.ID = places[m.Post.ID]
		}
		if m.Member != nil {
			m.Member.Read = places[m.Member.Read]
			for i, id := range m.Member.Skips {
				m.Member.Skips[i] = places[id]
			}
		}
	}
	return f.things["main"]
}

// renamed is what things are called where they go, if nothing is in their way.
func renamed(all []store.Moved) []store.Moved {
	n := names{host: "laptop"}
	var out []store.Moved
	for _, m := range all {
		switch {
		case m.Agent != nil:
			is := n.movedAgent(*m.Agent)
			m.Agent = &is
		case m.Room != nil:
			is := n.movedRoom(*m.Room)
			m.Room = &is
		case m.Post != nil:
			is := n.movedPost(*m.Post)
			m.Post = &is
		case m.Message != nil:
			is := n.movedMessage(*m.Message)
			m.Message = &is
		default:
			is := *m.Member
			is.Agent, is.Read = n.agent(is.Agent), n.message(is.Read)
			is.Skips = nil
			for _, id := range m.Member.Skips {
				is.Skips = append(is.Skips, n.message(id))
			}
			m.Member = &is
		}
		out = append(out, m)
	}
	return out
}

func (m *machine) openTickets(t *rapid.T) int {
	open, err := m.store.OpenTickets(t.Context(), "main", 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

// What was exported, imported and exported again is the same up to the names; every
// message that was unread is unread, in the same order; and importing again, also
// after an import that got only half way, changes nothing.
func TestWhatIsMovedIsTheSameUpToItsNames(t *testing.T) {
	t.Parallel()
	one, other := newMachine(t), newMachine(t)
	seed.Check(t, func(t *rapid.T) {
		laptop, nas := one.anew(t), other.anew(t)
		life(t, laptop, "a")
		export := laptop.export(t)
		all := things(t, export)

		lines := strings.SplitAfter(strings.TrimSuffix(string(export), "\n"), "\n")
		if cut := rapid.IntRange(0, len(all)).Draw(t, "half"); cut > 0 {
			var half Counts
			for _, m := range all[:cut] {
				half.add(m)
			}
			end, err := json.Marshal(line{End: &half})
			if err != nil {
				t.Fatal(err)
			}
			nas.take(t, []byte(strings.Join(lines[:cut+1], "")+string(end)))
		}
		nas.take(t, export)
		if diff := cmp.Diff(renamed(all), things(t, nas.export(t))); diff != "" {
			t.Fatalf("(-renamed +there):\n%s", diff)
		}
		before, err := nas.store.Counters(t.Context(), "main")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			if m.Agent == nil {
				continue
			}
			want, got := laptop.unread(t, m.Agent.ID), nas.unread(t, (names{host: "laptop"}).agent(m.Agent.ID))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-here +there):\n%s", m.Agent.ID, diff)
			}
		}
		if here, there := laptop.openTickets(t), nas.openTickets(t); here != there {
			t.Fatalf("%d tickets are open here, %d there", here, there)
		}
		again := nas.take(t, export)
		if again.Spaces[0].New != (Counts{}) || again.Spaces[0].Already != len(all) {
			t.Fatalf("importing again did %+v", again.Spaces[0])
		}
		after, err := nas.store.Counters(t.Context(), "main")
		if err != nil {
			t.Fatal(err)
		}
		after.Agents, after.Seq = before.Agents, max(before.Seq, after.Seq) // reading registers who reads
		if before.Seq = after.Seq; before != after {
			t.Fatalf("importing again changed the books: %+v, %+v", before, after)
		}
	})
}

// Both machines have agents, rooms and questions of the same names and numbers.
func TestNothingOfTheTwoMachinesIsMixedUp(t *testing.T) {
	t.Parallel()
	laptop, nas := newMachine(t), newMachine(t)
	ctx := t.Context()
	said := map[string]machine{"laptop": laptop, "nas": nas}
	for name, m := range said {
		for _, id := range []c3po.AgentID{"api", "web"} {
			if _, err := m.as(id).RoomJoin(ctx, c3po.RoomJoinInput{Room: "dev", Visibility: c3po.InviteOnly}); err != nil && id == "api" {
				t.Fatal(err)
			}
			if _, err := m.as(id).RegisterAgent(ctx, c3po.RegisterInput{}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := m.as("web").SendMessage(ctx, c3po.SendInput{Target: "api", Message: "mail of the " + name}); err != nil {
			t.Fatal(err)
		}
		if _, err := m.as("api").RoomPost(ctx, c3po.RoomPostInput{Room: "dev", Message: "secret of the " + name}); err != nil {
			t.Fatal(err)
		}
		if _, err := m.as("web").EscalateToHuman(ctx, c3po.EscalateInput{Reason: "question of the " + name}); err != nil {
			t.Fatal(err)
		}
	}
	done := nas.take(t, laptop.export(t))
	space := done.Spaces[0]
	if diff := cmp.Diff([]Renaming{{"api", "laptop/api"}, {"web", "laptop/web"}}, space.Agents); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Renaming{{"dev", "laptop-dev"}}, space.Rooms); diff != "" {
		t.Errorf("rooms (-want +got):\n%s", diff)
	}
	if space.Numbers != 1 {
		t.Errorf("%d messages got another number, want the question alone", space.Numbers)
	}
	for id, want := range map[c3po.AgentID][]string{"api": {"mail of the nas"}, "laptop/api": {"mail of the laptop"}} {
		if diff := cmp.Diff(want, nas.unread(t, id)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	for room, want := range map[c3po.RoomName]string{"dev": "secret of the nas", "laptop-dev": "secret of the laptop"} {
		history, err := nas.as("api").RoomHistory(ctx, c3po.RoomHistoryInput{Room: room})
		if room == "laptop-dev" {
			history, err = nas.as("laptop/api").RoomHistory(ctx, c3po.RoomHistoryInput{Room: room})
		}
		if err != nil || len(history.Messages) != 1 || history.Messages[0].Message != want {
			t.Errorf("%s: %+v, %v", room, history.Messages, err)
		}
	}
	// The person answers, and the one who asked goes on.
	questions, err := nas.store.Inbox(ctx, "main", c3po.Human, store.InboxQuery{Limit: 10, Bytes: 1 << 20})
	if err != nil || len(questions.Entries) != 2 {
		t.Fatalf("%d questions, %v", len(questions.Entries), err)
	}
	for _, q := range questions.Entries {
		if q.Message.FromAgent != "laptop/web" {
			continue
		}
		if _, err := nas.as("").HumanAnswer(ctx, c3po.AnswerInput{MessageID: q.Message.ID, Response: "yes"}); err != nil {
			t.Fatal(err)
		}
	}
	records, err := nas.store.Agents(ctx, "main", []c3po.AgentID{"laptop/web", "web"})
	if err != nil || records[0].Paused != "" || records[1].Paused == "" {
		t.Errorf("after the answer laptop/web is paused %q, web %q, %v", records[0].Paused, records[1].Paused, err)
	}
}

// Who still has an id with the old names in it can use it.
func TestIdsFromBeforeTheMoveAreUnderstood(t *testing.T) {
	t.Parallel()
	laptop, nas := newMachine(t), newMachine(t)
	ctx := t.Context()
	var ids []c3po.MessageID
	for _, text := range []string{"to be answered", "to be acked"} {
		if _, err := laptop.as("api").WhoAmI(ctx, c3po.None{}); err != nil {
			t.Fatal(err)
		}
		receipt, err := laptop.as("web").SendMessage(ctx, c3po.SendInput{Target: "api", Message: text})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, receipt.ID)
	}
	nas.take(t, laptop.export(t))
	if _, err := nas.as("laptop/api").Reply(ctx, c3po.ReplyInput{MessageID: ids[0], Response: "answered"}); err != nil {
		t.Error(err)
	}
	acked, err := nas.as("laptop/api").AckMessages(ctx, c3po.AckInput{MessageIDs: ids[1:]})
	if err != nil || len(acked.Acked) != 1 {
		t.Errorf("%+v, %v", acked, err)
	}
	if diff := cmp.Diff([]string{"answered"}, nas.unread(t, "laptop/web")); diff != "" {
		t.Errorf("who asked (-want +got):\n%s", diff)
	}
	// The bare name leads there too, as long as nobody else has it.
	receipt, err := nas.as("nas/ops").SendMessage(ctx, c3po.SendInput{Target: "api", Message: "hello"})
	if err != nil || receipt.ToAgent != "laptop/api" {
		t.Errorf("mail to api goes to %q, %v", receipt.ToAgent, err)
	}
	// But who registers under it is somebody else.
	self, err := nas.as("api").WhoAmI(ctx, c3po.None{})
	if err != nil || self.ID != "api" || len(nas.unread(t, "api")) > 0 {
		t.Errorf("a new api is %q, %v", self.ID, err)
	}
}

func TestADryRunChangesNothing(t *testing.T) {
	t.Parallel()
	laptop, nas := newMachine(t), newMachine(t)
	if _, err := laptop.as("api").WhoAmI(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	done, err := Import(t.Context(), ImportConfig{RedisURL: nas.url, DryRun: true, Host: "old-laptop"}, bytes.NewReader(laptop.export(t)))
	if err != nil || !slices.Equal(done.Spaces[0].Agents, []Renaming{{"api", "old-laptop/api"}}) {
		t.Errorf("%+v, %v", done, err)
	}
	if empty, err := nas.store.Empty(t.Context()); err != nil || !empty {
		t.Errorf("something is there: %v", err)
	}
}

func TestAnExportThatIsNotWholeIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	laptop, nas := newMachine(t), newMachine(t)
	if _, err := laptop.as("api").WhoAmI(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	if _, err := laptop.as("web").SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "hello"}); err != nil {
		t.Fatal(err)
	}
	whole := string(laptop.export(t))
	lines := strings.SplitAfter(whole, "\n")
	for name, c := range map[string]struct{ file, word string }{
		"nothing":          {"", "begin"},
		"a backup":         {"manifest.json\x00", "begin"},
		"cut off":          {strings.Join(lines[:3], ""), "cut off"},
		"cut in a line":    {whole[:len(whole)-40], "cut off"},
		"a line is gone":   {lines[0] + strings.Join(lines[2:], ""), "last line"},
		"a later format":   {strings.Replace(whole, `"format":1`, `"format":2`, 1), "format 2"},
		"a word of later":  {strings.Replace(whole, `"kind":`, `"mood":"good","kind":`, 1), "mood"},
		"no state of ours": {strings.Replace(whole, `"state":"pending"`, `"state":"seq"`, 1), "no state"},
		"a bad space":      {strings.Replace(whole, `"space":"main"`, `"space":"Main}"`, 1), "Main"},
		"a bad agent":      {strings.Replace(whole, `"id":"api"`, `"id":"a b"`, 1), "a b"},
		"a reserved agent": {strings.Replace(whole, `"id":"api"`, `"id":"human"`, 1), "without a name"},
		"a bad host":       {strings.Replace(whole, `"host":"laptop"`, `"host":"role"`, 1), "host"},
	} {
		_, err := Import(t.Context(), ImportConfig{RedisURL: nas.url}, strings.NewReader(c.file))
		if err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v, want a refusal that speaks of %q", name, err, c.word)
		}
		if empty, err := nas.store.Empty(t.Context()); err != nil || !empty {
			t.Fatalf("%s left something: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"c3po_export":{"format":1,"host":"h"}}{"space":"main","agent":{"id":"a"}}{"end":{"agents":1}}`))
	f.Add([]byte(`{"c3po_export":{"format":1}}{"space":"main","message":{"id":"a::b::00000001","state":"acked"}}{"end":{"messages":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var counts Counts
		for _, space := range got.spaces {
			for _, m := range got.things[space] {
				counts.add(m)
			}
		}
		if counts.Damaged = got.counts.Damaged; counts != got.counts {
			t.Errorf("%+v are said, %+v are there", got.counts, counts)
		}
	})
}
