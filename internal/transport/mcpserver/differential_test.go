package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/mcpserver"
)

// ours are the headers in which the front door may differ from the SDK. All else
// must be the same.
var ours = []string{
	"Cache-Control",          // the SDK lets a cache keep what it must ask about
	"Connection",             // only the SDK says keep-alive, which HTTP/1.1 means anyway
	"X-Accel-Buffering",      // only we tell proxies to pass everything on at once
	"X-Content-Type-Options", // only we say that the type is meant
	"Mcp-Session-Id",         // only we give one, by which a client can cancel
}

// answer is an answer as its client takes it.
type answer struct {
	Status   int
	Header   http.Header
	Messages []any  // of JSON or of events
	Text     string // of anything else
	front    bool   // the front door has answered
}

func listen(t testing.TB, w *httptest.ResponseRecorder) answer {
	t.Helper()
	h := answer{Status: w.Code, Header: w.Result().Header, front: strings.Contains(w.Header().Get("Cache-Control"), "no-store")}
	for _, name := range ours {
		h.Header.Del(name)
	}
	switch kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";"); kind {
	case "application/json":
		h.Messages = []any{decoded(t, w.Body.Bytes())}
		if batch, ok := h.Messages[0].([]any); ok {
			h.Messages = batch
		}
	case "text/event-stream":
		h.Messages = events(t, w.Body.Bytes())
	default:
		h.Text = w.Body.String()
	}
	return h
}

func decoded(t testing.TB, text []byte) (value any) {
	t.Helper()
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return value
}

// events reads a stream of events. Comments are for what lies between.
func events(t testing.TB, stream []byte) []any {
	t.Helper()
	var all []any
	lines := bufio.NewScanner(bytes.NewReader(stream))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch name, value, _ := strings.Cut(lines.Text(), ":"); name {
		case "event":
			if value != " message" {
				t.Errorf("an event called %q", value)
			}
		case "data":
			all = append(all, decoded(t, []byte(value)))
		case "":
		default:
			t.Errorf("a line of no known kind: %q", lines.Text())
		}
	}
	return all
}

// A question is a request that is put to both.
type question struct {
	name  string
	ask   func(context.Context) *http.Request
	front bool // is the front door's to answer
}

// changed is a question that differs from a good one by what change does.
func changed(name, version string, front bool, change func(*http.Request)) question {
	return question{name: version + " " + name, front: front, ask: func(ctx context.Context) *http.Request {
		r := newCall(ctx, version, "ping", `{}`, "")
		change(r)
		return r
	}}
}

func withHeader(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Del(name)
		for _, value := range values {
			r.Header.Add(name, value)
		}
	}
}

