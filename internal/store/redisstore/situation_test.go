package redisstore

import (
	"context"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

type situation struct {
	unanswered c3po.MessageID // of ana to bob
	ended      c3po.MessageID
	answer     c3po.MessageID // of bob to ana
	task       c3po.MessageID // of ana to a role of bob's
	held       c3po.MessageID // of ana to another role, claimed by carl
	dead       c3po.MessageID // of ana to bob
	post       store.Post     // of ana in a room with bob
}

func prepare(t *testing.T, s *Store, space c3po.Space) situation {
	t.Helper()
	ctx := t.Context()
	for _, id := range []c3po.AgentID{"ana", "bob", "carl"} {
		step := store.RegisterStep{Want: id, Run: "run of " + string(id), Session: "session of " + string(id)}
		step.Profile.Capabilities = []string{"role-of-" + string(id)}
		if _, err := s.Register(ctx, space, step); err != nil {
			t.Fatal(err)
		}
	}
	send := func(text string) c3po.MessageID {
		stored, err := s.Send(ctx, space, sendStep(text))
		if err != nil {
			t.Fatal(err)
		}
		return stored.Message.ID
	}
	at := situation{ended: send("done with"), unanswered: send("open")}
	asked := send("answered")
	stored, err := s.Reply(ctx, space, replyStep(asked))
	if err != nil {
		t.Fatal(err)
	}
	at.answer = stored.Message.ID
	if _, err := s.Ack(ctx, space, "bob", "", []c3po.MessageID{at.ended}); err != nil {
		t.Fatal(err)
	}
	task := sendStep("task")
	task.To, task.Alias, task.Queue = "role/role-of-bob", "", true
	if stored, err = s.Send(ctx, space, task); err != nil {
		t.Fatal(err)
	}
	at.task = stored.Message.ID
	held := sendStep("held")
	held.To, held.Alias, held.Queue = "role/role-of-carl", "", true
	if stored, err = s.Send(ctx, space, held); err != nil {
		t.Fatal(err)
	}
	at.held = stored.Message.ID
	if _, err := s.Claim(ctx, space, store.ClaimStep{Queue: "role/role-of-carl", Agent: "carl", ID: at.held}); err != nil {
		t.Fatal(err)
	}
	at.dead = send("dead")
	if _, err := s.Bury(ctx, space, at.dead, c3po.ReasonRecipientRemoved, "bob was removed"); err != nil {
		t.Fatal(err)
	}
	if err := s.Attach(ctx, space, "bob", "node", c3po.SessionIdle); err != nil {
		t.Fatal(err)
	}
	for _, id := range []c3po.AgentID{"ana", "bob"} {
		if _, err := s.Join(ctx, space, store.JoinStep{Room: "room", Agent: id, Visibility: c3po.Public}); err != nil {
			t.Fatal(err)
		}
	}
	posted, err := s.Post(ctx, space, postStep("said"))
	if err != nil {
		t.Fatal(err)
	}
	at.post = posted.Post
	// Notes of an earlier time, for the steps that write later ones.
	earlier := servedPostsTo(at, 1, "ana", "bob")
	earlier.Notified = []store.NotifiedNote{{Agent: "ana", Reader: "r", Seq: 1}, {Agent: "bob", Reader: "r", Seq: 1}}
	if err := s.WriteNotes(ctx, space, earlier); err != nil {
		t.Fatal(err)
	}
	return at
}

// servedPostsTo are the notes that agents heard the post, or one before it.
func servedPostsTo(at situation, seq int64, agents ...c3po.AgentID) store.Notes {
	var notes store.Notes
	for _, id := range agents {
		notes.ServedPosts = append(notes.ServedPosts, store.PostServedNote{ID: at.post.Message.ID, Seq: seq, Agent: id, Reader: "r"})
	}
	return notes
}

func postStep(text string) store.PostStep {
	return store.PostStep{
		Draft:     store.Draft{From: "ana", To: "#room", Room: "room", Kind: c3po.KindPost, Text: text, Key: text},
		RateLimit: 100, Durability: c3po.OnDisk,
	}
}

func sendStep(text string) store.SendStep {
	return store.SendStep{
		Draft:     store.Draft{From: "ana", To: "bob", Kind: c3po.KindMessage, Text: text, ExpectsReply: true, Key: text, Within: time.Millisecond},
		RateLimit: 100, Alias: "|bob", Durability: c3po.OnDisk,
	}
}

func replyStep(id c3po.MessageID) store.ReplyStep {
	return store.ReplyStep{Draft: store.Draft{From: "bob", Text: "yes", Status: c3po.ReplySuccess, Key: "reply"}, Answers: id, Durability: c3po.OnDisk}
}

// Take takes the steps that promises do not take, or not so thoroughly, each in a space
// prepared for it.
func (c *Calls) Take(t *testing.T, s *Store) {
	t.Helper()
	for name, do := range steps {
		space := c3po.Space("step-" + name)
		at := prepare(t, s, space)
		unwatched := s.commands
		c.about = name
		c.Watch(s)
		if err := do(t.Context(), s, space, at); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s.commands, c.about = unwatched, ""
	}
}

var steps = map[string]func(context.Context, *Store, c3po.Space, situation) error{
	"import-agent": func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.ImportAgent(ctx, space, "agent", store.MovedAgent{ID: "laptop/ana", Former: []c3po.AgentID{"anna"}, Capabilities: []string{"x"}})
		return err
	},
	"import-message": func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.ImportMessage(ctx, space, "message", store.MovedMessage{ID: "laptop/web::bob::00000000", Kind: c3po.KindMessage, State: c3po.StatePending, Life: 9,
			ExpectsReply: true, Deadline: time.UnixMilli(1), DeadlineOpen: true})
		return err
	},
	"import-ended": func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.ImportMessage(ctx, space, "message", store.MovedMessage{ID: "laptop/web::role/role-of-bob::00000000", Kind: c3po.KindMessage, State: c3po.StateAcked, Life: 9})
		return err
	},
	"import-dead": func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.ImportMessage(ctx, space, "message", store.MovedMessage{ID: "laptop/web::gone::00000000", Kind: c3po.KindMessage, State: c3po.StateDead, Reason: c3po.ReasonRecipientRemoved, Life: 9})
		return err
	},
	"import-room": func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.ImportRoom(ctx, space, "room", store.MovedRoom{Name: "another", Creator: "ana", Visibility: c3po.Public, Invited: []c3po.AgentID{"bob"}})
		return err
	},
	"import-post": func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.ImportPost(ctx, space, "post", store.MovedPost{ID: "laptop/web::#room::00000000", Kind: c3po.KindPost})
		return err
	},
	"import-member": func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.ImportMember(ctx, space, "member", "room", "carl", "", c3po.NotifyAll, nil)
		return err
	},
	"write-notes": func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		return s.WriteNotes(ctx, space, store.Notes{
			Seen:     []c3po.AgentID{"ana", "bob"},
			Served:   []store.ServedNote{{ID: at.unanswered, Reader: "r"}},
			Notified: []store.NotifiedNote{{Agent: "ana", Reader: "r", Seq: 9}, {Agent: "bob", Reader: "r", Seq: 9}},
			Given:    []store.GivenNote{{Agent: "bob", Reader: "other", Seq: 9}},
		})
	},
	// These look at keys that others leave alone: who is attached, and former names.
	"send-after-renaming": func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		if err := s.Rename(ctx, space, "ana", "anna", "run of ana"); err != nil {
			return err
		}
		in := sendStep("sent by another name")
		in.From, in.Run = "anna", "run of ana"
		_, err := s.Send(ctx, space, in)
		return err
	},
	"ack-of-a-run": func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.Ack(ctx, space, "bob", "run of bob", []c3po.MessageID{at.unanswered})
		return err
	},
	"send-to-queue": func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		in := sendStep("Which of you?")
		in.To, in.Alias, in.Queue = "role/role-of-bob", "", true
		_, err := s.Send(ctx, space, in)
		return err
	},
	"hear-post": func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		return s.WriteNotes(ctx, space, servedPostsTo(at, at.post.Message.Seq, "ana", "bob"))
	},
}
