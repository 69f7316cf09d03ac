package clients_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// The same attack as from within Claude Code. Codex starts its shell beside the
// session process and not below it, and asks nobody before it runs a command.
func TestACodexThatTriesEverythingIsNobodyButItself(t *testing.T) {
	t.Parallel()
	var (
		mu       sync.Mutex
		pending  []clientrig.Attempt
		answered = map[string]string{}
		last     string
	)
	a := clientrig.NewMachine(t, "", "").Agent("codex", "api", func(q llm.Request) llm.Step {
		if strings.Contains(q.All(), "c3po: you are web.") {
			return done(q)
		}
		mu.Lock()
		defer mu.Unlock()
		if last != "" {
			answered[last] = q.Fresh()
		}
		if len(pending) == 0 {
			last = ""
			return done(q)
		}
		next := pending[0]
		pending, last = pending[1:], next.Name
		return llm.Call("exec_command", map[string]any{"cmd": next.Command, "yield_time_ms": 30_000})
	})
	a.Env = []string{"C3PO_LISTEN=127.0.0.1:0"}
	install(a) // without a coordinator, which would take what tries the hooks for an agent above the test
	a.C3PO("up")
	t.Cleanup(func() { a.C3PO("down") })

	web := filepath.Join(a.Dir, "web")
	if err := os.MkdirAll(web, 0o700); err != nil {
		t.Fatal(err)
	}
	const config = ".codex/config.toml"
	a.Write(config, a.Text(config)+"\n[projects.\""+web+"\"]\ntrust_level = \"trusted\"\n")
	term := a.OpenIn(web)
	term.Enter("hello")
	term.See("ALL-DONE")
	clientrig.Eventually(t, 20*time.Second, "web is online", func() bool { return strings.Contains(a.C3PO("agents"), "web") })
	id := regexp.MustCompile(`\S+::\S+::[0-9a-f]{8}`)
	mail := id.FindString(a.C3PO("send", "web", clientrig.SecretOfWeb, "--as", "db"))
	question := id.FindString(a.C3PO("ask-human", clientrig.AskedOfUser, "--as", "api"))
	if mail == "" || question == "" {
		t.Fatalf("the mail is %q and the question %q", mail, question)
	}

	person := func(args ...string) string { return a.C3PO(args...) }
	before := clientrig.LedgerOf(person)
	for some := range slices.Chunk(clientrig.Attempts(question, mail, a.Binary), 20) {
		mu.Lock()
		pending = append(pending, some...)
		mu.Unlock()
		if got := a.Ask("try everything", "--dangerously-bypass-approvals-and-sandbox"); got.Code != 0 {
			t.Fatalf("codex ends with %d:\n%s%s", got.Code, got.Stdout, got.Stderr)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for name, out := range answered {
		if !strings.Contains(out, "Process exited with code") {
			t.Errorf("%s: was not run to its end:\n%s", name, out)
		}
	}
	clientrig.Judge(t, answered, before, person)
}
