package runner_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
	"github.com/c3po-dev/c3po/internal/testkit/seed"
)

// Every message is dealt with although runner, container and coordinator are
// killed again and again; and none is acked that was not dealt with.
func TestKillsOfRunnerContainerAndCoordinatorLoseNoMail(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	workspace := h.workspace("work")
	h.agents(scripted("coder", workspace, answering, "  triggers: [{type: c3po}]\n  limits: {runs_per_hour: 100000}\n"))
	sent := h.killing(faultrig.Size(20, 100), 600*time.Millisecond)
	handled := lines(filepath.Join(workspace, "handled"))
	for _, id := range sent {
		if !slices.Contains(handled, string(id)) {
			t.Errorf("%s was answered and nobody has dealt with it", id)
		}
	}
}

func TestKillsAroundTheRealClaudeCodeLoseNoMail(t *testing.T) {
	cycles := faultrig.Size(0, 20)
	if cycles == 0 {
		t.Skip("takes minutes: C3PO_TORTURE=1")
	}
	h := newHost(t)
	m := llm.Start(t, answerAll)
	h.agents(withClaude("coder", h.workspace("work"), m, "  triggers: [{type: c3po}]\n  limits: {runs_per_hour: 100000}\n"))
	h.killing(cycles, 6*time.Second)
}

// killing sends a message a cycle to docker/coder, and at some moment of the
// cycle kills something. It returns when all messages are answered.
func (h *host) killing(cycles int, cycle time.Duration) []c3po.MessageID {
	t := h.t
	t.Helper()
	loop := h.start("agent", "coder")
	asker := h.as("asker")
	dice, began := seed.Rand(t, 1), time.Now().UnixNano()
	var sent []c3po.MessageID
	kills := map[string]int{}
	for i := range cycles {
		var receipt c3po.Receipt
		key := fmt.Sprintf("%d-%d", began, i)
		eventually(t, time.Minute, "the message is accepted", func() bool {
			var err error
			receipt, err = asker.SendMessage(t.Context(), c3po.SendInput{Target: "docker/coder", Message: "work " + key, ClientKey: key})
			return err == nil // until the runner has first looked, nobody is called so
		})
		sent = append(sent, receipt.ID)
		moment := time.NewTimer(time.Duration(dice.Int64N(int64(cycle))))
		<-moment.C
		switch dice.IntN(4) {
		case 0:
			kills["runner"]++
			loop.signal(syscall.SIGKILL)
			<-loop.done
			loop = h.start("agent", "coder")
		case 1:
			if running := h.containers(); len(running) > 0 {
				kills["container"]++
				_ = h.podman("kill", "--signal", "KILL", running[0]) // or it has ended by itself
			}
		case 2:
			kills["coordinator"]++
			h.coordinator.Restart()
		}
	}
	t.Logf("%d messages, kills: %v", len(sent), kills)
	// What a runner has left that was killed is cleared by the one that waits now.
	eventually(t, 4*time.Minute, "every message is answered, and the runner waits", func() bool {
		select {
		case <-loop.done:
			// The coordinator was away when it began, as a service manager would see.
			loop = h.start("agent", "coder")
		default:
		}
		for _, id := range sent {
			trace, err := h.admin().Trace(t.Context(), c3po.MessageInput{MessageID: id})
			if err != nil || len(trace.Answered) == 0 {
				return false
			}
		}
		return strings.Contains(h.c3po(h.home, "", "agent", "status").stdout, "waiting")
	})
	loop.signal(syscall.SIGTERM)
	loop.ended(30 * time.Second)
	if left := h.containers(); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
	return sent
}
