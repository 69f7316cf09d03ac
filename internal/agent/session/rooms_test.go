package session_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
)

// post says something in a room as an agent that is in it, or joins it.
func (r *testSession) post(from c3po.AgentID, room c3po.RoomName, text string) {
	r.t.Helper()
	if _, err := r.as(from).RoomJoin(r.t.Context(), c3po.RoomJoinInput{Room: room}); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.as(from).RoomPost(r.t.Context(), c3po.RoomPostInput{Room: room, Message: text}); err != nil {
		r.t.Fatal(err)
	}
}

// isTold lets turns begin until one is told something. A hook does not wait long
// for a coordinator that is slow, and a prompt after that not at all; the end of a
// turn always looks.
func (r *testSession) isTold(want string) {
	r.t.Helper()
	eventually(r.t, "a prompt that says "+want, func() bool {
		text := r.prompt()
		if text != "{}" && !strings.Contains(text, want) {
			r.t.Fatalf("the prompt says %q, want %q", text, want)
		}
		if text == "{}" {
			r.stop()
		}
		return text != "{}"
	})
}

func TestASessionJoinsItsRoomsAndKeepsItsPlaceInThem(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1", "build", "lobby")
	if _, err := r.session.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if all := r.agents(); len(all) != 0 {
		t.Errorf("a session process that was only started has joined: %v", all)
	}
	r.prompt()
	if rooms := r.agents()["api"].Rooms; !slices.Equal(rooms, []c3po.RoomName{"build", "lobby"}) {
		t.Fatalf("it is in %v", rooms)
	}
	r.post("web", "build", "red")
	r.isTold("c3po: 1 room post is unread. get_messages shows it.")
	r.hangUp()
	r.post("web", "build", "green")
	r.connect("box:1:1")
	if text := r.hook(hook.Event{Name: hook.UserPromptSubmit, SessionID: "s2"}); !strings.Contains(text, "you are api. Online: 'web'. 2 room posts are unread.") {
		t.Errorf("the next session is told %s", text)
	}
	if text, failed := r.call("u1", "get_messages", map[string]any{}); failed || !strings.Contains(text, "red") || !strings.Contains(text, "green") {
		t.Errorf("it reads %s", text)
	}
}

func TestAPostNeitherWakesASessionNorKeepsItFromStopping(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1", "build")
	lines := make(chan string, 10)
	go func() {
		for t.Context().Err() == nil {
			_ = session.Listen(t.Context(), r.socket, nil, func(line string) { lines <- line })
		}
	}()
	r.prompt()
	r.post("web", "build", "while it works")
	if text := r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1"}); text != "{}" {
		t.Errorf("in the middle of a turn: %s", text)
	}
	if text := r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"}); text != "{}" {
		t.Errorf("at the end of a turn: %s", text)
	}
	r.post("web", "build", "while it is idle")
	// Mail that comes after it is the first that the monitor hears of.
	r.send("web", "<i>Which port?</i>")
	if line := <-lines; line != "c3po: 1 new message expecting an answer from 'web'. get_messages shows it." {
		t.Errorf("the line is %q", line)
	}
	r.isTold(`"c3po: 2 room posts are unread. get_messages shows them."`)
	if text := r.prompt(); text != "{}" {
		t.Errorf("and the next one %s", text)
	}
}

func TestABroadcastForOthersIsNotCounted(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	r.prompt()
	say := func(in c3po.BroadcastInput) string {
		t.Helper()
		if _, err := r.as("web").Broadcast(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		return r.prompt()
	}
	if text := say(c3po.BroadcastInput{Message: "hold all deploys", Capability: "deploy"}); text != "{}" {
		t.Errorf("after one for others the prompt says %s", text)
	}
	if text := say(c3po.BroadcastInput{Message: "the tests are red"}); !strings.Contains(text, "unread. get_messages shows") {
		t.Errorf("after one for all it says %s", text)
	}
}
