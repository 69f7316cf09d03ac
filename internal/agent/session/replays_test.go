package session_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// Attack: somebody replays a verdict at the dialog of a session, by writing it into Redis
func TestAHundredVerdictsReplayedAtADialogGrantNothing(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	r := approving(t, faultrig.Start(t, redis.URL()).URL())
	kept, err := redisstore.Open(t.Context(), redisstore.Config{URL: redis.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	// replay opens a dialog, answers it with a verdict that is as good as the person's but for
	// one change, and gives what the hook says.
	replay := func(file string, change func(*c3po.Verdict)) (string, c3po.Verdict) {
		t.Helper()
		d := r.opens(file)
		id := r.asked(file)
		question, err := kept.Message(t.Context(), "main", id)
		if err != nil || question == nil {
			t.Fatalf("%v %v", question, err)
		}
		a, _ := question.Message.Approval()
		verdict := c3po.Verdict{Allow: true, Tool: a.Tool, Hash: a.Hash, Session: a.Session, Request: a.Request, Folder: a.Folder, Expires: a.Expires}
		change(&verdict)
		metadata, err := json.Marshal(verdict)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kept.Reply(t.Context(), "main", store.ReplyStep{
			Draft: store.Draft{
				From: c3po.Human, Kind: c3po.KindReply, Status: c3po.ReplySuccess, Priority: c3po.Normal,
				Text: c3po.AllowOnce, ContentType: c3po.VerdictType, Metadata: metadata,
			},
			Durability: c3po.OnDisk, Answers: id, ResumeTo: true,
		}); err != nil {
			t.Fatal(err)
		}
		return d.says(t), verdict
	}
	said, first := replay("first", func(*c3po.Verdict) {})
	if said != granted {
		t.Fatalf("a verdict for this very dialog: the hook says %s", said)
	}
	replays := []func(*c3po.Verdict){
		func(v *c3po.Verdict) { v.Hash = first.Hash },
		func(v *c3po.Verdict) { v.Session = "s2" },
		func(v *c3po.Verdict) { v.Request = first.Request },
		func(v *c3po.Verdict) { v.Expires = time.Now().Add(-time.Second) },
		func(v *c3po.Verdict) { *v = first },
	}
	refused := 0
	for n := range 100 {
		if said, _ := replay(fmt.Sprint("x", n), replays[n%len(replays)]); said == "{}" {
			refused++
		} else {
			t.Errorf("replay %d: the hook says %s", n, said)
		}
	}
	t.Logf("%d of 100 replays were refused", refused)
}