// bodies are JSON-RPC messages, most of them not as they should be. Of those the
// front door answers it must have understood every part.
var bodies = []struct {
	front bool
	body  string
}{
	{true, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping"}}`},
	{true, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping","arguments":null}}`},
	{true, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping","arguments":[1]}}`},
	{true, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping","arguments":"{}"}}`},
	{true, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_message","arguments":{"target":"api","mesage":"x"}}}`},
	{true, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_message","arguments":{"target":7,"message":"x"}}}`},
	{true, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"reply","arguments":{"message_id":"no","response":"x"}}}`},
	{true, `{"jsonrpc":"2.0","id":"a \"b\" \u00e4 <c>","method":"tools/call","params":{"name":"ping"}}`},
	{true, `{"jsonrpc":"2.0","id":"","method":"tools/call","params":{"name":"ping"}}`},
	{true, `{"jsonrpc":"2.0","id":-9007199254740991,"method":"tools/call","params":{"name":"ping"}}`},
	{true, `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"tools/call","params":{"name":"reply","name":"ping"}}`},
	{true, "\t{ \"params\" : {\"na\\u006de\":\"p\\u0069ng\" , \"_meta\" : null } ,\r\n\"method\":\"tools/call\",\"id\" : 0,\"jsonrpc\":\"2.0\" }\n"},
	{true, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"p"},"name":"ping"}}`},
	{true, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":{"a":[]}},"name":"ping"}}`},
	{true, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"claudecode/toolUseId":7},"name":"send_message","arguments":{"target":"api","message":"x"}}}`},
	{false, `{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"ping"}}`},
	{false, `{"jsonrpc":"2.0","id":1e3,"method":"tools/call","params":{"name":"ping"}}`},
	{false, `{"jsonrpc":"2.0","id":-0,"method":"tools/call","params":{"name":"ping"}}`},
	{false, `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"ping"}}`},
	{false, `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"ping"}}`},
	{false, `{"jsonrpc":"2.0","id":[1],"method":"tools/call","params":{"name":"ping"}}`},
	{false, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"ping"}}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pong"}}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fsck"}}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"ping"}}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping","Name":"reply"}}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping","task":{}}}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping","requestState":"x"}}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping","_meta":[]}}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping","_meta":"x"}}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["ping"]}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping"},"extra":1}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping"},"result":{}}`},
	{false, `{"jsonrpc":"2.0","ID":1,"Method":"tools/call","params":{"name":"ping"}}`},
	{false, `{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"ping"}}`},
	{false, `{"id":1,"method":"tools/call","params":{"name":"ping"}}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":7,"params":{"name":"ping"}}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/sing","params":{"name":"ping"}}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`},
	{false, `{"jsonrpc":"2.0","method":"notifications/initialized"}`},
	{false, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`},
	{false, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[7]}`},
	{false, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`},
	{false, `{"jsonrpc":"2.0","id":1,"result":{}}`},
	{false, `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping"}}]`},
	{false, `[]`},
	{false, `{}`},
	{false, `7`},
	{false, ``},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping"}} 7`},
	{false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping"}`},
	{false, "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"tools/call\",\"params\":{\"name\":\"ping\"}}"},
}

// questions is everything that is put to both.
func questions() []question {
	const legacy, modern = "2025-11-25", "2026-07-28"
	var all []question
	add := func(q ...question) { all = append(all, q...) }
	for _, version := range []string{"", "2024-11-05", "2025-03-26", "2025-06-18", legacy, modern} {
		for _, c := range calls {
			for _, meta := range []string{"", `"progressToken":1,"claudecode/toolUseId":"toolu_1"`} {
				add(question{name: strings.Join([]string{version, c.tool, c.arguments, meta}, " "), front: true,
					ask: func(ctx context.Context) *http.Request { return newCall(ctx, version, c.tool, c.arguments, meta) }})
			}
		}
		add(
			changed("content type with parameter", version, true, withHeader("Content-Type", "Application/JSON; charset=utf-8")),
			changed("no content type", version, false, withHeader("Content-Type")),
			changed("text", version, false, withHeader("Content-Type", "text/plain")),
			changed("anything accepted", version, true, withHeader("Accept", "*/*")),
			changed("two accept headers", version, true, withHeader("Accept", "text/event-stream;q=0.5", "application/*")),
			changed("nothing we have is accepted", version, false, withHeader("Accept", "text/html")),
			changed("last event", version, false, withHeader("Last-Event-ID", "1_1")),
			changed("session", version, true, withHeader("Mcp-Session-Id", "made-up-elsewhere")),
			changed("parameter header", version, true, withHeader("Mcp-Param-X", "y")),
			changed("GET", version, false, func(r *http.Request) { r.Method = http.MethodGet }),
			changed("DELETE", version, false, func(r *http.Request) { r.Method = http.MethodDelete }),
			changed("foreign host", version, false, func(r *http.Request) {
				at := context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv6loopback, Port: 1})
				*r = *r.WithContext(at)
				r.Host = "evil.example"
			}),
		)
		for _, b := range bodies {
			m := ""
			if message, ok := decodedOrNil(b.body).(map[string]any); ok {
				m, _ = message["method"].(string)
			}
			add(question{name: version + " " + b.body, front: b.front && version != modern,
				ask: func(ctx context.Context) *http.Request { return newPost(ctx, version, m, "ping", b.body) }})
		}
	}
	describe := func(version string, inBody string) func(*http.Request) {
		return func(r *http.Request) {
			*r = *newPost(r.Context(), version, "tools/call", "ping",
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping","_meta":{`+inBody+`}}}`)
		}
	}
	const v, info, caps = `"io.modelcontextprotocol/protocolVersion":`, `"io.modelcontextprotocol/clientInfo":`, `"io.modelcontextprotocol/clientCapabilities":`
	add(
		changed("no Mcp-Method", modern, false, withHeader("Mcp-Method")),
		changed("other Mcp-Method", modern, false, withHeader("Mcp-Method", "tools/list")),
		changed("no Mcp-Name", modern, false, withHeader("Mcp-Name")),
		changed("other Mcp-Name", modern, false, withHeader("Mcp-Name", "reply")),
		changed("old version in the header", modern, false, withHeader("Mcp-Protocol-Version", legacy)),
		changed("no version in the header", modern, false, withHeader("Mcp-Protocol-Version")),
		changed("unknown old version", legacy, false, withHeader("Mcp-Protocol-Version", "2023-01-01")),
		changed("unknown new version", legacy, false, withHeader("Mcp-Protocol-Version", "2099-01-01")),
		changed("old headers of no meaning", legacy, true, withHeader("Mcp-Method", "tools/list")),
		changed("without a client", modern, true, describe(modern, v+`"2026-07-28",`+caps+`{"elicitation":{"form":{}}}`)),
		changed("client without a name", modern, true, describe(modern, v+`"2026-07-28",`+caps+`{},`+info+`{}`)),
		changed("client null", modern, false, describe(modern, v+`"2026-07-28",`+caps+`{},`+info+`null`)),
		changed("client of a wrong type", modern, false, describe(modern, v+`"2026-07-28",`+caps+`{},`+info+`{"name":7}`)),
		changed("no capabilities", modern, false, describe(modern, v+`"2026-07-28"`)),
		changed("capabilities null", modern, false, describe(modern, v+`"2026-07-28",`+caps+`null`)),
		changed("capabilities of a wrong type", modern, false, describe(modern, v+`"2026-07-28",`+caps+`{"roots":7}`)),
		changed("other version in the body", modern, false, describe(modern, v+`"2026-07-29",`+caps+`{}`)),
		changed("version of a wrong type", modern, false, describe(modern, v+`7,`+caps+`{}`)),
		changed("new body, old header", legacy, false, describe(legacy, v+`"2026-07-28",`+caps+`{}`)),
		changed("new body, no header", "", false, describe("", v+`"2026-07-28",`+caps+`{}`)),
		changed("old version in the body", legacy, false, describe(legacy, v+`"2025-11-25"`)),
	)
	return all
}

