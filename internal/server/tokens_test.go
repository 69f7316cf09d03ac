package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// call makes a request with a token and reads the whole answer.
func call(ctx context.Context, client *http.Client, method, url, token, body string, headers ...string) (int, string, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

// It does not run beside others, because it measures.
func TestARevokedTokensWaitsAndStreamsCloseWithinASecondEverywhere(t *testing.T) {
	const waits, bar = 100, time.Second
	redis := redistest.Start(t)
	var doors []*guarded
	for range 3 {
		doors = append(doors, startGuarded(t, redis, server.Config{}))
	}
	made := doors[0].mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "*"})
	admin := doors[0].mint(t, auth.Grant{Role: c3po.RoleAdmin}).Secret
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: waits}}
	type end struct {
		status int
		text   string
		err    error
		at     time.Time
	}
	ends := make(chan end, waits+len(doors))
	for i := range waits {
		door, wait := doors[i%len(doors)], "wait_for_message"
		if i%2 == 0 {
			wait = "pending"
		}
		go func() {
			status, text, err := call(t.Context(), client, "POST", door.url+"/api/op/"+wait, made.Secret, `{"timeout":60}`,
				"X-Agent-ID", fmt.Sprint("agent-", i))
			ends <- end{status, text, err, time.Now()}
		}()
	}
	var open sync.WaitGroup
	for _, door := range doors {
		open.Add(1)
		go func() {
			r, _ := http.NewRequestWithContext(t.Context(), "GET", door.url+"/api/events", nil)
			r.Header.Set("Authorization", "Bearer "+made.Secret)
			answer, err := client.Do(r)
			open.Done()
			if err != nil {
				ends <- end{err: err, at: time.Now()}
				return
			}
			defer answer.Body.Close()
			_, _ = io.Copy(io.Discard, bufio.NewReader(answer.Body)) // a stream that is cut ends somehow
			ends <- end{status: http.StatusUnauthorized, at: time.Now()}
		}()
	}
	open.Wait()
	for i := range waits {
		doors[0].awaitReachable(t, admin, fmt.Sprint("agent-", i))
	}
	began := time.Now()
	if status, text, err := call(t.Context(), client, "POST", doors[0].url+"/api/admin/tokens/"+made.KID+"/revoke", admin, ""); err != nil || status != http.StatusOK {
		t.Fatal(status, text, err)
	}
	var slowest time.Duration
	limit := time.After(longEnough)
	for range waits + len(doors) {
		select {
		case e := <-ends:
			slowest = max(slowest, e.at.Sub(began))
			if e.err != nil || e.status != http.StatusUnauthorized {
				t.Errorf("a wait ended with %d %v: %s", e.status, e.err, e.text)
			}
		case <-limit:
			t.Fatal("some are still open")
		}
	}
	faultrig.Hold(t, "the slowest to close", slowest, bar)
	for _, door := range doors {
		if status, text, err := call(t.Context(), client, "POST", door.url+"/api/op/ping", made.Secret, "{}"); err != nil || status != http.StatusUnauthorized {
			t.Errorf("the next call: %d %v %s", status, err, text)
		}
	}
	faultrig.Verdict{
		Row: "I8s", Holds: []faultrig.Invariant{faultrig.NobodyActsForAnother},
		Size: fmt.Sprintf("%d waits and %d streams on %d coordinators", waits, len(doors), len(doors)), Faults: "their token is revoked", Recovery: slowest,
	}.Record(t)
}

