package faultrig_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/testkit/seed"
)

// The calls about one file, as a linearizability checker takes them.
type (
	fileTake    struct{ agent, path string }
	fileRelease struct{ agent, path string }
	// fileHolder is the output of a take: who has the file then.
	fileHolder  struct{ agent string }
	fileFree    struct{} // of a release
	fileUnknown struct{} // of a call that may have been done, or may still be
)

// leasedFile is a file as we promise it: it has one holder, and nobody else takes it. The
// state is the holder.
func leasedFile() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			byPath := map[string][]porcupine.Operation{}
			for _, op := range history {
				path := ""
				switch in := op.Input.(type) {
				case fileTake:
					path = in.path
				case fileRelease:
					path = in.path
				}
				byPath[path] = append(byPath[path], op)
			}
			var parts [][]porcupine.Operation
			for _, part := range byPath {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			holder := state.(string)
			switch in := input.(type) {
			case fileTake:
				if holder == "" {
					holder = in.agent
				}
				is, known := output.(fileHolder)
				return !known || is.agent == holder, holder
			case fileRelease:
				if holder == in.agent {
					holder = ""
				}
				return true, holder
			default:
				panic(fmt.Sprintf("%T is no call", input))
			}
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%T%v: %v", input, input, output) },
	}
}

// A fileHistory is what all agents did, and when.
type fileHistory struct {
	mu    sync.Mutex
	began time.Time
	ops   []porcupine.Operation
}

func (h *fileHistory) do(who int, input any, call func() (any, error)) {
	from := time.Since(h.began).Nanoseconds()
	output, err := call()
	until := time.Since(h.began).Nanoseconds()
	if err != nil {
		output, until = fileUnknown{}, never
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: who, Input: input, Call: from, Output: output, Return: until})
}

func TestTheCheckerOfLeasesFindsASecondHolder(t *testing.T) {
	t.Parallel()
	two := []porcupine.Operation{
		{ClientId: 0, Input: fileTake{"a", "f"}, Call: 0, Output: fileHolder{"a"}, Return: 1},
		{ClientId: 1, Input: fileTake{"b", "f"}, Call: 2, Output: fileHolder{"b"}, Return: 3},
	}
	if porcupine.CheckOperationsTimeout(leasedFile(), two, time.Minute) != porcupine.Illegal {
		t.Error("two holders of one file are legal")
	}
	if porcupine.CheckOperationsTimeout(leasedFile(), two[:1], time.Minute) != porcupine.Ok {
		t.Error("one holder is not legal")
	}
}

func TestNoFileHasTwoHoldersThoughCoordinatorAndRedisAreKilled(t *testing.T) {
	t.Parallel()
	const agents, files = 10, 4
	redis := redistest.New(t, "--appendonly", "yes", "--appendfsync", "always")
	coordinator := faultrig.Start(t, redis.URL())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	history := &fileHistory{began: time.Now()}
	var working sync.WaitGroup
	var calls atomic.Int64
	// work goes on for a second, or on a busy machine until something was done.
	work := func() {
		before := calls.Load()
		faultrig.Pass(ctx, time.Second)
		faultrig.Within(time.Minute, func() bool { return calls.Load() >= before+50 })
	}
	var round atomic.Int64 // each has files of its own: a long history of one takes a checker for ever
	for n := range agents {
		id := fmt.Sprint("ed", n)
		choose := seed.Rand(t, uint64(n))
		working.Go(func() {
			to := client.New(client.Config{URL: coordinator.URL(), AgentID: c3po.AgentID(id), ClientName: "test"})
			for ctx.Err() == nil {
				path := fmt.Sprintf("f%d of round %d", choose.IntN(files), round.Load())
				call, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
				if choose.IntN(3) == 0 {
					history.do(n, fileRelease{id, path}, func() (any, error) {
						_, err := to.LeaseRelease(call, c3po.LeaseReleaseInput{Repository: "r", Branch: "main", Tree: id, Paths: []string{path}})
						return fileFree{}, err
					})
				} else {
					history.do(n, fileTake{id, path}, func() (any, error) {
						taken, err := to.LeaseTake(call, c3po.LeaseTakeInput{Repository: "r", Branch: "main", Tree: id, Paths: []string{path}})
						if err == nil && taken.Held != nil {
							return fileHolder{string(taken.Held.Holder)}, nil
						}
						return fileHolder{id}, err
					})
				}
				cancel()
				calls.Add(1)
				faultrig.Pass(ctx, 20*time.Millisecond)
			}
		})
	}
	for range faultrig.Size(1, 20) {
		round.Add(1)
		work()
		coordinator.Kill()
		coordinator.Restart()
		work()
		redis.Kill()
		redis.Restart()
	}
	work()
	stop()
	working.Wait()
	known := 0
	for _, op := range history.ops {
		if op.Return != never {
			known++
		}
	}
	t.Logf("%d calls, of %d the outcome is known", len(history.ops), known)
	if known < 100 {
		t.Error("hardly anything was done")
	}
	if result := porcupine.CheckOperationsTimeout(leasedFile(), history.ops, time.Minute); result != porcupine.Ok {
		t.Errorf("the history is %s", result)
	}
}

