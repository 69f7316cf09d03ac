package server

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A visitor is what a request says of where it comes from.
type visitor struct {
	host        string
	origin      string // none if empty
	site        string // Sec-Fetch-Site, none if empty
	mode        string // Sec-Fetch-Mode
	contentType string
	body        string
}

const (
	in        = http.StatusOK
	elsewhere = http.StatusForbidden
	notJSON   = http.StatusBadRequest
)

// visitors is the table: Host, Origin, Sec-Fetch-Site, Sec-Fetch-Mode and
// Content-Type as programs, pages of ours and pages of others send them to a
// coordinator reached over loopback and called c3po.lan.
var visitors = []struct {
	visitor
	want int
}{
	// Programs send no Origin and no Sec-Fetch-*.
	{visitor{host: "localhost:8420"}, in},
	{visitor{host: "LOCALHOST:8420"}, in},
	{visitor{host: "localhost"}, in},
	{visitor{host: "127.0.0.1:8420"}, in},
	{visitor{host: "127.0.0.1"}, in},
	{visitor{host: "127.8.9.10:8420"}, in},
	{visitor{host: "[::1]:8420"}, in},
	{visitor{host: "[::1]"}, in},
	{visitor{host: "[::ffff:127.0.0.1]:8420"}, in},
	{visitor{host: "c3po.lan:8420"}, in},
	{visitor{host: "C3PO.lan"}, in},

	// Names that lead here without being ours.
	{visitor{host: "evil.example:8420"}, elsewhere},
	{visitor{host: "evil.example"}, elsewhere},
	{visitor{host: "localhost.evil.example:8420"}, elsewhere},
	{visitor{host: "evil-localhost"}, elsewhere},
	{visitor{host: "localhost."}, elsewhere},
	{visitor{host: "127.0.0.1.evil.example"}, elsewhere},
	{visitor{host: "127.0.0.1."}, elsewhere},
	{visitor{host: "0x7f000001"}, elsewhere},
	{visitor{host: "2130706433:8420"}, elsewhere},
	{visitor{host: "127.1"}, elsewhere},
	{visitor{host: "0.0.0.0:8420"}, elsewhere},
	{visitor{host: "[::]:8420"}, elsewhere},
	{visitor{host: "10.0.0.7:8420"}, elsewhere},
	{visitor{host: "[fe80::1]:8420"}, elsewhere},
	{visitor{host: "[::1%25lo]:8420"}, elsewhere},
	{visitor{host: "c3po.lan.evil.example"}, elsewhere},
	{visitor{host: "xc3po.lan"}, elsewhere},
	{visitor{host: "localhost:8420:8420"}, elsewhere},
	{visitor{host: "localhost:http"}, elsewhere},
	{visitor{host: "localhost:99999"}, elsewhere},
	{visitor{host: "[localhost]:8420"}, elsewhere},
	{visitor{host: "::1"}, elsewhere},
	{visitor{host: "user@localhost"}, elsewhere},
	{visitor{host: ":8420"}, elsewhere},
	{visitor{host: ""}, elsewhere},

	// Pages of our own.
	{visitor{host: "localhost:8420", origin: "http://localhost:8420"}, in},
	{visitor{host: "localhost:8420", origin: "http://localhost:8420", site: "same-origin", mode: "cors"}, in},
	{visitor{host: "localhost:8420", site: "same-origin", mode: "no-cors"}, in},
	{visitor{host: "c3po.lan", origin: "https://c3po.lan", site: "same-origin"}, in},
	{visitor{host: "[::1]:8420", origin: "http://[::1]:8420"}, in},
	// What a person typed into the address line.
	{visitor{host: "localhost:8420", site: "none", mode: "navigate"}, in},

	// Pages of others. That of another port of this machine is one.
	{visitor{host: "localhost:8420", origin: "http://localhost:3000"}, elsewhere},
	{visitor{host: "localhost:8420", origin: "http://localhost:3000", site: "same-site", mode: "cors"}, elsewhere},
	{visitor{host: "localhost:8420", site: "same-site", mode: "no-cors"}, elsewhere},
	{visitor{host: "localhost:8420", origin: "http://127.0.0.1:8420"}, elsewhere},
	{visitor{host: "localhost:8420", origin: "http://localhost"}, elsewhere},
	{visitor{host: "localhost:8420", origin: "https://evil.example"}, elsewhere},
	{visitor{host: "localhost:8420", origin: "https://evil.example", site: "cross-site", mode: "cors"}, elsewhere},
	{visitor{host: "localhost:8420", site: "cross-site", mode: "no-cors"}, elsewhere},
	{visitor{host: "localhost:8420", site: "cross-site", mode: "navigate"}, elsewhere},
	{visitor{host: "localhost:8420", site: "cross-site", mode: "websocket"}, elsewhere},
	{visitor{host: "localhost:8420", origin: "null"}, elsewhere},
	{visitor{host: "localhost:8420", origin: "null", site: "cross-site"}, elsewhere},
	{visitor{host: "localhost:8420", origin: "file://"}, elsewhere},
	{visitor{host: "localhost:8420", origin: "chrome-extension://abcdef"}, elsewhere},
	{visitor{host: "localhost:8420", origin: "localhost:8420"}, elsewhere},
	{visitor{host: "localhost:8420", origin: "://"}, elsewhere},
	{visitor{host: "localhost:8420", origin: "https://evil.example", site: "same-origin"}, elsewhere},
	{visitor{host: "localhost:8420", origin: "https://evil.example", site: "none"}, elsewhere},
	{visitor{host: "localhost:8420", site: "unheard-of"}, elsewhere},
	{visitor{host: "evil.example", origin: "http://evil.example", site: "same-origin"}, elsewhere},
	{visitor{host: "c3po.lan", origin: "https://c3po.lan.evil.example"}, elsewhere},

	// Bodies.
	{visitor{host: "localhost:8420", contentType: "application/json", body: "{}"}, in},
	{visitor{host: "localhost:8420", contentType: "application/json; charset=utf-8", body: "{}"}, in},
	{visitor{host: "localhost:8420", contentType: "Application/JSON", body: "{}"}, in},
	{visitor{host: "localhost:8420", contentType: "text/plain"}, in}, // there is none
	{visitor{host: "localhost:8420", body: "{}"}, notJSON},
	{visitor{host: "localhost:8420", contentType: "text/plain", body: "{}"}, notJSON},
	{visitor{host: "localhost:8420", contentType: "application/x-www-form-urlencoded", body: "a=b"}, notJSON},
	{visitor{host: "localhost:8420", contentType: "multipart/form-data; boundary=x", body: "--x--"}, notJSON},
	{visitor{host: "localhost:8420", contentType: "text/plain; application/json", body: "{}"}, notJSON},
	{visitor{host: "localhost:8420", contentType: "application/json, text/plain", body: "{}"}, notJSON},
	{visitor{host: "localhost:8420", contentType: "application/jsonp", body: "{}"}, notJSON},
	{visitor{host: "localhost:8420", contentType: "application/json;", body: "{}"}, in},
	{visitor{host: "evil.example", contentType: "application/json", body: "{}"}, elsewhere},
	{visitor{host: "localhost:8420", origin: "https://evil.example", contentType: "text/plain", body: "{}"}, elsewhere},
}

