package clients_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// leased makes the folder of an agent a repository with a commit, and its files leased.
func leased(a *clientrig.Agent) string {
	a.T.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "first"}} {
		if out, err := exec.Command("git", append([]string{"-C", a.Folder}, args...)...).CombinedOutput(); err != nil {
			a.T.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	checkout, ok := paths.CheckoutOf(a.Folder)
	if !ok {
		a.T.Fatal("it is no working tree")
	}
	repository, err := checkout.SetLeases(true)
	if err != nil {
		a.T.Fatal(err)
	}
	return repository
}

// An editingClient is a client, and how its model makes a new file.
type editingClient struct {
	name    string
	prepare func(*clientrig.Agent) // what lets it write without asking
	args    []string               // likewise
	write   func(file, text string) llm.Step
}

// patch is a new file as Codex' own form of a patch.
func patch(file, text string) string {
	return fmt.Sprintf("*** Begin Patch\n*** Add File: %s\n+%s\n*** End Patch\n", file, text)
}

var editingClients = []editingClient{
	{
		name: "opencode",
		write: func(file, text string) llm.Step {
			return llm.Call("write", map[string]any{"filePath": file, "content": text})
		},
	},
	{
		name: "codex",
		prepare: func(a *clientrig.Agent) {
			const config = ".codex/config.toml"
			// Of a model that it does not know it thinks that it cannot patch.
			a.Write(config, strings.NewReplacer(`"read-only"`, `"danger-full-access"`, `"of-the-test"`, `"gpt-5.5"`).Replace(a.Text(config)))
		},
		write: func(file, text string) llm.Step {
			return llm.Call("apply_patch", map[string]any{"input": patch(file, text)})
		},
	},
	{
		name: "gemini", args: []string{"--yolo"},
		write: func(file, text string) llm.Step {
			return llm.Call("write_file", map[string]any{"file_path": file, "content": text})
		},
	},
	{
		name: "copilot", args: []string{"--allow-all-tools", "--allow-all-paths"},
		write: func(file, text string) llm.Step {
			return llm.Call("create", map[string]any{"path": file, "file_text": text})
		},
	},
	{
		name: "kimi",
		write: func(file, text string) llm.Step {
			return llm.Call("Write", map[string]any{"path": file, "content": text})
		},
	},
}

func editingClientCalled(name string) editingClient {
	return editingClients[slices.IndexFunc(editingClients, func(c editingClient) bool { return c.name == name })]
}

// Two clients edit the same files of one working tree, in opposite order. Whoever is first
// at a file keeps it, as nobody commits.
func TestOfTwoDifferentClientsOneWritesAFileAndTheOtherHearsWhoDoes(t *testing.T) {
	t.Parallel()
	const files = 20
	rounds := faultrig.Size(1, 5)
	c := clientrig.Start(t)
	shared := c.Machine("").Agent("gemini", "api", nil)
	leased(shared)
	agents := map[string]*clientrig.Agent{"api": shared, "web": c.Machine("").Agent("copilot", "web", nil)}
	file := func(n int) string { return filepath.Join(shared.Folder, fmt.Sprintf("f%02d.txt", n)) }
	var working, editing sync.WaitGroup
	editing.Add(len(agents))
	for name, a := range agents {
		install(a)
		how, n := editingClientCalled(a.Client.Name), 0
		a.Model.Script = func(q llm.Request) llm.Step {
			if n++; n > files*rounds {
				if n == files*rounds+1 { // the end of its session would free its files
					editing.Done()
					editing.Wait()
				}
				return done(q)
			}
			which := (n - 1) % files
			if name == "web" {
				which = files - 1 - which
			}
			return how.write(file(which), fmt.Sprintf("%s %d", name, n))
		}
	}
	for _, a := range agents {
		working.Go(func() { a.Run("", a.Once("write them all", editingClientCalled(a.Client.Name).args...)...) })
	}
	working.Wait()
	written, refused := 0, 0
	for n := range files {
		text, err := os.ReadFile(file(n))
		owner, _, _ := strings.Cut(string(text), " ")
		if err != nil || agents[owner] == nil {
			t.Errorf("file %d holds %q", n, text)
			continue
		}
		for name, a := range agents {
			told := strings.ReplaceAll(a.Model.Last().All(), `\"`, `"`)
			times := strings.Count(told, fmt.Sprintf(`'%s' has been editing "f%02d.txt"`, owner, n))
			switch {
			case name == owner && strings.Contains(told, fmt.Sprintf(`has been editing "f%02d.txt"`, n)):
				t.Errorf("%s holds file %d and was refused", name, n)
			case name != owner && times != rounds:
				t.Errorf("%s was refused file %d %d times of %d, which %s holds", name, n, times, rounds, owner)
			case name != owner:
				refused += times
			default:
				written += rounds
			}
		}
	}
	t.Logf("%d edits: %d written, %d refused with the holder's name", 2*files*rounds, written, refused)
}

func TestAFileThatAnotherSessionEditsIsNotWrittenByAnyClient(t *testing.T) {
	t.Parallel()
	for _, c := range editingClients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const files = 6
			r := newTestAgent(t, c.name, nil)
			repository := leased(r.Agent)
			if c.prepare != nil {
				c.prepare(r.Agent)
			}
			file := func(n int) string { return filepath.Join(r.Folder, fmt.Sprintf("f%02d.txt", n)) }
			other := c3po.LeaseTakeInput{Repository: repository, Branch: "main", Tree: "elsewhere", Task: "the parser"}
			for n := 1; n <= files; n += 2 {
				other.Paths = append(other.Paths, filepath.Base(file(n)))
			}
			if taken, err := r.c.As("nas/ed").LeaseTake(t.Context(), other); err != nil || len(taken.Numbers) != files/2 {
				t.Fatal(taken, err)
			}
			n := 0
			r.Model.Script = func(q llm.Request) llm.Step {
				if n == 0 && os.Getenv("C3PO_SHOW_TOOLS") != "" {
					for _, tool := range q.Tools {
						t.Logf("%.300s", tool)
					}
				}
				if n++; n > files {
					return done(q)
				}
				return c.write(file(n), "mine")
			}
			got := r.Run("", r.Once("write them all", c.args...)...)
			told := strings.ReplaceAll(r.Model.Last().All(), `\"`, `"`)
			for n := 1; n <= files; n++ {
				held := n%2 == 1
				text, err := os.ReadFile(file(n))
				if wrote := err == nil && strings.TrimSpace(string(text)) == "mine"; wrote == held {
					t.Errorf("file %d, held by another: %t, holds %q", n, held, text)
				}
				if refusal := fmt.Sprintf(`'nas/ed' has been editing "f%02d.txt"`, n); held != strings.Contains(told, refusal) {
					t.Errorf("the model's word about file %d, held by another: %t", n, held)
				}
			}
			if !strings.Contains(told, "| the parser") {
				t.Error("the refusal does not say what the holder works on")
			}
			if t.Failed() {
				t.Logf("exit %d\n%s\n%s\n%s", got.Code, got.Stdout, got.Stderr, told)
			}
		})
	}
}