func TestACommitOfAFileThatAnotherHasLeasedSinceIsRefused(t *testing.T) {
	t.Parallel()
	coordinator := faultrig.Start(t, redistest.New(t).URL())
	dir, home := t.TempDir(), faultrig.Home(t)
	git := func(args ...string) (string, error) {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "C3PO_COORDINATOR_URL=" + coordinator.URL(), "C3PO_AGENT_ID=old"}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(out string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	must(git("init", "-q", "-b", "main"))
	must(git("commit", "-q", "--allow-empty", "-m", "first"))
	check := fmt.Sprintf("#!/bin/sh\nexec '%s' leases check\n", faultrig.Binary(t))
	if err := os.WriteFile(filepath.Join(dir, ".git", "hooks", "pre-commit"), []byte(check), 0o700); err != nil {
		t.Fatal(err)
	}
	checkout, _ := paths.CheckoutOf(dir)
	repository, err := checkout.SetLeases(true)
	if err != nil {
		t.Fatal(err)
	}
	as := func(id c3po.AgentID) *client.Client {
		return client.New(client.Config{URL: coordinator.URL(), AgentID: id, ClientName: "test"})
	}
	takes := func(id c3po.AgentID, tree, path string) int64 {
		t.Helper()
		taken, err := as(id).LeaseTake(t.Context(), c3po.LeaseTakeInput{Repository: repository, Branch: "main", Tree: tree, Paths: []string{path}})
		if err != nil || len(taken.Numbers) != 1 {
			t.Fatalf("%s takes %s: %+v, %v", id, path, taken, err)
		}
		return taken.Numbers[0]
	}
	for i := range faultrig.Size(5, 100) {
		path := fmt.Sprintf("f%d.txt", i)
		number := takes("old", checkout.Tree(), path)
		if err := checkout.NoteLeases([]string{path}, []int64{number}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte("stale"), 0o600); err != nil {
			t.Fatal(err)
		}
		must(git("add", path))
		if _, err := as("old").Unregister(t.Context(), c3po.None{}); err != nil {
			t.Fatal(err)
		}
		takes("new", "elsewhere", path)
		if i%2 == 1 { // the other has committed its change already
			released, err := as("new").LeaseRelease(t.Context(), c3po.LeaseReleaseInput{Repository: repository, Branch: "main", Tree: "elsewhere", Paths: []string{path}})
			if err != nil || released.Released != 1 {
				t.Fatal(released, err)
			}
		}
		out, err := git("commit", "-q", "-m", "stale")
		if err == nil || !strings.Contains(out, "not committed: "+path) || !strings.Contains(out, "new") {
			t.Fatalf("commit %d: %v\n%s", i, err, out)
		}
		must(git("reset", "-q"))
	}
	// What nobody else has leased is committed.
	must(git("commit", "-q", "--allow-empty", "-m", "second"))
}
