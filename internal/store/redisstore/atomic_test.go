package redisstore

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// recorder notes which keys the scripts of one call name.
type recorder struct {
	rueidis.Client
	keys []string
	once bool // only those of the first script
}

func (r *recorder) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	words := cmd.Commands()
	if words[0] == "EVALSHA" && (!r.once || r.keys == nil) {
		n, err := strconv.Atoi(words[2])
		if err != nil {
			panic(err)
		}
		r.keys = append(r.keys, words[3:3+n]...)
	}
	return r.Client.Do(ctx, cmd)
}

// step is one state change, on a space that situation has prepared.
type step struct {
	name string
	do   func(context.Context, *Store, c3po.Space, situation) error
}

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

var steps = []step{
	{"register a newcomer", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.Register(ctx, space, store.RegisterStep{Want: "dora", Run: "r", Session: "s"})
		return err
	}},
	{"register a second run", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.Register(ctx, space, store.RegisterStep{Want: "bob", Run: "another", Session: "s"})
		return err
	}},
	{"unregister", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.Unregister(ctx, space, "bob", "")
		return err
	}},
	{"die", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.Die(ctx, space, "bob", "run of bob")
		return err
	}},
	{"die declared", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.DieDeclared(ctx, space, "bob", store.Declared{PID: 7, Seen: true})
		return err
	}},
	{"status", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		return s.SetStatus(ctx, space, "bob", "", c3po.Busy, "task")
	}},
	{"pause one", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		return s.SetPaused(ctx, space, "bob", "why")
	}},
	{"pause all", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		return s.SetPaused(ctx, space, "", "why")
	}},
	{"attach", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		return s.Attach(ctx, space, "bob", "another node", c3po.SessionWorking)
	}},
	{"detach", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		return s.Detach(ctx, space, "bob", "node", true, time.Second)
	}},
	{"lease", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		return s.RenewLease(ctx, space, "node")
	}},
	{"notes", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		return s.WriteNotes(ctx, space, store.Notes{
			Seen:     []c3po.AgentID{"ana", "bob"},
			Served:   []store.ServedNote{{ID: at.unanswered, Reader: "r"}},
			Notified: []store.NotifiedNote{{Agent: "ana", Reader: "r", Seq: 9}, {Agent: "bob", Reader: "r", Seq: 9}},
			Given:    []store.GivenNote{{Agent: "bob", Reader: "other", Seq: 9}},
		})
	}},
	{"send", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		in := sendStep("new")
		in.PauseFrom = c3po.PausedForHuman
		_, err := s.Send(ctx, space, in)
		return err
	}},
	{"reply", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		in := replyStep(at.unanswered)
		in.Key, in.ResumeTo = "another", true
		_, err := s.Reply(ctx, space, in)
		return err
	}},
	{"hand over", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		in := replyStep(at.unanswered)
		in.Key, in.Status, in.HandedTo = "another", c3po.ReplyHandedOver, "carl"
		_, err := s.Reply(ctx, space, in)
		return err
	}},
	{"ack", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.Ack(ctx, space, "bob", "", []c3po.MessageID{at.unanswered, at.ended})
		return err
	}},
	{"received", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.Received(ctx, space, "ana", "r", "mcp", []c3po.MessageID{at.answer})
		return err
	}},
	{"cancel", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.Cancel(ctx, space, store.CancelStep{From: "ana", ID: at.unanswered, Notice: "never mind"})
		return err
	}},
	{"cancel a task", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.Cancel(ctx, space, store.CancelStep{From: "ana", ID: at.held, Notice: "never mind", Holder: "carl"})
		return err
	}},
	{"say that nobody answers", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.Silence(ctx, space, store.SilenceStep{Agent: "bob", ID: at.unanswered, To: "ana", Notice: "no answer"})
		return err
	}},
	{"lapse", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.Lapse(ctx, space, at.unanswered)
		return err
	}},
	{"claim a notice", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.ClaimNotice(ctx, space, store.Notice{ID: at.unanswered, Channel: "ntfy"})
		return err
	}},
	{"a notice is sent", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		return s.NoticeSent(ctx, space, store.Notice{ID: at.unanswered, Channel: "ntfy"})
	}},
	{"claim", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.Claim(ctx, space, store.ClaimStep{Queue: "role/role-of-bob", Agent: "bob"})
		return err
	}},
	{"claim one", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.Claim(ctx, space, store.ClaimStep{Queue: "role/role-of-bob", Agent: "bob", ID: at.task})
		return err
	}},
	{"ack claimed", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.AckClaimed(ctx, space, "role/role-of-bob", "bob", "", []c3po.MessageID{at.task})
		return err
	}},
	{"reply to a task", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		in := replyStep(at.task)
		in.Key = "of the task"
		_, err := s.Reply(ctx, space, in)
		return err
	}},
	{"send to a role", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		in := sendStep("another task")
		in.To, in.Alias, in.Queue = "role/role-of-bob", "", true
		_, err := s.Send(ctx, space, in)
		return err
	}},
	{"told", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		return s.Told(ctx, space, "t:"+string(at.unanswered), at.unanswered)
	}},
	{"go on", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.ResumeChain(ctx, space, string(at.unanswered))
		return err
	}},
	{"register with another role", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.Register(ctx, space, store.RegisterStep{Want: "bob", Run: "run of bob", Explicit: true, Profile: store.Profile{Capabilities: []string{"x"}}})
		return err
	}},
	{"tick", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.Tick(ctx, space, "node", s.limits.ReapEvery)
		return err
	}},
	{"bury", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.Bury(ctx, space, at.unanswered, c3po.ReasonExpired, "too late")
		return err
	}},
	{"bury mail of a removed agent", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.Bury(ctx, space, at.unanswered, c3po.ReasonRecipientRemoved, "removed")
		return err
	}},
	{"revive", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.Revive(ctx, space, at.dead, store.ReviveStep{Notice: "it is back", Durability: c3po.OnDisk})
		return err
	}},
	{"purge", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.Purge(ctx, space, at.dead)
		return err
	}},
	{"rename", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		return s.Rename(ctx, space, "bob", "robert", "")
	}},
	{"retire", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.Retire(ctx, space, "bob", 0, false)
		return err
	}},
	{"import an agent", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.ImportAgent(ctx, space, "agent", store.MovedAgent{ID: "laptop/ana", Former: []c3po.AgentID{"anna"}, Capabilities: []string{"x"}})
		return err
	}},
	{"import a message", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.ImportMessage(ctx, space, "message", store.MovedMessage{ID: "laptop/web::bob::00000000", Kind: c3po.KindMessage, State: c3po.StatePending, Life: 9,
			ExpectsReply: true, Deadline: time.UnixMilli(1), DeadlineOpen: true})
		return err
	}},
	{"import an ended message of a role", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.ImportMessage(ctx, space, "message", store.MovedMessage{ID: "laptop/web::role/role-of-bob::00000000", Kind: c3po.KindMessage, State: c3po.StateAcked, Life: 9})
		return err
	}},
	{"import a dead letter", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.ImportMessage(ctx, space, "message", store.MovedMessage{ID: "laptop/web::gone::00000000", Kind: c3po.KindMessage, State: c3po.StateDead, Reason: c3po.ReasonRecipientRemoved, Life: 9})
		return err
	}},
	{"import a room", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.ImportRoom(ctx, space, "room", store.MovedRoom{Name: "another", Creator: "ana", Visibility: c3po.Public, Invited: []c3po.AgentID{"bob"}})
		return err
	}},
	{"import a post", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.ImportPost(ctx, space, "post", store.MovedPost{ID: "laptop/web::#room::00000000", Kind: c3po.KindPost})
		return err
	}},
	{"import a member", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.ImportMember(ctx, space, "member", "room", "carl", "", c3po.NotifyAll, nil)
		return err
	}},
	{"raise the epoch", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, _, err := s.RaiseEpoch(ctx, space, store.Sequence{Epoch: 1, Last: 1_000_000})
		return err
	}},
	{"join a new room", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.Join(ctx, space, store.JoinStep{Room: "another", Agent: "bob", Visibility: c3po.InviteOnly})
		return err
	}},
	{"leave a room", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.Leave(ctx, space, "room", "bob", "")
		return err
	}},
	{"invite", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.Invite(ctx, space, "room", "ana", "", false, "bob")
		return err
	}},
	{"set a room", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		return s.SetVisibility(ctx, space, "room", "ana", "", false, c3po.InviteOnly)
	}},
	{"post", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		in := postStep("new")
		in.Mentions = []c3po.AgentID{"bob"}
		_, err := s.Post(ctx, space, in)
		return err
	}},
	{"broadcast", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		in := postStep("to all")
		in.Room, in.To, in.Kind = c3po.Everybody, c3po.Everybody.Address(), c3po.KindBroadcast
		_, err := s.Post(ctx, space, in)
		return err
	}},
	{"ack a post", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		_, err := s.AckPosts(ctx, space, "bob", "", []c3po.MessageID{at.post.Message.ID})
		return err
	}},
	{"hear a post", func(ctx context.Context, s *Store, space c3po.Space, at situation) error {
		return s.WriteNotes(ctx, space, servedPostsTo(at, at.post.Message.Seq, "ana", "bob"))
	}},
	{"trim", func(ctx context.Context, s *Store, space c3po.Space, _ situation) error {
		_, err := s.Trim(ctx, space, 10)
		return err
	}},
}