// ofARun is what a client says of each run: its id, and when it was.
var ofARun = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?`)

// plainOf is all that a model is sent with a request.
func plainOf(q llm.Request) string {
	text := fmt.Sprintf("%d bytes\n%s\n", q.Bytes, q.System)
	for _, m := range q.Messages {
		text += fmt.Sprintf("%s (%d): %s\n", m.Role, m.Size, m.Text)
	}
	for _, tool := range q.Tools {
		text += string(tool) + "\n"
	}
	return ofARun.ReplaceAllStringFunc(text, func(is string) string { return strings.Repeat("x", len(is)) })
}

// The same edits are made with leases off and on: what the model is sent is the same. In
// its short form it is of the clients that start quickly.
func TestWithoutAConflictALeaseAddsNothingToWhatAnyModelReads(t *testing.T) {
	t.Parallel()
	for _, c := range editingClients {
		if faultrig.Size(0, 1) == 0 && (c.name == "opencode" || c.name == "gemini") {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const files = 3
			r := newTestAgent(t, c.name, nil)
			leased(r.Agent)
			if c.prepare != nil {
				c.prepare(r.Agent)
			}
			checkout, _ := paths.CheckoutOf(r.Folder)
			file := func(n int) string { return filepath.Join(r.Folder, fmt.Sprintf("f%02d.txt", n)) }
			sent := func(on bool) (all string) {
				if _, err := checkout.SetLeases(on); err != nil {
					t.Fatal(err)
				}
				n, held, before := 0, 0, len(r.Model.Seen())
				r.Model.Script = func(q llm.Request) llm.Step {
					if n++; n > files {
						list, err := r.c.As("").LeaseList(t.Context(), c3po.LeaseListInput{})
						if err != nil {
							t.Error(err)
						}
						held = len(list.Leases)
						return done(q)
					}
					return c.write(file(n), "mine")
				}
				got := r.Run("", r.Once("write them all", c.args...)...)
				if want := map[bool]int{true: files}[on]; held != want {
					t.Errorf("leases on: %t, and %d are held; exit %d\n%s\n%s", on, held, got.Code, got.Stdout, got.Stderr)
				}
				for _, q := range r.Model.Seen()[before:] {
					all += plainOf(q)
				}
				for n := 1; n <= files; n++ {
					if err := os.Remove(file(n)); err != nil {
						t.Error(err)
					}
				}
				return all
			}
			// On a busy machine a client may not wait for its greeting, with leases or without.
			greeted := func(sent string) bool { return strings.Contains(sent, "c3po: you are api.") }
			without, with := sent(false), sent(true)
			for again := 0; greeted(without) != greeted(with) && again < 5; again++ {
				if greeted(with) {
					without = sent(false)
				} else {
					with = sent(true)
				}
			}
			if diff := cmp.Diff(without, with); diff != "" {
				t.Errorf("what the model reads without leases, and with them:\n%s", diff)
			}
			t.Logf("%d bytes either way", len(with))
		})
	}
}