func (v visitor) request(ctx context.Context, method, path string) *http.Request {
	var body io.Reader
	if v.body != "" {
		body = strings.NewReader(v.body)
	}
	r := httptest.NewRequestWithContext(ctx, method, path, body)
	r.Host = v.host
	for name, value := range map[string]string{
		"Origin": v.origin, "Sec-Fetch-Site": v.site, "Sec-Fetch-Mode": v.mode, "Content-Type": v.contentType,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	return r
}

func TestTheGateTreatsEveryMethodAlike(t *testing.T) {
	t.Parallel()
	reached := netip.MustParseAddrPort("127.0.0.1:8420")
	ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(net.TCPAddrFromAddrPort(reached)))
	passed := false
	gate := newGate([]string{"c3po.lan"}, "1.4.0", nobody, slog.New(slog.DiscardHandler), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		passed = true
		w.WriteHeader(http.StatusOK)
	}))
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		for _, row := range visitors {
			passed = false
			w := httptest.NewRecorder()
			gate.ServeHTTP(w, row.request(ctx, method, "http://ignored/api/agents"))
			if w.Code != row.want || passed != (row.want == in) {
				t.Errorf("%s %+v: %d, passed %v, want %d", method, row.visitor, w.Code, passed, row.want)
			}
			var refusal c3po.Error
			if row.want != in && (json.Unmarshal(w.Body.Bytes(), &refusal) != nil || refusal.Suggestion == "") {
				t.Errorf("%s %+v is refused with %s", method, row.visitor, w.Body)
			}
		}
	}
}

