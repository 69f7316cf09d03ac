package faultrig_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A household is one user's c3po, as they run it: the binary, a home, and all
// that anybody could have read meanwhile.
type household struct {
	t     *testing.T
	home  string
	redis string
	typed string // what the commands are given on stdin

	mu     sync.Mutex
	seen   bytes.Buffer // what was printed, logged and answered
	issued []string     // the secrets, each without what may be known of it
}

func newHousehold(t *testing.T) *household {
	return &household{t: t, home: faultrig.Home(t), redis: redistest.Start(t)}
}

func (h *household) see(texts ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, text := range texts {
		h.seen.WriteString(text + "\n")
	}
}

// c3po runs a command. What it prints to stderr is seen by everybody, and
// stdout unless it is meant to hand out a secret.
func (h *household) c3po(handsOut bool, home string, args ...string) (stdout string, err error) {
	h.t.Helper()
	cmd := exec.Command(faultrig.Binary(h.t), args...)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "REDIS_URL=" + h.redis,
		"C3PO_LISTEN=127.0.0.1:0", "C3PO_LOG_LEVEL=debug", "C3PO_TLS=on"}
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(h.typed), &out, &said
	err = cmd.Run()
	h.see(said.String())
	if !handsOut {
		h.see(out.String())
	}
	return out.String(), err
}

func (h *household) must(handsOut bool, home string, args ...string) string {
	h.t.Helper()
	out, err := h.c3po(handsOut, home, args...)
	if err != nil {
		h.t.Fatalf("c3po %s: %v\n%s", strings.Join(args, " "), err, h.seen.String())
	}
	return out
}

var tokenForm = regexp.MustCompile(`c3po_[a-z]+_[a-z2-7]{12}_([A-Za-z0-9_-]{43})`)

// issue takes the tokens in a text down.
func (h *household) issue(text string) []string {
	h.t.Helper()
	var tokens []string
	for _, found := range tokenForm.FindAllStringSubmatch(text, -1) {
		tokens = append(tokens, found[0])
		h.issued = append(h.issued, found[1])
	}
	if len(tokens) == 0 {
		h.t.Fatalf("no token was found in %q", text)
	}
	return tokens
}

// ask makes a request with a token and returns what was answered. The
// certificate is not looked at: this is loopback, and not what is tested.
func (h *household) ask(client *http.Client, method, url, token string, header map[string]string, body string) string {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		r.Header.Set(name, value)
	}
	answer, err := client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer.Status + " " + string(text)
}

// arguments looks at the command lines of all processes until stop is closed,
// as anybody on the machine can.
func (h *household) arguments(stop <-chan struct{}) (seen string) {
	var all strings.Builder
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	known := map[string]bool{}
	for {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			text, _ := os.ReadFile(file)
			if line := string(text); !known[line] {
				known[line] = true
				all.WriteString(line + "\n")
			}
		}
		select {
		case <-stop:
			return all.String()
		case <-tick.C:
		}
	}
}