func decodedOrNil(text string) (value any) {
	_ = json.Unmarshal([]byte(text), &value)
	return value
}

func TestTheFrontDoorAnswersAsTheSDKDoes(t *testing.T) {
	t.Parallel()
	services := map[string]func(*http.Request) (c3po.Service, error){
		"": always(&scripted{}),
		"refused ": func(*http.Request) (c3po.Service, error) {
			return nil, c3po.Errorf(c3po.InvalidRequest, "not like this").Suggest("Try otherwise.")
		},
		"panicking ": always(&panicking{}),
	}
	asked := questions()
	for kind, service := range services {
		s := mcpserver.New(mcpserver.Config{Service: service, Version: "1.2.3", Envelope: fixedMark()})
		sdk, front := s.SDKHandler(), s.Handler()
		for _, q := range asked {
			if kind != "" && !strings.HasPrefix(q.name, "2025-11-25") && !strings.HasPrefix(q.name, "2026-07-28") {
				continue
			}
			t.Run(kind+q.name, func(t *testing.T) {
				t.Parallel()
				want, got := asks(t, sdk, q), asks(t, front, q)
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(answer{}), ignoreFront); diff != "" {
					t.Errorf("the front door answers otherwise (-sdk +front):\n%s", diff)
				}
				if got.front != q.front {
					t.Errorf("answered by the front door: %v", got.front)
				}
			})
		}
	}
}

var ignoreFront = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".front" }, cmp.Ignore())

// panicking is a service none of whose methods is there.
type panicking struct{ c3po.Service }

func asks(t testing.TB, handler http.Handler, q question) answer {
	t.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, q.ask(t.Context()))
	return listen(t, w)
}

