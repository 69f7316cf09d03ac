package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
	"github.com/c3po-dev/c3po/internal/transport/mcpserver"
)

// served starts a coordinator's MCP door for svc.
func served(t *testing.T, service func(*http.Request) (c3po.Service, error)) *httptest.Server {
	t.Helper()
	s := mcpserver.New(mcpserver.Config{Service: service, Version: "1.2.3", Envelope: fixedMark()})
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return server
}

func always(svc c3po.Service) func(*http.Request) (c3po.Service, error) {
	return func(*http.Request) (c3po.Service, error) { return svc, nil }
}

func dialled(t *testing.T, endpoint, version string, client *http.Client) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func TestClientsOfEveryProtocolVersionAreServed(t *testing.T) {
	t.Parallel()
	server := served(t, always(&scripted{}))
	for _, version := range mcp.SupportedProtocolVersions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			client := dialled(t, server.URL+"?tools=core,diag", version, nil)
			if got := client.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("speaks %s", got)
			}
			list, err := client.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := offered(c3po.Core, c3po.Diag); len(list.Tools) != want {
				t.Errorf("core and diag have %d tools, want %d", len(list.Tools), want)
			}
			if result := called(t, client, "get_messages", `{}`); result.IsError || result.StructuredContent != nil {
				t.Errorf("%+v", result)
			}
		})
	}
}

func TestEachRequestBringsItsOwnCaller(t *testing.T) {
	t.Parallel()
	var asked atomic.Value
	server := served(t, func(r *http.Request) (c3po.Service, error) {
		asked.Store(r.Header.Get("X-Agent-ID"))
		return &scripted{}, nil
	})
	for _, id := range []string{"web", "api"} {
		session := dialled(t, server.URL, "", &http.Client{Transport: sender(func(r *http.Request) { r.Header.Set("X-Agent-ID", id) })})
		called(t, session, "ping", `{}`)
		if got := asked.Load(); got != id {
			t.Errorf("the call of %s came from %v", id, got)
		}
	}
}

// sender changes each request before it is sent.
type sender func(*http.Request)

func (change sender) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	change(r)
	return http.DefaultTransport.RoundTrip(r)
}

func TestAnyNodeAnswersAnyRequestWhateverItsSession(t *testing.T) {
	t.Parallel()
	nodes := []*url.URL{}
	for range 2 {
		u, err := url.Parse(served(t, always(&scripted{})).URL)
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, u)
	}
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			turns := sender(func(r *http.Request) {
				node := nodes[n.Add(1)%2]
				r.URL.Host, r.Host = node.Host, node.Host
				r.Header.Set("Mcp-Session-Id", "made-up-elsewhere")
			})
			client := dialled(t, nodes[0].String(), version, &http.Client{Transport: turns})
			for range 4 {
				if result := called(t, client, "ping", `{}`); result.IsError {
					t.Errorf("%s", textOf(t, result))
				}
			}
		})
	}
}

func TestHangingUpEndsTheServicesWork(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			svc, began, ended := waiting(t)
			client := dialled(t, served(t, always(svc)).URL, version, nil)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-began
				cancel()
			}()
			_, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "wait_for_message", Arguments: raw(`{}`)})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled call ended with %v", err)
			}
			arrives(t, ended, "the end of the service's context")
		})
	}
}

// posted sends one JSON-RPC call as an older client does.
func posted(t *testing.T, endpoint, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(all)
}

const pingCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping","arguments":{}}}`

func TestAnUnknownToolsetIsRefused(t *testing.T) {
	t.Parallel()
	server := served(t, always(&scripted{}))
	for _, query := range []string{"?tools=salons", "?tools=core,bridge", "?tools=core,", "?tools=%zz"} {
		status, answer := posted(t, server.URL+query, pingCall)
		var wire struct{ Error, Code, Suggestion, Retry string }
		if err := json.Unmarshal([]byte(answer), &wire); err != nil {
			t.Fatalf("%s: %v in %s", query, err, answer)
		}
		if status != http.StatusBadRequest || wire.Code != "INVALID_REQUEST" || wire.Suggestion == "" || wire.Retry != "no" {
			t.Errorf("%s: %d %+v", query, status, wire)
		}
	}
}

func TestAToolOutsideTheChosenSetsIsNotThere(t *testing.T) {
	t.Parallel()
	server := served(t, always(&scripted{}))
	_, err := dialled(t, server.URL, "", nil).CallTool(t.Context(), &mcp.CallToolParams{Name: "whoami"})
	if err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("whoami without its toolset: %v", err)
	}
	if result := called(t, dialled(t, server.URL+"?tools=more", "", nil), "whoami", `{}`); result.IsError {
		t.Errorf("whoami with its toolset: %s", textOf(t, result))
	}
}

func TestAStrangerIsRefusedInHTTPAndOthersInWords(t *testing.T) {
	t.Parallel()
	refusing := func(code c3po.Code) *httptest.Server {
		return served(t, func(*http.Request) (c3po.Service, error) {
			return nil, c3po.Errorf(code, "not like this").Suggest("Try otherwise.")
		})
	}
	if status, answer := posted(t, refusing(c3po.Unauthorized).URL, pingCall); status != http.StatusUnauthorized || !strings.Contains(answer, `"UNAUTHORIZED"`) {
		t.Errorf("%d %s", status, answer)
	}
	result := called(t, dialled(t, refusing(c3po.InvalidRequest).URL, "", nil), "ping", `{}`)
	if text := textOf(t, result); !result.IsError || !strings.Contains(text, "not like this") {
		t.Errorf("isError %v: %s", result.IsError, text)
	}
}

func TestABodyOverTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	server := served(t, always(&scripted{}))
	body := strings.Replace(pingCall, "{}", `{"x":"`+strings.Repeat("x", 2<<20)+`"}`, 1)
	if status, answer := posted(t, server.URL, body); status != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s", status, answer)
	}
}

// offered counts the tools of some toolsets.
func offered(sets ...c3po.Toolset) int {
	n := 0
	for _, op := range dialect.Operations() {
		if slices.Contains(sets, op.Toolset) {
			n++
		}
	}
	return n
}