// A whole life of tokens, with all that can go wrong with them, leaves none of
// them in a log, an error, a metric, the audit or the arguments of a process.
func TestNoTokenIsSeenByAnybodyButItsHolder(t *testing.T) {
	h := newHousehold(t)
	stop, lines := make(chan struct{}), make(chan string, 1)
	go func() { lines <- h.arguments(stop) }()

	h.must(false, h.home, "up")
	t.Cleanup(func() { _, _ = h.c3po(false, h.home, "down") })
	config := filepath.Join(h.home, ".config", "c3po")
	for _, name := range []string{"credentials.json", "person.json"} {
		text, err := os.ReadFile(filepath.Join(config, name))
		if err != nil {
			t.Fatal(err)
		}
		h.issue(string(text))
	}
	tokens := map[string]string{}
	for _, role := range []string{"agent", "runner", "observer", "human", "admin"} {
		args := []string{"token", "create", "--role", role, "--label", "for " + role}
		if role == "agent" || role == "runner" {
			args = append(args, "--agents", "box/*")
		}
		tokens[role] = h.issue(h.must(true, h.home, args...))[0]
	}
	var note struct {
		URL string
		PID int
	}
	text, err := os.ReadFile(filepath.Join(h.home, ".local", "state", "c3po", "coordinator.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &note); err != nil {
		t.Fatal(err)
	}
	// The coordinator is sure to be seen; commands that end soon may be missed.
	own, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", note.PID))
	if runtime.GOOS == "linux" && (err != nil || !bytes.Contains(own, []byte("c3po"))) {
		t.Fatalf("the arguments of the coordinator are %q, %v", own, err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

	forged := tokens["admin"][:len(tokens["admin"])-4] + "AAAA"
	h.issued = append(h.issued, tokenForm.FindStringSubmatch(forged)[1])
	for _, token := range append([]string{forged, tokens["agent"] + "x"}, slices.Collect(maps.Values(tokens))...) {
		for _, path := range []string{"/api/op/whoami", "/api/op/pause", "/api/op/send_message", "/api/admin/tokens", "/api/op/none", "/mcp"} {
			h.see(h.ask(client, "POST", note.URL+path, token, map[string]string{"X-Agent-ID": "box/api"}, `{}`))
			h.see(h.ask(client, "POST", note.URL+path, token, map[string]string{"X-Agent-ID": "box/api", "X-C3PO-Space": "other"}, `{"broken`))
		}
	}
	// Where a token does not belong it may be told to who sent it, but to nobody
	// else.
	for _, token := range tokens {
		h.ask(client, "GET", note.URL+"/api/agents?token="+token, "x", map[string]string{"X-Agent-ID": token, "X-C3PO-Space": token}, "")
		h.ask(client, "GET", note.URL+"/"+token, token, map[string]string{"X-C3PO-Client": token, "X-Session-ID": token, "X-C3PO-Run": token}, "")
		h.ask(client, "POST", note.URL+"/api/op/"+token, token, map[string]string{"Cookie": token, "Origin": "https://" + token}, "{}")
		h.ask(client, "POST", note.URL+"/api/op/ping", token, nil, `{"`+token+`":1}`)
		h.ask(client, "POST", note.URL+"/api/admin/tokens/"+token+"/revoke", tokens["admin"], nil, "")
	}
	kid := strings.Split(tokens["observer"], "_")[2]
	h.issue(h.must(true, h.home, "token", "rotate", kid))
	h.must(false, h.home, "token", "revoke", kid)
	h.see(h.ask(client, "POST", note.URL+"/api/op/ping", tokens["observer"], nil, "{}"))

	h.join(strings.TrimPrefix(note.URL, "https://"))
	h.must(false, h.home, "token", "list", "--json")
	h.must(false, h.home, "status", "--json")
	audit := h.must(false, h.home, "audit", "tail", "--limit", "1000", "--json")
	for _, event := range []string{"token_created", "token_rotated", "token_revoked", "auth_failed", "invited", "joined", "join_refused"} {
		if !strings.Contains(audit, `"`+event+`"`) {
			t.Errorf("the audit has no %s:\n%s", event, audit)
		}
	}
	h.see(h.ask(client, "GET", note.URL+"/metrics", tokens["admin"], nil, ""))
	h.must(false, h.home, "down")
	log, err := os.ReadFile(filepath.Join(h.home, ".local", "state", "c3po", "coordinator.log"))
	if err != nil || !bytes.Contains(log, []byte("auth_failed")) {
		t.Fatalf("the log says %.500s, %v", log, err)
	}
	close(stop)
	command := string(own) + "\n" + <-lines
	for i, secret := range h.issued {
		for where, text := range map[string]string{"the log": string(log), "an answer or an output": h.seen.String(), "the arguments of a process": command} {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("secret %d is in %s: %.120q", i, where, text[max(0, at-100):at])
			}
		}
	}
	t.Logf("%d secrets, none in %d bytes of log, %d of answers and output, %d of arguments", len(h.issued), len(log), h.seen.Len(), len(command))
	faultrig.Verdict{
		Row: "I7s", Holds: []faultrig.Invariant{faultrig.NobodyActsForAnother},
		Size:   fmt.Sprintf("%d secrets, looked for in %d KB of log, answers, output and arguments", len(h.issued), (len(log)+h.seen.Len()+len(command))>>10),
		Faults: "tokens of every role where they do not belong, forged, rotated, revoked; an invitation used twice",
	}.Record(t)
}

// join lets a second host in at an address, then tries the invitation again.
func (h *household) join(at string) {
	h.t.Helper()
	var made struct{ Invitation string }
	if err := json.Unmarshal([]byte(h.must(true, h.home, "invite", "--host", "box", "--runner", "--at", at, "--json")), &made); err != nil {
		h.t.Fatal(err)
	}
	_, secret, _ := strings.Cut(made.Invitation, "-")
	h.issued = append(h.issued, secret)
	h.typed = made.Invitation
	host := faultrig.Home(h.t)
	h.must(false, host, "join", "-")
	text, err := os.ReadFile(filepath.Join(host, ".config", "c3po", "credentials.json"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.issue(string(text))
	// Refusals are written down at a bounded rate, and there were many just now.
	eventually(h.t, "the audit holds that a used invitation was refused", func() bool {
		if _, err := h.c3po(false, faultrig.Home(h.t), "join", "-"); err == nil {
			h.t.Fatal("an invitation was used twice")
		}
		return strings.Contains(h.must(false, h.home, "audit", "tail", "--json"), "join_refused")
	})
}
