package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

var (
	// elsewhere are commands whose examples need more than a coordinator, and
	// where they are run.
	elsewhere = map[string]string{
		"c3po agent":            "needs an agents.yaml and containers; agent.txtar and test/runner",
		"c3po agent run":        "needs containers; test/runner",
		"c3po agent prompt":     "needs containers; test/runner",
		"c3po agent shell":      "needs containers; test/runner",
		"c3po agent up":         "needs containers; test/runner",
		"c3po agent logs":       "needs containers; test/runner",
		"c3po agent ps":         "needs containers; test/runner",
		"c3po agent stop":       "needs containers; test/runner",
		"c3po agent setup":      "needs a token; agent.txtar",
		"c3po agent setup-c3po": "needs a token; agent.txtar",
		"c3po agents forget":    "needs an agent that may go; dead-letter.txtar",
		"c3po save":             "needs a message with files; save.txtar",
		"c3po files drop":       "needs a file; files.txtar",
		"c3po apply":            "needs a message with a patch; apply.txtar",
		"c3po attend":           "waits for mail until it is ended; test/claude",
		"c3po restore":          "needs a Redis that is empty; backup.txtar",
		"c3po export":           "needs a coordinator that is down; export.txtar",
		"c3po import":           "needs an export of another machine; export.txtar",
		"c3po answer":           "needs questions that wait; answer.txtar",
		"c3po claude":           "needs Claude Code; test/claude",
		"c3po codex":            "needs the program it starts; launch.txtar",
		"c3po opencode":         "needs the program it starts; launch.txtar",
		"c3po gemini":           "needs the program it starts; launch.txtar",
		"c3po copilot":          "needs the program it starts; launch.txtar",
		"c3po kimi":             "needs the program it starts; launch.txtar",
		"c3po doctor":           "its exit code is its verdict, on what the examples before it did too; doctor.txtar",
		"c3po upgrade":          "needs a program that is from a release; upgradenow_test.go",
		"c3po login":            "needs another host; join.txtar and test/join",
		"c3po leave":            "needs another host; join.txtar",
		"c3po invite":           "needs a coordinator that other hosts reach; join.txtar",
		"c3po run":              "needs the program it runs; run.txtar",
		"c3po dead-letter show": "needs a letter that has died; dead-letter.txtar",
		"c3po notify":           "needs somebody who is told; notify.txtar",
		"c3po notify test":      "needs somebody who is told; notify.txtar",
		"c3po hooks":            "runs until it is interrupted; hooks.txtar",
		"c3po leases on":        "needs a repository; leases.txtar",
		"c3po leases off":       "needs a repository; leases.txtar",
		"c3po leases accept":    "needs a repository; leases.txtar",
		"c3po leases check":     "needs a repository; leases.txtar",
		"c3po leases release":   "needs a lease that somebody holds; leases.txtar",
		"c3po join":             "needs another host; join.txtar and test/join",
		"c3po install":          "needs the program it installs into; test/claude",
		"c3po passkey":          "needs a passkey; web/e2e/passkeys.test.mjs",
		"c3po passkey policy":   "needs a passkey; web/e2e/passkeys.test.mjs",
		"c3po passkey remove":   "needs a passkey; web/e2e/passkeys.test.mjs",
		"c3po passkey reset":    "needs a passkey; web/e2e/passkeys.test.mjs",
		"c3po install bridge":   "makes links beside the program that runs it; bridge.txtar",
		"c3po install claude":   "needs Claude Code; test/claude",
		"c3po install codex":    "needs a home to change; clients.txtar",
		"c3po uninstall codex":  "needs a home to change; clients.txtar",
		"c3po install gemini":   "needs a home to change; clients-json.txtar",
		"c3po uninstall gemini": "needs a home to change; clients-json.txtar",
		"c3po uninstall":        "needs the program it takes c3po out of; test/claude",
		"c3po uninstall claude": "needs Claude Code; test/claude",

		"c3po install opencode":   "needs a home to change; opencode.txtar",
		"c3po uninstall opencode": "needs a home to change; opencode.txtar",
		"c3po install copilot":    "needs a home to change; clients-json.txtar",
		"c3po uninstall copilot":  "needs a home to change; clients-json.txtar",
		"c3po install kimi":       "needs a home to change; clients-json.txtar",
		"c3po uninstall kimi":     "needs a home to change; clients-json.txtar",
	}
	// endless are those that go on until they are interrupted.
	endless = []string{"c3po tail", "c3po human watch", "c3po audit tail --follow", "c3po logs --follow", "c3po serve", "c3po up --foreground"}
	// foreign are those that speak to a program in its own language, whatever --json says.
	foreign = []string{"c3po mcp", "c3po completion"}
)