// Every answer says which version it is from, a refusal too, and a client that would
// misunderstand it is told so before anything is done.
func TestAClientOfAnotherProtocolIsRefusedBeforeAnythingIsDone(t *testing.T) {
	t.Parallel()
	for protocols, want := range map[string]string{
		"":                           "",
		c3po.OwnProtocols().String(): "",
		"1-99":                       "",
		"98-99":                      "Upgrade the coordinator to 9.9.0",
		"new":                        "Leave it out",
	} {
		passed := false
		gate := newGate(nil, "1.4.0", nobody, slog.New(slog.DiscardHandler), http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true }))
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1/api/agents", nil)
		r.Header.Set("X-C3PO-Client", "c3po/9.9.0 codex")
		if protocols != "" {
			r.Header.Set(c3po.ProtocolHeader, protocols)
		}
		gate.ServeHTTP(w, r)
		var refusal c3po.Error
		if want != "" {
			if err := json.Unmarshal(w.Body.Bytes(), &refusal); err != nil {
				t.Fatal(err)
			}
		}
		if passed != (want == "") || !strings.Contains(refusal.Suggestion, want) {
			t.Errorf("protocols %q: passed %v, %q, %q", protocols, passed, refusal.Message, refusal.Suggestion)
		}
		if w.Header().Get(c3po.VersionHeader) != "1.4.0" || w.Header().Get(c3po.ProtocolHeader) != c3po.OwnProtocols().String() {
			t.Errorf("protocols %q: the answer is from %q, protocols %q", protocols, w.Header().Get(c3po.VersionHeader), w.Header().Get(c3po.ProtocolHeader))
		}
	}
}

// The table, on a running coordinator, for every path it serves: those its own
// document lists, which is checked against its routes elsewhere, and the rest.
func TestNoPathIsOpenToThePagesOfOthers(t *testing.T) {
	t.Parallel()
	if len(visitors) < 60 {
		t.Fatalf("the table has %d rows", len(visitors))
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{Listen: ":0", RedisURL: redistest.Shared(t), Auth: auth.None, Names: []string{"c3po.lan"}}, func(addr string) { ready <- addr })
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	var url string
	select {
	case addr := <-ready:
		url = "http://" + addr
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	paths := documentedPaths(t)
	t.Logf("%d visitors at %d paths", len(visitors), len(paths))
	for _, path := range paths {
		for _, method := range []string{"GET", "POST"} {
			for _, row := range visitors {
				// What the client of the standard library cannot be made to send is for
				// the test above.
				if row.host != "" && !strings.Contains(row.host, "%") {
					visit(t, row.visitor, method, url+path, row.want)
				}
			}
		}
	}
}

// visit makes one request and looks whether the gate let it pass; what then
// becomes of it is not the gate's business.
func visit(t *testing.T, v visitor, method, url string, want int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel() // a stream would go on
	r := v.request(ctx, method, url)
	r.RequestURI = ""
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Errorf("%s %s %+v: %v", method, url, v, err)
		return
	}
	defer answer.Body.Close()
	if answer.Header.Get("Content-Type") != "text/event-stream" {
		_, _ = io.Copy(io.Discard, answer.Body) // so that the connection serves the next one too
	}
	for name, value := range map[string]string{"X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": "", "Cross-Origin-Resource-Policy": "same-origin"} {
		if got := answer.Header.Get(name); got != value && answer.Header.Get("Connection") != "close" {
			t.Errorf("%s %s: %s is %q", method, url, name, got)
		}
	}
	if want == in {
		if answer.StatusCode == elsewhere {
			t.Errorf("%s %s %+v is refused", method, url, v)
		}
		return
	}
	// A Host that is none at all is refused by HTTP itself.
	malformed := answer.StatusCode == http.StatusBadRequest && answer.Header.Get("Connection") == "close"
	if answer.StatusCode != want && !malformed {
		t.Errorf("%s %s %+v: %d, want %d", method, url, v, answer.StatusCode, want)
	}
}

