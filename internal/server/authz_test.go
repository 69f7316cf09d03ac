package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// A guarded is a coordinator that wants tokens, and the store they are in.
type guarded struct {
	*coordinator
	store  *redisstore.Store
	keeper *auth.Keeper // of the test's own, to make tokens with
}

func startGuarded(t *testing.T, redis string, cfg server.Config) *guarded {
	t.Helper()
	cfg.RedisURL, cfg.Auth = redis, auth.Tokens
	store, err := redisstore.Open(t.Context(), redisstore.Config{URL: redis})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return &guarded{start(t, cfg), store, auth.New(auth.Config{Store: store})}
}

func (g *guarded) mint(t *testing.T, grant auth.Grant) c3po.NewToken {
	t.Helper()
	if grant.Spaces == nil {
		grant.Spaces = []string{"main"}
	}
	made, err := g.keeper.Mint(t.Context(), grant)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// A knocker is somebody at the door.
type knocker struct {
	token string // as it is sent; nothing is if empty
	agent string
}

// knockers are the columns of the table.
func (g *guarded) knockers(t *testing.T) map[string]knocker {
	t.Helper()
	const id = "box/api"
	all := map[string]knocker{
		"none":        {"", id},
		"garbage":     {"c3po_admin_abcdefghij23_garbage", id},
		"expired":     {g.mint(t, auth.Grant{Role: c3po.RoleAdmin, Expires: time.Now().Add(-time.Minute)}).Secret, id},
		"other-host":  {g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "elsewhere/*"}).Secret, id},
		"other-space": {g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*", Spaces: []string{"elsewhere"}}).Secret, id},
		"agent":       {g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*"}).Secret, id},
		"runner":      {g.mint(t, auth.Grant{Role: c3po.RoleRunner, Pattern: "box/*"}).Secret, id},
		"observer":    {g.mint(t, auth.Grant{Role: c3po.RoleObserver}).Secret, ""},
		"human":       {g.mint(t, auth.Grant{Role: c3po.RoleHuman}).Secret, ""},
		"admin":       {g.mint(t, auth.Grant{Role: c3po.RoleAdmin}).Secret, id},
	}
	gone := g.mint(t, auth.Grant{Role: c3po.RoleAdmin})
	if _, err := g.store.Revoke(t.Context(), gone.KID); err != nil {
		t.Fatal(err)
	}
	all["revoked"] = knocker{gone.Secret, id}
	return all
}

// routes are all there are: those that openapi.yaml describes, which a test of
// package rest holds against the router, and what is served beside them. An
// operation is one row, whichever way it is asked for.
func routes(t *testing.T) []string {
	t.Helper()
	document, err := os.ReadFile("../transport/rest/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, paths, _ := strings.Cut(string(document), "\npaths:\n")
	paths, _, _ = strings.Cut(paths, "\ncomponents:\n")
	all := []string{"GET /", "GET /metrics", "POST /mcp", "POST /a2a/{id}", "GET /a2a/{id}/.well-known/agent-card.json", "GET /.well-known/agent-card.json"}
	path := ""
	for line := range strings.Lines(paths) {
		if found := regexp.MustCompile(`^  (/\S*):\n`).FindStringSubmatch(line); found != nil {
			path = found[1]
		}
		if found := regexp.MustCompile(`^    (get|post):\n`).FindStringSubmatch(line); found != nil {
			if name, ok := strings.CutPrefix(path, "/api/op/"); ok {
				all = append(all, "op "+name)
			} else {
				all = append(all, strings.ToUpper(found[1])+" "+path)
			}
		}
	}
	return all
}

const (
	authzTable      = "testdata/authz.txt"
	authzOperations = "# The operations, each over REST and as a tool. make contract writes them: read the difference.\n"
)

// The rows of operations are what the table of operations declares; that a
// coordinator keeps to them is for the next test.
func TestWhoMayCallAnOperationIsWrittenDown(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(authzTable)
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(text), authzOperations)
	if !found {
		t.Fatalf("%s has no line %q", authzTable, authzOperations)
	}
	var rows strings.Builder
	for _, op := range dialect.Operations() {
		fmt.Fprintf(&rows, "op %-33s 401  401     401     401     403        403        ", op.Name)
		for _, role := range []c3po.Role{c3po.RoleAgent, c3po.RoleObserver, c3po.RoleRunner, c3po.RoleHuman, c3po.RoleAdmin} {
			answer := "403"
			if op.Allows(role) {
				answer = "ok"
			}
			fmt.Fprintf(&rows, " %-*s", len(role), answer)
		}
		rows.WriteString("\n")
	}
	want := regexp.MustCompile(` +\n`).ReplaceAllString(before+authzOperations+rows.String(), "\n")
	if *update {
		if err := os.WriteFile(authzTable, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("%s does not say who may call what; run make contract, and read it (-declared +written):\n%s", authzTable, diff)
	}
}

// expected reads the table.
func expected(t *testing.T) (table map[string]map[string]string) {
	t.Helper()
	text, err := os.ReadFile(authzTable)
	if err != nil {
		t.Fatal(err)
	}
	table = map[string]map[string]string{}
	var columns []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if columns == nil {
			columns = fields[1:]
			continue
		}
		name := strings.Join(fields[:2], " ")
		if table[name] != nil || len(fields) != 2+len(columns) {
			t.Fatalf("the row of %s is there twice, or has too few or too many values", name)
		}
		table[name] = map[string]string{}
		for i, column := range columns {
			table[name][column] = fields[2+i]
		}
	}
	return table
}

// knock asks a route as somebody, and says how that was received.
func (g *guarded) knock(ctx context.Context, route string, who knocker) (string, error) {
	method, path, _ := strings.Cut(route, " ")
	body := `{"timeout":1}`
	switch {
	case method == "tool":
		op, err := dialect.FindOperation(path)
		if err != nil {
			return "", err
		}
		body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + op.Tool + `","arguments":` + argumentsOf(path) + `}}`
		method, path = "POST", "/mcp?tools="+string(op.Toolset)
	case path == "/mcp":
		body = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	case path == "/a2a/{id}":
		body = `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"m","role":"user","parts":[{"text":"x"}]},"configuration":{"blocking":false}}}`
	case strings.HasPrefix(path, "/api/op/"), strings.HasPrefix(path, "/agent/api/op/"):
		body = argumentsOf(path[strings.LastIndex(path, "/")+1:])
	case strings.HasSuffix(path, "/wait"):
		path += "?timeout=1"
	}
	path = strings.NewReplacer("{kid}", "abcdefghij23", "{program}", "c3po-plan9-mips", "{id}", "box%2Fapi", "{ticket}", "t1").Replace(path)
	r, err := http.NewRequestWithContext(ctx, method, g.url+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	if method == "GET" {
		r.Body, r.ContentLength = nil, 0
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "X-Agent-ID": who.agent, "X-C3PO-Space": "main",
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if who.token != "" {
		r.Header.Set("Authorization", "Bearer "+who.token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusUnauthorized:
		if !strings.HasPrefix(answer.Header.Get("WWW-Authenticate"), "Bearer") {
			return "401 without a challenge", nil
		}
		return "401", nil
	case http.StatusForbidden:
		return "403", nil
	}
	if strings.HasPrefix(route, "tool ") {
		text, err := io.ReadAll(answer.Body)
		if bytes.Contains(text, []byte(c3po.Forbidden)) {
			return "403", err
		}
		return "ok", err
	}
	return "ok", nil
}

// argumentsOf make an operation answer at once: most refuse them, which they do
// only to who may ask.
func argumentsOf(operation string) string {
	switch operation {
	case "wait_for_message", "wait_for_request":
		return `{"timeout":1}`
	default:
		return `{}`
	}
}

func TestWhoMayDoWhatIsAsTheTableSays(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, redistest.Start(t), server.Config{})
	table, all := expected(t), routes(t)
	if diff := cmp.Diff(slices.Sorted(slices.Values(all)), slices.Sorted(maps.Keys(table))); diff != "" {
		t.Fatalf("%s has other rows than there are routes and operations (-served +written):\n%s", authzTable, diff)
	}
	knockers := g.knockers(t)
	for route, row := range table {
		if diff := cmp.Diff(slices.Sorted(maps.Keys(knockers)), slices.Sorted(maps.Keys(row))); diff != "" {
			t.Fatalf("columns (-tested +written):\n%s", diff)
		}
		paths := []string{route}
		if name, ok := strings.CutPrefix(route, "op "); ok {
			route = "POST /api/op/" + name
			paths = []string{route}
			if op, err := dialect.FindOperation(name); err == nil && op.Toolset != "" {
				paths = append(paths, "tool "+name)
			}
		}
		// Under /agent there is the same again.
		if method, path, _ := strings.Cut(route, " "); strings.HasPrefix(path, "/api/") {
			paths = append(paths, method+" /agent"+path)
		}
		for _, path := range paths {
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				for who, want := range row {
					got, err := g.knock(t.Context(), path, knockers[who])
					if err != nil || got != want {
						t.Errorf("%s: %s, %v, want %s", who, got, err, want)
					}
				}
			})
		}
	}
}
