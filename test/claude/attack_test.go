package claude_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
)

// A model with a shell tries everything it can think of, as a person's token lies
// in the same home. What is left to it as the same user is in docs/explain/security.md:
// reading Redis' files and memory, and leaving its parents behind.
func TestASessionThatTriesEverythingIsNobodyButItself(t *testing.T) {
	t.Parallel()
	claudeBinary(t)
	w := &testCoordinator{t: t}
	h := w.host("pi")
	var (
		mu       sync.Mutex
		pending  []clientrig.Attempt
		answered = map[string]string{}
		last     string
	)
	attacker := h.agent("api", func(r request) step {
		mu.Lock()
		defer mu.Unlock()
		if last != "" {
			answered[last] = r.Fresh()
		}
		if len(pending) == 0 {
			last = ""
			return say("DONE")
		}
		next := pending[0]
		pending, last = pending[1:], next.Name
		return call("Bash", map[string]any{"command": next.Command, "description": "try"})
	})
	binary := strings.TrimPrefix(attacker.extra[0], "C3PO_BINARY=")
	attacker.extra = append(attacker.extra[:1], "C3PO_LISTEN=127.0.0.1:0")
	attacker.must(binary, "up")
	t.Cleanup(func() {
		cmd := exec.Command(binary, "down")
		cmd.Env = attacker.env()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("c3po down: %v\n%s", err, out)
		}
	})
	victim := h.agent("web", quiet)
	victim.extra = attacker.extra
	term := victim.open()
	term.idle()
	eventually(t, 20*time.Second, "web is online", func() bool {
		out, err := attacker.command(binary, "agents")
		return err == nil && strings.Contains(out, "web")
	})
	id := regexp.MustCompile(`\S+::\S+::[0-9a-f]{8}`)
	mail := id.FindString(attacker.must(binary, "send", "web", clientrig.SecretOfWeb, "--as", "db"))
	question := id.FindString(attacker.must(binary, "ask-human", clientrig.AskedOfUser, "--as", "api"))
	if mail == "" || question == "" {
		t.Fatalf("the mail is %q and the question %q", mail, question)
	}
	eventually(t, 20*time.Second, "web has its mail", func() bool {
		return strings.Contains(victim.model.Read(), clientrig.SecretOfWeb) || told(victim.model) > 0
	})

	person := func(args ...string) string { return attacker.must(binary, args...) }
	before := clientrig.LedgerOf(person)
	// In several sessions, each of which is over soon on a busy machine too.
	for some := range slices.Chunk(clientrig.Attempts(question, mail, binary), 20) {
		mu.Lock()
		pending = append(pending, some...)
		mu.Unlock()
		attacker.print("try everything", "--allowedTools", "Bash", "--max-turns", fmt.Sprint(len(some)+5))
	}
	mu.Lock()
	defer mu.Unlock()
	clientrig.Judge(t, answered, before, person)
}
