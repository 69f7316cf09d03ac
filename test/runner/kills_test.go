package runner_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
)

// Every message is dealt with although runner, container and coordinator are
// killed again and again; and none is acked that was not dealt with.
//
// Claims: E9, R1
func TestKillsOfRunnerContainerAndCoordinatorLoseNoMail(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	workspace := h.workspace("work")
	h.agents(scripted("coder", workspace, answering, "  triggers: [{type: c3po}]\n  limits: {runs_per_hour: 100000}\n"))
	loop := h.start("agent", "coder")
	asker := h.as("asker")
	cycles, seed := size(20, 100), time.Now().UnixNano()
	dice := rand.New(rand.NewPCG(uint64(seed), 1))
	t.Logf("seed %d", seed)
	var sent []c3po.MessageID
	kills := map[string]int{}
	for cycle := range cycles {
		var receipt c3po.Receipt
		key := fmt.Sprintf("%d-%d", seed, cycle)
		eventually(t, time.Minute, "the message is accepted", func() bool {
			var err error
			receipt, err = asker.SendMessage(t.Context(), c3po.SendInput{Target: "docker/coder", Message: "work " + key, ClientKey: key})
			return err == nil // until the runner has first looked, nobody is called so
		})
		sent = append(sent, receipt.ID)
		// At a moment of the cycle that is another each time.
		pause := time.NewTimer(time.Duration(dice.IntN(600)) * time.Millisecond)
		<-pause.C
		switch dice.IntN(4) {
		case 0:
			kills["runner"]++
			loop.signal(syscall.SIGKILL)
			<-loop.done
			loop = h.start("agent", "coder")
		case 1:
			if running := h.containers(); len(running) > 0 {
				kills["container"]++
				_ = h.podman("kill", "--signal", "KILL", running[0])
			}
		case 2:
			kills["coordinator"]++
			h.coordinator.Restart()
		}
	}
	t.Logf("%d messages, kills: %v", len(sent), kills)
	eventually(t, 4*time.Minute, "every message is answered", func() bool {
		for _, id := range sent {
			trace, err := h.admin().Trace(t.Context(), c3po.MessageInput{MessageID: id})
			if err != nil || len(trace.Answered) == 0 {
				return false
			}
		}
		return true
	})
	handled := lines(filepath.Join(workspace, "handled"))
	for _, id := range sent {
		if !slices.Contains(handled, string(id)) {
			t.Errorf("%s was answered and nobody has dealt with it", id)
		}
	}
	loop.signal(syscall.SIGTERM)
	loop.ended(30 * time.Second)
	if left := h.containers(); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
}