func TestEveryExampleWorksAndEveryCommandHasJSON(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("redis-server"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("no redis-server is installed")
	}
	s := newStage(t)
	for _, cmd := range playlist(root((&console.Console{}))) {
		for line := range strings.Lines(cmd.Example) {
			line = strings.TrimSpace(line)
			if out := s.play(line); out == "" && cmd.Name() != "mcp" {
				t.Errorf("%s prints nothing", line)
			}
			if slices.ContainsFunc(foreign, func(name string) bool { return strings.HasPrefix(line, name) }) {
				continue
			}
			if !strings.Contains(line, "--json") {
				line += " --json"
			}
			if cmd.Name() == "backup" {
				line += " --force" // the first one has made the file
			}
			decoder := json.NewDecoder(strings.NewReader(s.play(line)))
			for n := 0; ; n++ {
				var value any
				if err := decoder.Decode(&value); errors.Is(err, io.EOF) && n > 0 {
					break
				} else if err != nil {
					t.Errorf("%s does not print JSON: %v", line, err)
					break
				}
			}
		}
	}
}

// TopVariable tells the program which process the test is.
const TopVariable = "TEST_TOP"

// playlist is every command that has examples to be run, the one that ends
// the coordinator last.
func playlist(root *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	var last *cobra.Command
	everyCommand(root, func(cmd *cobra.Command) {
		switch {
		case !isForPeople(cmd) || elsewhere[cmd.CommandPath()] != "":
		case cmd.Name() == "down":
			last = cmd
		default:
			all = append(all, cmd)
		}
	})
	return append(all, last)
}

