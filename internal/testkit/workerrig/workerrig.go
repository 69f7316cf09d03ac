// Package workerrig kills workers of a queue and their coordinator while tasks come, and
// wants one answer to every task.
package workerrig

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/seed"
)

// A worker is a process that is started again whenever it ends, until the test does.
type worker struct {
	t       *testing.T
	command func() *exec.Cmd
	said    faultrig.Buffer
	mu      sync.Mutex
	running *exec.Cmd
	over    bool
	ended   sync.WaitGroup
}

func (w *worker) run() {
	w.ended.Go(func() {
		for cmd := w.start(); cmd != nil; cmd = w.start() {
			_ = cmd.Wait() // it was killed
		}
	})
	w.t.Cleanup(func() {
		w.kill(true)
		w.ended.Wait()
		if w.t.Failed() {
			w.t.Logf("a worker said:\n%s", &w.said)
		}
	})
}

// start starts the process, unless the test is over.
func (w *worker) start() *exec.Cmd {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return nil
	}
	w.running = w.command()
	w.running.Stdout, w.running.Stderr = &w.said, &w.said
	if err := w.running.Start(); err != nil {
		w.t.Error(err)
		w.over = true
		return nil
	}
	return w.running
}

func (w *worker) kill(over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = over
	if w.running != nil && w.running.Process != nil {
		_ = w.running.Process.Kill() // it may have ended by itself
	}
}

// Limits are the settings of a coordinator under which the claim of a worker lapses soon. One
// that is killed and back at once may have got another name, and its claim is nobody's.
const Limits = "limits:\n  claim_lease: 20s\n"

// Kill runs two workers by command, which is given their ids. They answer mail to role:check
// with "checked: " before its text. So many times one of them or the coordinator, which the
// environment names, is killed while tasks are sent.
func Kill(t *testing.T, coordinator *faultrig.Coordinator, kills int, command func(id string) *exec.Cmd) {
	t.Helper()
	var workers []*worker
	for _, id := range []string{"checker-1", "checker-2"} {
		w := &worker{t: t, command: func() *exec.Cmd { return command(id) }}
		workers = append(workers, w)
		w.run()
	}
	asker, err := client.Open(t.Context(), client.Config{Agent: "asker"})
	if err != nil {
		t.Fatal(err)
	}
	svc := asker.Service()
	if !faultrig.Within(30*time.Second, func() bool {
		list, err := svc.ListAgents(t.Context(), c3po.ListAgentsInput{})
		return err == nil && len(list.Agents) == 3
	}) {
		t.Fatal("the workers are not there")
	}

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
	dice := seed.Rand(t, 1)
	for i := range kills {
		faultrig.Pass(t.Context(), time.Duration(dice.Int64N(int64(300*time.Millisecond))))
		if i%2 == 0 {
			workers[dice.IntN(len(workers))].kill(false)
			continue
		}
		coordinator.Kill()
		coordinator.Restart()
	}
	sending.Wait()

	for i, id := range tasks {
		var answer c3po.Message
		// Of one whose worker died last the asker hears so, until another has it. If the
		// coordinator died with it, that is heard when its lease of a minute has ended.
		faultrig.Within(3*time.Minute, func() bool {
			answer, err = asker.Await(t.Context(), id)
			var unanswered *client.Unanswered
			return !errors.As(err, &unanswered)
		})
		if want := fmt.Sprintf("checked: task-%d", i); err != nil || answer.Text() != want {
			t.Fatalf("the answer to %s is %q, want %q: %v", id, answer.Text(), want, err)
		}
	}
	answers := map[string]int{}
	for cursor := ""; ; {
		inbox, err := svc.GetMessages(t.Context(), c3po.GetMessagesInput{Limit: 100, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inbox.Messages {
			answers[m.Response]++
		}
		if cursor = inbox.Next; cursor == "" {
			break
		}
	}
	for text, times := range answers {
		if times > 1 || !strings.HasPrefix(text, "checked: ") {
			t.Errorf("%q came %d times", text, times)
		}
	}
	t.Logf("%d tasks, %d kills, %d answers in the inbox, each once", len(tasks), kills, len(answers))
}
