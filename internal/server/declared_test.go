package server_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestAnAgentWhoseDeclaredProcessIsGoneIsNotAlive(t *testing.T) {
	t.Parallel()
	c := start(t, server.Config{RedisURL: redistest.Start(t), Auth: auth.None, Started: engine.Started})
	process := exec.CommandContext(t.Context(), "sleep", "600")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	register := func(id string, pid int, start int64, more ...string) {
		t.Helper()
		curl(t, c.url+"/api/op/register_agent", "-H", "X-Agent-ID: "+id, "-H", "Content-Type: application/json",
			"-d", fmt.Sprintf(`{"pid":%d,"pid_start":%d%s}`, pid, start, strings.Join(more, "")))
	}
	is := func(id, word string) bool {
		t.Helper()
		return strings.Contains(curl(t, c.url+"/api/op/get_agent_status", "-H", "Content-Type: application/json", "-d", `{"agent_id":"`+id+`"}`), word)
	}
	eventually := func(id, word string) {
		t.Helper()
		for deadline := time.Now().Add(longEnough); !is(id, word); {
			if time.Now().After(deadline) {
				t.Fatalf("%s is not said to have %s", id, word)
			}
		}
	}
	register("there", process.Process.Pid, engine.Started(process.Process.Pid))
	register("never-was", 1<<22+1, 0)
	eventually("never-was", `"alive":false`)
	if !is("never-was", `"status":"offline"`) {
		t.Error("an agent whose process never was is online")
	}
	if status, err := c.op(t.Context(), "ana", "send_message", c3po.SendInput{Target: "never-was", Message: "are you there?", IfAway: "fail"}, nil); status == http.StatusOK {
		t.Errorf("a message that must not wait for it is accepted (%v)", err)
	}
	register("elsewhere", process.Process.Pid, 0, `,"host":"another"`)
	if !is("elsewhere", `"alive":null`) {
		t.Error("a process of a host that nobody sees is said to be alive or not")
	}
	if !is("there", `"alive":true`) {
		t.Error("a process that is there is not alive")
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	eventually("there", `"alive":false`)
	eventually("there", `"status":"offline"`)
}

func TestADeclaredProcessThatEndsAfterARestartOfTheCoordinatorIsSeenToEnd(t *testing.T) {
	t.Parallel()
	cfg := server.Config{RedisURL: redistest.Start(t), Auth: auth.None, Started: engine.Started}
	process := exec.CommandContext(t.Context(), "sleep", "600")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	first := start(t, cfg)
	curl(t, first.url+"/api/op/register_agent", "-H", "X-Agent-ID: nightly", "-H", "Content-Type: application/json",
		"-d", fmt.Sprintf(`{"pid":%d,"pid_start":%d,"heartbeat_interval":3600}`, process.Process.Pid, engine.Started(process.Process.Pid)))
	first.stop()
	second := start(t, cfg)
	eventually := func(word string) {
		t.Helper()
		said := ""
		for deadline := time.Now().Add(longEnough); !strings.Contains(said, word); {
			if time.Now().After(deadline) {
				t.Fatalf("not said to have %s: %s", word, said)
			}
			said = curl(t, second.url+"/api/op/get_agent_status", "-H", "Content-Type: application/json", "-d", `{"agent_id":"nightly"}`)
		}
	}
	eventually(`"alive":true`)
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	eventually(`"alive":false`)
	eventually(`"status":"offline"`)
}