func TestTwoOriginsAreNone(t *testing.T) {
	t.Parallel()
	gate := newGate(nil, "1.4.0", nobody, slog.New(slog.DiscardHandler), http.NotFoundHandler())
	for _, name := range []string{"Origin", "Sec-Fetch-Site"} {
		r := visitor{host: "localhost"}.request(t.Context(), "GET", "/api/wait")
		ours := map[string]string{"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}[name]
		r.Header.Add(name, ours)
		r.Header.Add(name, "https://evil.example")
		w := httptest.NewRecorder()
		if gate.ServeHTTP(w, r); w.Code != http.StatusForbidden {
			t.Errorf("two of %s: %d", name, w.Code)
		}
	}
}

func TestAHostIsANumberOrANameThatWasGiven(t *testing.T) {
	t.Parallel()
	lan := net.TCPAddrFromAddrPort(netip.MustParseAddrPort("192.168.1.10:8420"))
	six := net.TCPAddrFromAddrPort(netip.MustParseAddrPort("[fe80::1%eth0]:8420"))
	mapped := net.TCPAddrFromAddrPort(netip.MustParseAddrPort("[::ffff:192.168.1.10]:8420"))
	socket := &net.UnixAddr{Name: "/run/c3po.sock", Net: "unix"}
	for _, row := range []struct {
		host  string
		local net.Addr
		want  bool
	}{
		{"192.168.1.10:8420", lan, true},
		{"192.168.1.10", mapped, true},
		{"[::ffff:192.168.1.10]:8420", lan, true},
		{"192.168.1.11:8420", lan, true},
		{"localhost:8420", lan, false}, // a page that lets its name point to us could say so as well
		{"127.0.0.1:8420", lan, true},
		{"nas.lan:8420", lan, true},
		{"evil.example:8420", lan, false},
		{"[fe80::1]:8420", six, true},
		{"[fe80::2]:8420", six, true},
		{"localhost", socket, true},
		{"nas.lan", socket, true},
		{"evil.example", socket, false},
		{"192.168.1.10", socket, false},
		{"localhost", nil, true},
	} {
		if got := allowedHost(row.host, row.local, []string{"nas.lan"}); got != row.want {
			t.Errorf("Host %q at %v: %v, want %v", row.host, row.local, got, row.want)
		}
	}
}

// Whatever a Host header holds, it is let in only if it is one of a few words,
// with a port or without.
func FuzzHost(f *testing.F) {
	for _, row := range visitors {
		f.Add(row.host)
	}
	local := net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:8420"))
	f.Fuzz(func(t *testing.T, host string) {
		if !allowedHost(host, local, []string{"nas.lan"}) {
			return
		}
		name := strings.ToLower(host)
		if at := strings.LastIndex(name, ":"); at >= 0 && !strings.HasSuffix(name, "]") {
			port := name[at+1:]
			if len(port) == 0 || strings.Trim(port, "0123456789") != "" {
				t.Errorf("let in with the port %q", port)
			}
			name = name[:at]
		}
		ip := net.ParseIP(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
		if !slices.Contains([]string{"localhost", "nas.lan"}, name) && (ip == nil || !ip.IsLoopback()) {
			t.Errorf("let in as %q", host)
		}
	})
}

// documentedPaths is what a coordinator serves, and a path it does not.
func documentedPaths(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../transport/rest/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{"/mcp", "/metrics", "/no/such/path"}
	for line := range strings.Lines(string(text)) {
		// A path is a key of two spaces' depth.
		if path, ok := strings.CutSuffix(strings.TrimRight(line, "\n"), ":"); ok && strings.HasPrefix(path, "  /") {
			paths = append(paths, strings.TrimSpace(path))
		}
	}
	if len(paths) < 30 {
		t.Fatalf("only %d paths were found: %v", len(paths), paths)
	}
	return paths
}

// nobody is known to a gate.
func nobody(*http.Request) (string, bool) { return "", false }