// A stage is a coordinator with some agents and a folder to run examples in.
type stage struct {
	t      *testing.T
	home   string
	folder string
	socket string
	admin  string // token
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, home: faultrig.Home(t)}
	s.folder = filepath.Join(s.home, "project")
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	s.run(s.home, "c3po up")
	t.Cleanup(func() { s.run(s.home, "c3po down") })
	note, err := paths.ReadCoordinator(filepath.Join(s.home, ".local", "state", "c3po"))
	if err != nil || note == nil {
		t.Fatalf("no coordinator: %v", err)
	}
	s.socket = note.Socket
	mine, err := paths.ReadPerson(filepath.Join(s.home, ".config", "c3po"))
	if err != nil || mine == nil {
		t.Fatalf("no credentials: %v", err)
	}
	s.admin = mine.Admin
	for _, id := range []c3po.AgentID{"alice", "bob", "reviewer", "api"} {
		if _, err := s.as(id).RegisterAgent(t.Context(), c3po.RegisterInput{Capabilities: []string{"review"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.folder, "fix.diff"), []byte("a patch\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Something for the audit to show, and for `git diff`.
	s.run(s.home, "c3po token create --role observer")
	s.run(s.home, "git init -q . && echo new >file && git add -N file")
	ctx, stop := context.WithCancel(context.Background())
	answered := make(chan struct{})
	t.Cleanup(func() { stop(); <-answered })
	go func() { defer close(answered); s.answer(ctx) }()
	return s
}

func (s *stage) as(id c3po.AgentID) *client.Client {
	return client.New(client.Config{Socket: s.socket, AgentID: id, ClientName: "test"})
}

// inRooms makes who runs the examples a member.
func (s *stage) inRooms(rooms ...c3po.RoomName) {
	s.t.Helper()
	for _, room := range rooms {
		if _, err := s.as("alice").RoomJoin(s.t.Context(), c3po.RoomJoinInput{Room: room}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// answer lets bob answer what the examples ask him.
func (s *stage) answer(ctx context.Context) {
	bob := s.as("bob")
	for ctx.Err() == nil {
		mail, err := bob.Peek(ctx, c3po.GetMessagesInput{Limit: 1000})
		for _, m := range mail.Messages {
			if strings.HasPrefix(m.Message, "Wh") {
				_, _ = bob.Reply(ctx, c3po.ReplyInput{MessageID: m.ID, Response: "mesh/node/#"})
			}
		}
		after := int64(0)
		if err == nil && len(mail.Messages) > 0 {
			after = mail.Messages[len(mail.Messages)-1].Seq
		}
		_, _ = bob.Pending(ctx, c3po.PendingInput{Timeout: 1, After: &after})
	}
}

// play runs an example with what it names made real, and returns what it prints.
func (s *stage) play(line string) string {
	if strings.HasPrefix(line, "c3po room") {
		s.inRooms("build", "secret")
	}
	s.t.Helper()
	home := s.home
	line = s.made(line)
	if strings.HasPrefix(line, "c3po room ") {
		s.run(home, "c3po room join build && c3po room join secret") // an example before may have left them
	}
	if strings.HasPrefix(line, "c3po up --foreground") || strings.HasPrefix(line, "c3po serve") {
		home = faultrig.Home(s.t) // this one has a coordinator
		defer s.run(home, "c3po down")
	}
	switch { // the examples after it send, and are answered
	case strings.HasPrefix(line, "c3po pause --all"):
		defer s.run(home, "c3po resume --all")
	case strings.HasPrefix(line, "c3po ask-human"):
		defer s.run(home, "c3po resume alice")
	}
	return s.run(home, line)
}

// made replaces what stands for something of the reader's own.
func (s *stage) made(line string) string {
	s.t.Helper()
	replace := func(placeholder string, make func() (string, error)) {
		if !strings.Contains(line, placeholder) {
			return
		}
		value, err := make()
		if err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		line = strings.ReplaceAll(line, placeholder, value)
	}
	ctx := s.t.Context()
	replace("alice::bob::0a1b2c3d", func() (string, error) {
		sent, err := s.as("alice").SendMessage(ctx, c3po.SendInput{Target: "bob", Message: "a question for " + line})
		if err == nil && strings.Contains(line, "wait --for") {
			_, err = s.as("bob").Reply(ctx, c3po.ReplyInput{MessageID: sent.ID, Response: "an answer"})
		}
		return string(sent.ID), err
	})
	replace("alice::role/review::0a1b2c3d", func() (string, error) {
		sent, err := s.as("alice").SendMessage(ctx, c3po.SendInput{Target: "role:review", Message: "some work for " + line})
		return string(sent.ID), err
	})
	replace("api::human::0a1b2c3d", func() (string, error) {
		asked, err := s.as("api").EscalateToHuman(ctx, c3po.EscalateInput{Reason: "which one?", Choices: []string{"this one", "that one"}})
		return string(asked.MessageID), err
	})
	if strings.HasPrefix(line, "c3po human watch") {
		if _, err := s.as("api").EscalateToHuman(ctx, c3po.EscalateInput{Reason: "do you see this?"}); err != nil {
			s.t.Fatal(err)
		}
	}
	replace("k3xv2ab7qmzd", func() (string, error) {
		admin := client.New(client.Config{Socket: s.socket, Token: s.admin})
		token, err := admin.CreateToken(ctx, c3po.TokenInput{Role: c3po.RoleObserver})
		return token.KID, err
	})
	replace("redis://127.0.0.1:6379", func() (string, error) {
		state := filepath.Join(s.home, ".local", "state", "c3po")
		note, err := paths.ReadCoordinator(state)
		if err != nil {
			return "", err
		}
		// Those who run it have another home, so they are told the password.
		return engine.Open(filepath.Join(state, "redis"), "unix://"+note.RedisSocket)
	})
	return line
}

// run runs a line as a shell does, and returns what it prints. One that has no
// end is interrupted once it has printed something.
func (s *stage) run(home, line string) string {
	s.t.Helper()
	as := "alice"
	if strings.HasPrefix(line, "c3po reply") || strings.HasPrefix(line, "c3po ack") {
		as = "bob"
	}
	goesOn := slices.ContainsFunc(endless, func(name string) bool { return strings.HasPrefix(line, name) }) && !strings.Contains(line, "--once")
	if goesOn {
		line = "exec " + line // so that the signal is for it
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = s.folder
	cmd.Env = []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "C3PO_LISTEN=127.0.0.1:0", "C3PO_SENDS_PER_MINUTE=0",
		"C3PO_AGENT_ID=" + as, TopVariable + "=" + os.Getenv(TopVariable), "GORACE=atexit_sleep_ms=0",
	}
	var out, errs faultrig.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	limit := time.After(2 * time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for interrupted := false; ; {
		select {
		case err := <-ended:
			failed, _ := errors.AsType[*exec.ExitError](err)
			if err != nil && !(goesOn && failed != nil && failed.ExitCode() == console.ExitInterrupted) {
				s.t.Errorf("%s: %v\n%s%s", line, err, out.String(), errs.String())
			}
			return out.String()
		case <-tick.C:
			if goesOn && !interrupted && out.String() != "" {
				interrupted = true
				_ = cmd.Process.Signal(syscall.SIGINT)
			}
		case <-limit:
			_ = cmd.Process.Kill()
			s.t.Errorf("%s does not end:\n%s%s", line, out.String(), errs.String())
			return ""
		}
	}
}

// Every reason to leave an example out is that of a command there is.
func TestWhatIsExemptExists(t *testing.T) {
	t.Parallel()
	known := []string{}
	everyCommand(root((&console.Console{})), func(cmd *cobra.Command) { known = append(known, cmd.CommandPath()) })
	for name := range elsewhere {
		if !slices.Contains(known, name) {
			t.Errorf("there is no command %s", name)
		}
	}
	for _, name := range slices.Concat(endless, foreign) {
		if !slices.ContainsFunc(known, func(path string) bool { return strings.HasPrefix(name, path) && path != "c3po" }) {
			t.Errorf("there is no command %s", name)
		}
	}
	if len(known) < 30 {
		t.Error(fmt.Sprint("only ", known))
	}
}