// The SDK insists that a client accepts both forms. We give it the one it takes:
// a script needs no events, and what it sends is what curl sends.
func TestAClientThatTakesOneFormGetsThatForm(t *testing.T) {
	t.Parallel()
	s := mcpserver.New(mcpserver.Config{Service: always(&scripted{}), Version: "1.2.3", Envelope: fixedMark()})
	for _, version := range []string{"", "2025-11-25", "2026-07-28"} {
		want := asks(t, s.Handler(), changed("", version, true, func(*http.Request) {}))
		for form, accept := range map[string][]string{
			"application/json":  {"application/json"},
			"text/event-stream": {"text/event-stream"},
			"":                  nil,
		} {
			q := changed("", version, true, withHeader("Accept", accept...))
			got := asks(t, s.Handler(), q)
			if diff := cmp.Diff(want.Messages, got.Messages); diff != "" || got.Status != http.StatusOK {
				t.Errorf("%s accepting %q: %d\n%s", version, form, got.Status, diff)
			}
			if kind := got.Header.Get("Content-Type"); !strings.HasPrefix(kind, form) || form == "" && kind != "application/json" {
				t.Errorf("%s accepting %q got %s", version, form, kind)
			}
			if sdk := asks(t, s.SDKHandler(), q); sdk.Status != http.StatusBadRequest {
				t.Errorf("%s accepting %q: the SDK answers %d, so this is no difference any more", version, form, sdk.Status)
			}
		}
	}
}

// What the SDK says of everything but a plain call it would refuse to say in JSON alone.
func TestAMistakeIsNamedWhicheverFormItsClientTakes(t *testing.T) {
	t.Parallel()
	s := mcpserver.New(mcpserver.Config{Service: always(&scripted{}), Version: "1.2.3", Envelope: fixedMark()})
	sdk, front := s.SDKHandler(), s.Handler()
	for _, version := range []string{"", "2025-11-25"} {
		for _, b := range bodies {
			q := question{ask: func(ctx context.Context) *http.Request { return newPost(ctx, version, "", "", b.body) }}
			want := asks(t, sdk, q)
			for _, accept := range [][]string{{"application/json"}, nil} {
				got := asks(t, front, question{ask: func(ctx context.Context) *http.Request {
					r := q.ask(ctx)
					withHeader("Accept", accept...)(r)
					return r
				}})
				if got.Status != want.Status || got.Text != want.Text || !cmp.Equal(got.Messages, want.Messages) {
					t.Errorf("%s %s\naccepting %q: %d %v %s\nthe SDK: %d %v %s", version, b.body, accept, got.Status, got.Messages, got.Text, want.Status, want.Messages, want.Text)
				}
			}
		}
	}
}

// FuzzTheFrontDoorAgreesWithTheSDK looks for a request that the two understand
// differently.
func FuzzTheFrontDoorAgreesWithTheSDK(f *testing.F) {
	for _, b := range bodies {
		for _, version := range []string{"", "2025-11-25", "2026-07-28"} {
			f.Add(version, "tools/call", "ping", b.body)
		}
	}
	for _, c := range calls {
		body, err := io.ReadAll(newCall(f.Context(), "2026-07-28", c.tool, c.arguments, `"progressToken":1`).Body)
		if err != nil {
			f.Fatal(err)
		}
		f.Add("2026-07-28", "tools/call", c.tool, string(body))
	}
	s := mcpserver.New(mcpserver.Config{Service: always(&scripted{}), Version: "1.2.3", Envelope: fixedMark()})
	sdk, front := s.SDKHandler(), s.Handler()
	f.Fuzz(func(t *testing.T, version, method, name, body string) {
		if strings.Count(body, "[")+strings.Count(body, "{") > 1000 {
			t.Skip("the SDK refuses JSON that is deeper than 1,000, we 10,000")
		}
		if !slices.Contains([]string{"", "2025-11-25", "2026-07-28"}, version) {
			version = "2025-11-25"
		}
		q := question{ask: func(ctx context.Context) *http.Request { return newPost(ctx, version, method, name, body) }}
		got := asks(t, front, q)
		if !got.front {
			return // the SDK's own answer
		}
		want := asks(t, sdk, q)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(answer{}), ignoreFront); diff != "" {
			t.Errorf("the front door answers otherwise (-sdk +front):\n%s", diff)
		}
	})
}