func TestAModelIsToldThatItsTokenWasRevoked(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, redistest.Start(t), server.Config{})
	made := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "*"})
	admin := g.mint(t, auth.Grant{Role: c3po.RoleAdmin}).Secret
	told := make(chan string, 1)
	go func() {
		_, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/mcp", made.Secret,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait_for_message","arguments":{"timeout":60}}}`,
			"X-Agent-ID", "bob", "Accept", "application/json, text/event-stream")
		told <- fmt.Sprint(text, err)
	}()
	g.awaitReachable(t, admin, "bob")
	if _, err := g.store.Revoke(t.Context(), made.KID); err != nil {
		t.Fatal(err)
	}
	select {
	case text := <-told:
		if !strings.Contains(text, string(c3po.Unauthorized)) || !strings.Contains(text, "revoked") {
			t.Errorf("it is told %s", text)
		}
	case <-time.After(longEnough):
		t.Fatal("it still waits")
	}
}

// awaitReachable returns once a wait of the agent is under way.
func (g *guarded) awaitReachable(t *testing.T, admin, id string) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(longEnough)
	for {
		var agent c3po.Agent
		status, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/op/get_agent_status", admin, `{"agent_id":"`+id+`"}`)
		if err == nil && status == http.StatusOK && json.Unmarshal([]byte(text), &agent) == nil && agent.Reachability == c3po.ReachNow {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s never began to wait: %s\n%s", id, text, g.log)
		}
	}
}

func TestTheFirstDesignsRequestsPassWithOneMoreHeader(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	open := start(t, server.Config{RedisURL: redis, Auth: auth.None})
	closed := startGuarded(t, redis, server.Config{})
	token := closed.mint(t, auth.LocalGrant(c3po.RoleAgent, "")).Secret
	for _, prefix := range []string{"", "/agent"} {
		for _, request := range []string{"GET /api/health", "GET /api/agents", "GET /api/pending", "GET /api/wait?timeout=1", "POST /api/unregister"} {
			method, path, _ := strings.Cut(request, " ")
			for _, way := range []struct {
				url, token string
				want       int
			}{
				{open.url, "", http.StatusOK},
				{closed.url, token, http.StatusOK},
				{closed.url, "", map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[path == "/api/health"]},
			} {
				status, text, err := call(t.Context(), http.DefaultClient, method, way.url+prefix+path, way.token, "", "X-Agent-ID", "homeassistant")
				if err != nil || status != way.want {
					t.Errorf("%s %s%s, token %v: %d %v, want %d\n%s", method, prefix, path, way.token != "", status, err, way.want, text)
				}
			}
		}
	}
}

func TestAPersonWritesToAgentsAndReadsTheirAnswers(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, redistest.Start(t), server.Config{})
	person := g.mint(t, auth.LocalGrant(c3po.RoleHuman, "")).Secret
	agent := g.mint(t, auth.LocalGrant(c3po.RoleAgent, "")).Secret
	do := func(token, as, op, in string, out any) {
		t.Helper()
		var headers []string
		if as != "" {
			headers = []string{"X-Agent-ID", as}
		}
		status, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/op/"+op, token, in, headers...)
		if err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %v %s", op, status, err, text)
		}
		if out != nil {
			if err := json.Unmarshal([]byte(text), out); err != nil {
				t.Fatal(err)
			}
		}
	}
	do(agent, "bob", "ping", "{}", nil)
	var sent c3po.Receipt
	do(person, "", "send_message", `{"target":"bob","message":"stop"}`, &sent)
	if sent.FromAgent != c3po.Human {
		t.Errorf("it came from %q", sent.FromAgent)
	}
	do(agent, "bob", "reply", `{"message_id":"`+string(sent.ID)+`","response":"stopped"}`, nil)
	var mail []c3po.Message
	do(person, "", "human_list", "{}", &mail)
	if len(mail) != 1 || mail[0].Response != "stopped" {
		t.Fatalf("the person's mail is %+v", mail)
	}
	do(person, "", "ack_messages", `{"message_ids":["`+string(mail[0].ID)+`"]}`, nil)
	do(person, "", "human_list", "{}", &mail)
	if len(mail) != 0 {
		t.Errorf("after the ack it is %+v", mail)
	}
}

func TestARunnerLearnsThatThereIsMailAndNotWhatItSays(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, redistest.Start(t), server.Config{})
	agent := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*"}).Secret
	runner := g.mint(t, auth.Grant{Role: c3po.RoleRunner, Pattern: "box/*"}).Secret
	for _, in := range []string{"ping {}", `send_message {"target":"box/api","message":"SECRET-TEXT","context":"SECRET-TEXT","metadata":{"x":"SECRET-TEXT"}}`} {
		op, body, _ := strings.Cut(in, " ")
		if status, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/op/"+op, agent, body, "X-Agent-ID", "api"); err != nil || status != http.StatusOK {
			t.Fatal(status, text, err)
		}
	}
	for _, path := range []string{"/api/pending", "/api/wait?timeout=5"} {
		status, text, err := call(t.Context(), http.DefaultClient, "GET", g.url+path, runner, "", "X-Agent-ID", "api")
		if err != nil || status != http.StatusOK || !strings.Contains(text, `"from_agent":"box/api"`) || strings.Contains(text, "SECRET-TEXT") {
			t.Errorf("%s: %d %v %s", path, status, err, text)
		}
		if _, text, _ := call(t.Context(), http.DefaultClient, "GET", g.url+path, agent, "", "X-Agent-ID", "api"); strings.Count(text, "SECRET-TEXT") != 3 {
			t.Errorf("%s for the agent itself: %s", path, text)
		}
	}
}

func TestAnotherSpaceAnswersLikeOneThatDoesNotExist(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, redistest.Start(t), server.Config{})
	mine := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "*", Spaces: []string{"mine"}}).Secret
	other := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "*", Spaces: []string{"theirs"}}).Secret
	if status, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/op/ping", other, "{}", "X-Agent-ID", "bob"); err != nil || status != http.StatusOK {
		t.Fatal(status, text, err)
	}
	for _, op := range dialect.Operations() {
		var answers []string
		for _, space := range []string{"theirs", "no-such"} {
			status, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/op/"+op.Name, mine, `{}`, "X-Agent-ID", "eve", "X-C3PO-Space", space)
			if err != nil || status != http.StatusForbidden {
				t.Errorf("%s in %s: %d %v %s", op.Name, space, status, err, text)
			}
			answers = append(answers, strings.ReplaceAll(text, space, "SPACE"))
		}
		if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
			t.Errorf("%s tells them apart:\n%s", op.Name, diff)
		}
	}
}

func TestOnItsSocketTheUserIsAnyAgentAndNoPerson(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	socket := filepath.Join(folder, "c.sock")
	g := startGuarded(t, redistest.Start(t), server.Config{Socket: socket, Config: folder})
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the socket: %v, %v", info, err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	mine, err := paths.ReadPerson(folder)
	if err != nil || mine == nil {
		t.Fatal(mine, err)
	}
	for _, test := range []struct {
		op, as, token string
		want          int
	}{
		{"ping", "bob", "", http.StatusOK},
		{"get_messages", "ann", "", http.StatusOK},
		{"get_messages", "other/bob", "", http.StatusForbidden},
		{"human_list", "", "", http.StatusForbidden},
		{"human_list", "", mine.Human, http.StatusOK},
		{"ping", "bob", "garbage", http.StatusUnauthorized},
	} {
		var headers []string
		if test.as != "" {
			headers = []string{"X-Agent-ID", test.as}
		}
		status, text, err := call(t.Context(), client, "POST", "http://localhost/api/op/"+test.op, test.token, "{}", headers...)
		if err != nil || status != test.want {
			t.Errorf("%s as %q, token %v: %d %v, want %d\n%s", test.op, test.as, test.token != "", status, err, test.want, text)
		}
	}
	if status, _, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/op/ping", "", "{}", "X-Agent-ID", "bob"); err != nil || status != http.StatusUnauthorized {
		t.Errorf("without a token on TCP: %d %v", status, err)
	}
}

func TestTheFirstStartMakesCredentialsAndTheNextOnesKeepThem(t *testing.T) {
	t.Parallel()
	folder, redis := t.TempDir(), redistest.Start(t)
	read := func() (paths.Credentials, paths.Person) {
		t.Helper()
		agents, err := paths.ReadCredentials(folder)
		person, err2 := paths.ReadPerson(folder)
		if err != nil || err2 != nil || agents == nil || person == nil {
			t.Fatal(agents, err, person, err2)
		}
		return *agents, *person
	}
	first := startGuarded(t, redis, server.Config{Config: folder})
	agents, person := read()
	for _, name := range []string{"credentials.json", "person.json"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	for token, want := range map[string]int{agents.Token: http.StatusForbidden, person.Human: http.StatusForbidden, person.Admin: http.StatusOK} {
		if status, text, err := call(t.Context(), http.DefaultClient, "GET", first.url+"/api/admin/tokens", token, ""); err != nil || status != want {
			t.Errorf("%d %v, want %d\n%s", status, err, want, text)
		}
	}
	second := startGuarded(t, redis, server.Config{Config: folder})
	again, personAgain := read()
	if again.Token != agents.Token || personAgain.Human != person.Human || personAgain.Admin != person.Admin || again.URL != second.url {
		t.Error("the second start made new credentials, or did not say where it is")
	}
	startGuarded(t, redistest.Start(t), server.Config{Config: folder})
	if moved, _ := read(); moved.Token == agents.Token {
		t.Error("a token of another store was kept")
	}
	joined := paths.Credentials{URL: "https://elsewhere:1", Token: "theirs", Host: "box"}
	if err := joined.Write(folder); err != nil {
		t.Fatal(err)
	}
	signedIn := paths.Person{URL: "https://elsewhere:1", Human: "theirs"}
	if err := signedIn.Write(folder); err != nil {
		t.Fatal(err)
	}
	startGuarded(t, redis, server.Config{Config: folder})
	kept, keptPerson := read()
	if !cmp.Equal(kept, joined) {
		t.Errorf("what `c3po join` wrote was replaced by %+v", kept)
	}
	if !cmp.Equal(keptPerson, signedIn) {
		t.Errorf("what `c3po login` wrote was replaced by %+v", keptPerson)
	}
}

func TestACoordinatorBesideAnotherLeavesItsCredentialsAlone(t *testing.T) {
	t.Parallel()
	folder, redis := t.TempDir(), redistest.Start(t)
	first := startGuarded(t, redis, server.Config{Config: folder})
	before, err := os.ReadFile(filepath.Join(folder, "person.json"))
	if err != nil {
		t.Fatal(err)
	}

	// On another Redis they would be worth nothing: it refuses, and changes nothing.
	err = server.Run(t.Context(), server.Config{
		Listen: "127.0.0.1:0", RedisURL: redistest.Start(t), Config: folder, Beside: first.url,
	}, func(string) { t.Error("it serves") })
	if !errors.Is(err, c3po.InvalidRequest) || !strings.Contains(err.Error(), first.url) {
		t.Errorf("on another Redis: %v", err)
	}

	// On the same one both are known, until it ends.
	ctx, stop := context.WithCancel(t.Context())
	ended, ready := make(chan error, 1), make(chan string, 1)
	go func() {
		ended <- server.Run(ctx, server.Config{Listen: "127.0.0.1:0", RedisURL: redis, Config: folder, Beside: first.url}, func(addr string) { ready <- "http://" + addr })
	}()
	second := <-ready
	agents, err := paths.ReadCredentials(folder)
	person, err2 := paths.ReadPerson(folder)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for _, url := range []string{first.url, second} {
		if !agents.For(url) || !person.For(url) {
			t.Errorf("the credentials are not for %s: %v, %v", url, agents.Also, person.Also)
		}
		if status, text, err := call(t.Context(), http.DefaultClient, "GET", url+"/api/admin/tokens", person.Admin, ""); err != nil || status != http.StatusOK {
			t.Errorf("the admin at %s: %d %v %s", url, status, err, text)
		}
	}
	if agents.URL != first.url || person.For("http://elsewhere:1") {
		t.Errorf("the first is no longer the one that is called: %s", agents.URL)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(filepath.Join(folder, "person.json")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("after its end the person's credentials are others: %v", err)
	}
}

func TestNoAuthenticationIsLoud(t *testing.T) {
	t.Parallel()
	c := start(t, server.Config{RedisURL: redistest.Start(t), Auth: auth.None})
	var info c3po.ServerInfo
	c.must(t, "ann", "server_info", c3po.None{}, &info)
	if info.Auth != "none" || !strings.Contains(c.log.String(), "AUTHENTICATION IS OFF") {
		t.Errorf("server_info says %q, the log:\n%s", info.Auth, c.log)
	}
}

func TestWithoutRedisATokenIsNotJudgedAndTheAnswerSaysWhy(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	g := startGuarded(t, redis.URL(), server.Config{})
	made := g.mint(t, auth.Grant{Role: c3po.RoleObserver})
	redis.Kill()
	for _, path := range []string{"/metrics", "/api/agents"} {
		status, text, err := call(t.Context(), http.DefaultClient, "GET", g.url+path, made.Secret, "")
		if err != nil || status != http.StatusServiceUnavailable || !strings.Contains(text, string(c3po.RedisUnavailable)) {
			t.Errorf("GET %s without Redis: %d %s, %v", path, status, text, err)
		}
	}
}
