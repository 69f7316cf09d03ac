package typescript_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// example runs one of the package's examples to its end, and gives what it prints.
func example(t *testing.T, folder, name string) string {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	out, err := exec.CommandContext(ctx, "node", filepath.Join(folder, name+".js")).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

func doesWhatItsExamplesSay(t *testing.T, folder string) {
	start(t)
	expect := func(name, got, want string) {
		if got != want {
			t.Errorf("%s prints %q, want %q", name, got, want)
		}
	}
	expect("tell", example(t, folder, "tell"), "nobody is called api; repeat it: false\n")
	watcher, err := client.Open(t.Context(), client.Config{Agent: "watcher"})
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { expect("serve", example(t, folder, "serve"), "web asks: Which port does the gateway use?\n") })
	if !faultrig.Within(30*time.Second, func() bool {
		_, err := watcher.Service().GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "api"})
		return err == nil
	}) {
		t.Fatal("api does not serve")
	}
	expect("ask", example(t, folder, "ask"), "8443\n")
	serving.Wait()
	expect("tell", example(t, folder, "tell"), "stored in memory\n")
	expect("room", example(t, folder, "room"), "build: 1.4 is out\n")
	expect("events", example(t, folder, "events"), "newcomer registered\n")
}

// A worker is a process of examples/worker.ts that is started again whenever it is killed,
// until the test ends.
type worker struct {
	mu    sync.Mutex
	cmd   *exec.Cmd
	ended sync.WaitGroup
	over  bool
}

func (w *worker) run(t *testing.T, folder, id string) {
	w.ended.Go(func() {
		for {
			w.mu.Lock()
			if w.over {
				w.mu.Unlock()
				return
			}
			w.cmd = exec.Command("node", filepath.Join(folder, "worker.js"), id)
			if err := w.cmd.Start(); err != nil {
				t.Errorf("%s: %v", id, err)
				w.over = true
				w.mu.Unlock()
				return
			}
			cmd := w.cmd
			w.mu.Unlock()
			_ = cmd.Wait() // it was killed
		}
	})
	t.Cleanup(func() {
		w.kill(true)
		w.ended.Wait()
	})
}

func (w *worker) kill(over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = over
	if w.cmd != nil && w.cmd.Process != nil {
		_ = w.cmd.Process.Kill() // it may have ended by itself
	}
}

// worksThroughKills has workers and their coordinator killed, and wants one answer to every task.
func worksThroughKills(t *testing.T, folder string) {
	coordinator := start(t)
	workers := []*worker{{}, {}}
	for i, w := range workers {
		w.run(t, folder, fmt.Sprintf("checker-%d", i))
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
	kills := faultrig.Size(4, 50)
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
		faultrig.Pass(t.Context(), 300*time.Millisecond)
		if i%2 == 0 {
			workers[i/2%2].kill(false)
			continue
		}
		coordinator.Kill()
		coordinator.Restart()
	}
	sending.Wait()
	for i, id := range tasks {
		var answer c3po.Message
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
		if times > 1 {
			t.Errorf("%q came %d times", text, times)
		}
	}
	t.Logf("%d tasks, %d kills, %d answers in the inbox, each once", len(tasks), kills, len(answers))
}
