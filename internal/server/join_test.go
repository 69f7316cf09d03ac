package server_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/auth/pki"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A hosting is a coordinator that other hosts can join, and its admin.
type hosting struct {
	*coordinator
	trust *tls.Config
	admin *client.Client
}

func startHosting(t *testing.T, redis string) *hosting {
	t.Helper()
	config := t.TempDir()
	h := &hosting{coordinator: start(t, server.Config{
		RedisURL: redis, Listen: "127.0.0.1:0", TLS: server.TLSOn, Names: []string{"localhost"}, Auth: auth.Tokens, Config: config,
	})}
	person, err := paths.ReadPerson(config)
	if err != nil || person == nil {
		t.Fatalf("the person's credentials are %v, %v", person, err)
	}
	if h.trust, err = pki.Trust([]byte(person.CA)); err != nil {
		t.Fatal(err)
	}
	h.admin = client.New(client.Config{URL: person.URL, Token: person.Admin, TLS: h.trust})
	return h
}

func (h *hosting) invite(t *testing.T, in c3po.InviteInput) c3po.Invited {
	t.Helper()
	made, err := h.admin.Invite(t.Context(), in)
	if err != nil {
		t.Fatalf("%v\n%s", err, h.log)
	}
	return made
}

func (h *hosting) join(t *testing.T, secret, host string) (c3po.Joined, error) {
	t.Helper()
	return client.New(client.Config{URL: h.url, TLS: h.trust}).Join(t.Context(), c3po.JoinInput{Secret: secret, Host: host})
}

// as is a client with a token of its own.
func (h *hosting) as(token string, id c3po.AgentID, space c3po.Space) *client.Client {
	return client.New(client.Config{URL: h.url, TLS: h.trust, Token: token, AgentID: id, Space: space})
}

// forged is a token whose secret differs in one character, whatever that was. It
// is not the last, which stands for four bits only: one time in 16 it is an A.
func forged(token string) string {
	at := len(token) - 8
	other := byte('A')
	if token[at] == other {
		other = 'B'
	}
	return token[:at] + string(other) + token[at+1:]
}

func TestAHostThatJoinsActsAsItsOwnAgentsAndNoOthers(t *testing.T) {
	t.Parallel()
	h := startHosting(t, redistest.Start(t))
	joined, err := h.join(t, h.invite(t, c3po.InviteInput{Host: "laptop", Spaces: []string{"team"}}).Secret, "whatever")
	if err != nil {
		t.Fatal(err)
	}
	if joined.Host != "laptop" || joined.RunnerToken != "" {
		t.Errorf("joined as %s, with a runner's token: %t", joined.Host, joined.RunnerToken != "")
	}
	if self, err := h.as(joined.Token, "api", "").WhoAmI(t.Context(), c3po.None{}); err != nil || self.ID != "laptop/api" {
		t.Errorf("its agent api is %+v, %v", self, err)
	}
	for name, refused := range map[string]*client.Client{
		"an agent of another host": h.as(joined.Token, "nas/api", ""),
		"another space":            h.as(joined.Token, "api", "main"),
		"a token that is not":      h.as(forged(joined.Token), "api", ""),
	} {
		if self, err := refused.WhoAmI(t.Context(), c3po.None{}); err == nil {
			t.Errorf("%s is let in as %+v", name, self)
		}
	}
	if _, err := h.as(joined.Token, "api", "").Invite(t.Context(), c3po.InviteInput{}); !errors.Is(err, c3po.Forbidden) {
		t.Errorf("a joined host that invites is answered %v", err)
	}
}

func TestAnInvitationForARunnerGivesTwoTokens(t *testing.T) {
	t.Parallel()
	h := startHosting(t, redistest.Start(t))
	joined, err := h.join(t, h.invite(t, c3po.InviteInput{Runner: true}).Secret, "build-box")
	if err != nil {
		t.Fatal(err)
	}
	runner, err := auth.ParseToken(joined.RunnerToken)
	if err != nil || runner.Role != c3po.RoleRunner || joined.Host != "build-box" {
		t.Errorf("joined as %s with a token of role %q, %v", joined.Host, runner.Role, err)
	}
	if _, err := h.as(joined.RunnerToken, "api", "").SendMessage(t.Context(), c3po.SendInput{Target: "x", Message: "x"}); !errors.Is(err, c3po.Forbidden) {
		t.Errorf("a runner that sends is answered %v", err)
	}
}

// A name is worth an identity: agents of a host may act as all of its agents.
func TestAHostCannotTakeTheNameOfAnother(t *testing.T) {
	t.Parallel()
	h := startHosting(t, redistest.Start(t))
	const hosts = 6
	names := make([]string, hosts)
	var joining sync.WaitGroup
	for i := range hosts {
		secret := h.invite(t, c3po.InviteInput{}).Secret
		joining.Go(func() {
			joined, err := h.join(t, secret, "laptop")
			if err != nil {
				t.Errorf("%v", err)
			}
			names[i] = joined.Host
		})
	}
	joining.Wait()
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] || !strings.HasPrefix(name, "laptop") {
			t.Errorf("the hosts are called %q", names)
		}
		seen[name] = true
	}
	// What the admin says, counts: the laptop was set up anew.
	again, err := h.join(t, h.invite(t, c3po.InviteInput{Host: "laptop"}).Secret, "laptop")
	if err != nil || again.Host != "laptop" {
		t.Errorf("a named host is called %q, %v", again.Host, err)
	}
}

