package redisstore

import (
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// Two versions of c3po can share a Redis while the coordinators are replaced.
func TestAKeyThatAnotherVersionStoredIsRepeatedByItsRecipientAndText(t *testing.T) {
	t.Parallel()
	const space = c3po.Space("main")
	s, err := Open(t.Context(), Config{URL: redistest.Start(t), Limits: c3po.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for _, id := range []c3po.AgentID{"ana", "bob", "cyd"} {
		if _, err := s.Register(t.Context(), space, store.RegisterStep{Want: id}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Join(t.Context(), space, store.JoinStep{Agent: "ana", Room: "hall"}); err != nil {
		t.Fatal(err)
	}
	asked, err := s.Send(t.Context(), space, store.SendStep{Draft: store.Draft{From: "bob", To: "ana", Kind: c3po.KindMessage, Text: "why?", ExpectsReply: true}})
	if err != nil {
		t.Fatal(err)
	}
	send := func(to c3po.AgentID, text string) (c3po.MessageID, error) {
		stored, err := s.Send(t.Context(), space, store.SendStep{Draft: store.Draft{From: "ana", To: to, Kind: c3po.KindMessage, Text: text, Key: "sent"}})
		return stored.Message.ID, err
	}
	reply := func(text string) (c3po.MessageID, error) {
		stored, err := s.Reply(t.Context(), space, store.ReplyStep{Draft: store.Draft{From: "ana", Text: text, Key: "replied"}, Answers: asked.Message.ID})
		return stored.Message.ID, err
	}
	post := func(text string) (c3po.MessageID, error) {
		posted, err := s.Post(t.Context(), space, store.PostStep{Draft: store.Draft{From: "ana", Kind: c3po.KindPost, Text: text, Key: "posted", Room: "hall"}})
		return posted.Post.Message.ID, err
	}
	steps := map[string]struct {
		first, again, other func() (c3po.MessageID, error)
	}{
		"a send": {
			func() (c3po.MessageID, error) { return send("bob", "one") },
			func() (c3po.MessageID, error) { return send("bob", "one") },
			func() (c3po.MessageID, error) { return send("bob", "two") },
		},
		"a send to somebody else": {
			func() (c3po.MessageID, error) { return send("bob", "one") },
			func() (c3po.MessageID, error) { return send("bob", "one") },
			func() (c3po.MessageID, error) { return send("cyd", "one") },
		},
		"a reply": {
			func() (c3po.MessageID, error) { return reply("one") },
			func() (c3po.MessageID, error) { return reply("one") },
			func() (c3po.MessageID, error) { return reply("two") },
		},
		"a post": {
			func() (c3po.MessageID, error) { return post("one") },
			func() (c3po.MessageID, error) { return post("one") },
			func() (c3po.MessageID, error) { return post("two") },
		},
	}
	for name, step := range steps {
		first, err := step.first()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, version := range []string{"", "0:", "99:"} {
			anotherVersion(t, s, string(keysOf(space))+"idem", version)
			if again, err := step.again(); err != nil || again != first {
				t.Errorf("%s under a key of version %q is %q, %v, want %q", name, version, again, err, first)
			}
			if id, err := step.other(); c3po.AsError(err).Code != c3po.KeyConflict {
				t.Errorf("another than %s under its key of version %q is %q, %v, want a conflict", name, version, id, err)
			}
		}
	}
}

// anotherVersion makes all fingerprints what another version of c3po might have kept.
func anotherVersion(t *testing.T, s *Store, idem, version string) {
	t.Helper()
	rows, err := s.commands.Do(t.Context(), s.commands.B().Hgetall().Key(idem).Build()).AsStrMap()
	if err != nil {
		t.Fatal(err)
	}
	for field, row := range rows {
		head, rest, _ := strings.Cut(row, `"p":"`)
		_, rest, _ = strings.Cut(rest, `"`)
		row = head + `"p":"` + version + strings.Repeat("0", 64) + `"` + rest
		if err := s.commands.Do(t.Context(), s.commands.B().Hset().Key(idem).FieldValue().FieldValue(field, row).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
}
