package session_test

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestASessionProcessSaysWhatItIs(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	look := func() session.Instance {
		all := session.Instances(t.Context(), filepath.Dir(r.socket))
		if len(all) != 1 {
			return session.Instance{}
		}
		return all[0]
	}
	eventually(t, "it is there before it is wanted", func() bool { i := look(); return i.Run == "box:1:1" && !i.Connected })
	r.prompt()
	var got session.Instance
	eventually(t, "it is connected", func() bool { got = look(); return got.Connected })
	if got.Agent != "api" || got.Client != "test" || got.Session != "s1" || got.Monitors != 0 || got.Trouble != "" {
		t.Errorf("it says %+v", got)
	}
	r.send("web", "hello")
	eventually(t, "it knows of mail", func() bool { return look().Unread == 1 })
	r.off.Store(true)
	eventually(t, "it is switched off, and not connected", func() bool { got = look(); return got.Off && !got.Connected })
	r.hangUp()
	if all := session.Instances(t.Context(), filepath.Dir(r.socket)); len(all) != 0 {
		t.Errorf("after its end there is %+v", all)
	}
}

func TestASessionProcessWithoutACoordinatorSaysWhy(t *testing.T) {
	t.Parallel()
	r := start(t, "http://127.0.0.1:9", "box:1:1")
	r.prompt()
	eventually(t, "it says why", func() bool {
		all := session.Instances(t.Context(), filepath.Dir(r.socket))
		return len(all) == 1 && !all[0].Connected && strings.Contains(all[0].Trouble, "not reachable")
	})
}

func TestASessionProcessThatHangsIsShownAndOneThatWasKilledIsNot(t *testing.T) {
	t.Parallel()
	dir := filepath.Dir(start(t, "http://127.0.0.1:9", "box:1:1").socket)
	listening := func(run string) (string, net.Listener) {
		socket := filepath.Join(dir, session.SocketName(run))
		listener, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		return socket, listener
	}
	hangs, _ := listening("box:2:2")
	lock, err := paths.TryLock(hangs + ".lock")
	if err != nil || lock == nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Release() })
	_, killed := listening("box:3:3")
	killed.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = killed.Close()
	eventually(t, "the one that lives and the one that hangs are there", func() bool {
		all := session.Instances(t.Context(), dir)
		return len(all) == 2 && all[0].Run == "box:1:1" && all[1].Trouble == "its session process does not answer"
	})
}

func TestTheLastHookOfAClientIsWrittenDown(t *testing.T) {
	t.Parallel()
	r := start(t, "http://127.0.0.1:9", "box:1:1")
	before := time.Now().Add(-time.Second)
	r.prompt()
	eventually(t, "the first is written down at once", func() bool {
		last := r.noted.Load()
		return last != nil && last.Event == hook.UserPromptSubmit && last.At.After(before) && last.Took > 0
	})
	r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	eventually(t, "the session process names its last hook", func() bool {
		all := session.Instances(t.Context(), filepath.Dir(r.socket)) // it may not listen yet
		return len(all) == 1 && all[0].LastHook != nil && all[0].LastHook.Event == hook.StopEvent
	})
	r.hangUp()
	if last := r.noted.Load(); last.Event != hook.StopEvent {
		t.Errorf("after the end %s is written down as the last", last.Event)
	}
}

// A wait that is held shows nothing of a coordinator, or of a Redis, that is stopped.
func TestASessionWhoseCoordinatorOrRedisIsFrozenIsNotSaidToHear(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	c := faultrig.Start(t, redis.URL())
	r := start(t, c.URL(), "box:1:1")
	r.idles()
	hears := func() bool {
		all := session.Instances(t.Context(), filepath.Dir(r.socket))
		return len(all) == 1 && all[0].Connected && all[0].Trouble == ""
	}
	eventually(t, "it hears", hears)
	for name, one := range map[string]struct{ freeze, thaw func() }{"coordinator": {c.Freeze, c.Thaw}, "Redis": {redis.Freeze, redis.Thaw}} {
		one.freeze()
		// On a busy machine the last thread stops a moment later.
		eventually(t, "with its "+name+" frozen it is not said to hear", func() bool { return !hears() })
		one.thaw()
		eventually(t, "it hears again", hears)
	}
}

// Its wait goes on at the new coordinator, and is not answered until there is mail.
func TestASessionIsSaidToHearSoonAfterItsCoordinatorWasRestarted(t *testing.T) {
	t.Parallel()
	c := coordinator(t)
	r := start(t, c.URL(), "box:1:1")
	r.idles()
	hears := func() bool {
		all := session.Instances(t.Context(), filepath.Dir(r.socket))
		return len(all) == 1 && all[0].Connected && all[0].Trouble == ""
	}
	eventually(t, "it hears", hears)
	c.Kill()
	eventually(t, "without its coordinator it is not said to hear", func() bool { return !hears() })
	c.Restart()
	eventually(t, "it waits at the new one", func() bool { return r.agents()["api"].Reachability == c3po.ReachNow })
	if !faultrig.Within(40*time.Second, hears) { // less than its wait takes
		t.Error("it waits at its coordinator, and is not said to hear")
	}
}
