package client_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// A worker is a process of examples/worker that is started again whenever it ends, until
// the test does.
type worker struct {
	t       *testing.T
	program string
	id      string
	said    bytes.Buffer
	mu      sync.Mutex
	process *os.Process
	over    bool
	ended   sync.WaitGroup
}

func (w *worker) run() {
	w.ended.Go(func() {
		for {
			w.mu.Lock()
			if w.over {
				w.mu.Unlock()
				return
			}
			cmd := exec.Command(w.program, w.id)
			cmd.Stdout, cmd.Stderr = &w.said, &w.said
			if err := cmd.Start(); err != nil {
				w.t.Errorf("%s: %v", w.id, err)
				w.over = true
			}
			w.process = cmd.Process
			w.mu.Unlock()
			if cmd.Process != nil {
				_ = cmd.Wait()
			}
		}
	})
	w.t.Cleanup(func() {
		w.kill(true)
		w.ended.Wait()
		if w.t.Failed() {
			w.t.Logf("%s said:\n%s", w.id, &w.said)
		}
	})
}

func (w *worker) kill(over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = over
	if w.process != nil {
		_ = w.process.Kill() // it may have ended by itself
	}
}

func TestWorkersAndTheirCoordinatorAreKilledAndEveryTaskHasOneAnswer(t *testing.T) {
	program := filepath.Join(t.TempDir(), "worker")
	if out, err := exec.Command("go", "build", "-o", program, "../examples/worker").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	coordinator := start(t)
	workers := []*worker{{t: t, program: program, id: "checker-1"}, {t: t, program: program, id: "checker-2"}}
	for _, w := range workers {
		w.run()
	}
	asker := open(t, "asker")
	svc := asker.Service()
	if !faultrig.Within(30*time.Second, func() bool {
		list, err := svc.ListAgents(t.Context(), c3po.ListAgentsInput{})
		return err == nil && len(list.Agents) == 3
	}) {
		t.Fatal("the workers are not there")
	}

	kills := faultrig.Size(6, 100)
	tasks := make([]c3po.MessageID, 4*kills)
	var sending sync.WaitGroup
	sending.Go(func() {
		for i := range tasks {
			key := fmt.Sprintf("task-%d", i)
			if !faultrig.Within(time.Minute, func() bool {
				got, err := svc.SendMessage(t.Context(), c3po.SendInput{Target: "role:check", Message: key, ClientKey: key})
				tasks[i] = got.ID
				return err == nil
			}) {
				t.Errorf("%s was not stored", key)
			}
		}
	})
	for i := range kills {
		faultrig.Pass(t.Context(), rand.N(300*time.Millisecond))
		if i%2 == 0 {
			workers[rand.IntN(2)].kill(false)
			continue
		}
		coordinator.Kill()
		coordinator.Restart()
	}
	sending.Wait()

	for i, id := range tasks {
		var answer c3po.Message
		var err error
		// Of one whose worker died last the asker hears so, until another has it.
		faultrig.Within(time.Minute, func() bool {
			answer, err = asker.Await(t.Context(), id)
			var unanswered *client.Unanswered
			return !errors.As(err, &unanswered)
		})
		if want := fmt.Sprintf("checked: task-%d", i); err != nil || answer.Text() != want {
			t.Fatalf("the answer to %s is %q, want %q: %v", id, answer.Text(), want, err)
		}
	}
	answers := map[string]int{}
	inbox, err := svc.GetMessages(t.Context(), c3po.GetMessagesInput{Limit: 100})
	for ; err == nil; inbox, err = svc.GetMessages(t.Context(), c3po.GetMessagesInput{Limit: 100, Cursor: inbox.Next}) {
		for _, m := range inbox.Messages {
			answers[m.Response]++
		}
		if inbox.Next == "" {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for text, times := range answers {
		if times > 1 || !strings.HasPrefix(text, "checked: ") {
			t.Errorf("%q came %d times", text, times)
		}
	}
	t.Logf("%d tasks, %d kills, %d answers, each once", len(tasks), kills, len(answers))
}