func TestAnInvitationIsGoodOnce(t *testing.T) {
	t.Parallel()
	h := startHosting(t, redistest.Start(t))
	secret := h.invite(t, c3po.InviteInput{}).Secret
	// What is wrong with the request does not use it up.
	if _, err := h.join(t, secret, "not a name"); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("a bad name is answered %v", err)
	}
	var let atomic.Int64
	var joining sync.WaitGroup
	for range 8 {
		joining.Go(func() {
			if _, err := h.join(t, secret, "laptop"); err == nil {
				let.Add(1)
			} else if !errors.Is(err, c3po.Forbidden) {
				t.Errorf("refused with %v", err)
			}
		})
	}
	joining.Wait()
	if n := let.Load(); n != 1 {
		t.Errorf("%d hosts were let in", n)
	}
}

func TestTenThousandGuessesBurnAnInvitation(t *testing.T) {
	t.Parallel()
	const guesses, guessers = 10_000, 32
	h := startHosting(t, redistest.Start(t))
	good := h.invite(t, c3po.InviteInput{}).Secret
	id, _, _ := strings.Cut(good, "-")
	began := time.Now()
	transport := &http.Transport{TLSClientConfig: h.trust.Clone(), MaxIdleConnsPerHost: guessers, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	guesser := client.New(client.Config{URL: h.url, HTTP: &http.Client{Transport: transport}})
	var tried, let atomic.Int64
	var guessing sync.WaitGroup
	for range guessers {
		guessing.Go(func() {
			for tried.Add(1) <= guesses {
				_, err := guesser.Join(t.Context(), c3po.JoinInput{Secret: id + "-" + auth.RandomSecret().Reveal(), Host: "laptop"})
				if err == nil {
					let.Add(1)
				} else if !errors.Is(err, c3po.Forbidden) {
					t.Errorf("a guess is answered %v", err)
					return
				}
			}
		})
	}
	guessing.Wait()
	t.Logf("%d guesses took %v", guesses, time.Since(began))
	if n := let.Load(); n > 0 {
		t.Errorf("%d guesses were let in", n)
	}
	if _, err := h.join(t, good, "laptop"); !errors.Is(err, c3po.Forbidden) {
		t.Errorf("after them the invitation itself is answered %v", err)
	}
	// Nobody else has to suffer for it.
	if _, err := h.join(t, h.invite(t, c3po.InviteInput{}).Secret, "laptop"); err != nil {
		t.Error(err)
	}
	entries, err := h.admin.AuditTail(t.Context(), "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, e := range entries {
		if e.Event == auth.EventJoinRefused {
			refused++
		}
	}
	if refused == 0 || refused > guesses/10 {
		t.Errorf("the audit holds %d refusals of %d", refused, guesses)
	}
	if strings.Contains(h.log.String(), strings.TrimPrefix(good, id+"-")) {
		t.Error("the log holds the secret of an invitation")
	}
}

func TestTheScriptBringsTheHashOfTheProgramItFetches(t *testing.T) {
	t.Parallel()
	h := startHosting(t, redistest.Start(t))
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: h.trust.Clone()}}
	defer web.CloseIdleConnections()
	get := func(path string) (int, []byte) {
		t.Helper()
		answer, err := web.Get(h.url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, body
	}
	status, script := get("/install")
	made := h.invite(t, c3po.InviteInput{})
	if status != http.StatusOK || !bytes.Contains(script, []byte("\npin='"+made.Pin+"'\n")) || bytes.Contains(script, []byte("@PROGRAMS@")) {
		t.Errorf("the script is answered %d:\n%s", status, script)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(program)
	_, after, found := bytes.Cut(script, []byte("programs='"))
	name, rest, _ := strings.Cut(string(after), " ")
	if !found || !strings.HasPrefix(rest, hex.EncodeToString(sum[:])) {
		t.Errorf("the script has another hash for %s", name)
	}
	if status, served := get("/install/" + name); status != http.StatusOK || !bytes.Equal(served, program) {
		t.Errorf("the program is answered %d and %d bytes", status, len(served))
	}
	for _, other := range []string{"c3po-plan9-mips", "..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd", "c3po-linux-amd64%00", "server.test"} {
		if status, _ := get("/install/" + other); status == http.StatusOK {
			t.Errorf("%s is served", other)
		}
	}
}

func TestACoordinatorOnLoopbackInvitesNobody(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	c := start(t, server.Config{RedisURL: redistest.Start(t), Auth: auth.Tokens, Config: config})
	person, err := paths.ReadPerson(config)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(c.url, "http://") {
		t.Errorf("it is at %s", c.url)
	}
	_, err = client.New(client.Config{URL: c.url, Token: person.Admin}).Invite(t.Context(), c3po.InviteInput{})
	if !errors.Is(err, c3po.InvalidRequest) || !strings.Contains(c3po.AsError(err).Suggestion, "--listen") {
		t.Errorf("an invitation is answered %v", err)
	}
}
