package server

import (
	"cmp"
	"log/slog"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/transport/rest"
)

// A gate stands before everything on every listener. It keeps web pages out: a
// page in the browser of somebody near reaches the coordinator too, by a
// request across origins, or by a name of its own that it lets point here. The
// first is told by the headers browsers send, the second by the Host. Reads are
// checked like writes. And it holds what is sent to the form and the time that
// every route has in common.
type gate struct {
	names   []string // by which callers may call it, besides numbers
	version string
	// standing are headers that every answer has. A handler replaces them, and changes none.
	standing http.Header
	origins  *http.CrossOriginProtection
	flight   *flight
	// known says on whose account a request is, if it comes from somebody we know.
	known func(*http.Request) (string, bool)
	log   *slog.Logger
	next  http.Handler
}

// protocolHeader is the header as net/http keeps it.
var protocolHeader = http.CanonicalHeaderKey(c3po.ProtocolHeader)

func newGate(names []string, version string, known func(*http.Request) (string, bool), log *slog.Logger, next http.Handler) http.Handler {
	standing := http.Header{}
	harden(standing)
	standing.Set(c3po.VersionHeader, version)
	standing.Set(c3po.ProtocolHeader, c3po.OwnProtocols().String())
	return &gate{names: names, version: version, standing: standing, origins: http.NewCrossOriginProtection(), flight: newFlight(), known: known, log: log, next: next}
}

func (g *gate) ServeHTTP(plain http.ResponseWriter, r *http.Request) {
	w := newPacedWriter(plain)
	// The rest of an answer is sent after its handler has returned.
	defer w.extend()
	maps.Copy(w.Header(), g.standing)
	if err := g.check(r); err != nil {
		g.log.InfoContext(r.Context(), "request refused at the gate", "method", r.Method, "host", r.Host,
			"remote", r.RemoteAddr, "err", err.Message)
		rest.Refuse(w, err)
		return
	}
	if r.ContentLength != 0 {
		by := flier{name: auth.RemoteOf(r), stranger: true}
		if account, known := g.known(r); known {
			by = flier{name: account}
		}
		sent := newBody(w.ctrl, r.Body, g.flight, by)
		defer sent.release()
		r.Body = sent
	}
	g.next.ServeHTTP(w, r)
}

// harden tells a browser that came all the same to do nothing with the answer.
// A handler that serves pages sets these anew.
func harden(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
}

func (g *gate) check(r *http.Request) *c3po.Error {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !allowedHost(r.Host, local, g.names) {
		return c3po.Errorf(c3po.Forbidden, "this coordinator does not answer to the name it was called by").
			Suggest("Use its own address, on the same machine http://localhost with its port, or give the coordinator that name with --name.")
	}
	if g.fromElsewhere(r) {
		return c3po.Errorf(c3po.Forbidden, "requests from other web sites are refused").
			Suggest("Call the coordinator from a program, not from a page of another origin.")
	}
	if r.ContentLength != 0 && !isJSON(r.Header) {
		return c3po.Errorf(c3po.InvalidRequest, "the body must be JSON").
			Suggest("Send the header Content-Type: application/json.")
	}
	return g.meet(r.Header)
}

// meet refuses a client of ours that would misunderstand this coordinator, before
// anything is done for it. Others say nothing of a protocol.
func (g *gate) meet(header http.Header) *c3po.Error {
	spoken := header.Get(protocolHeader)
	if spoken == "" {
		return nil
	}
	client, err := c3po.ParseProtocols(spoken)
	if err != nil {
		return c3po.AsError(err)
	}
	version := cmp.Or(c3po.ClientVersion(header.Get(auth.ClientHeader)), "of another version")
	return c3po.Meet(client, version, c3po.OwnProtocols(), g.version)
}

// fromElsewhere says whether a browser sent the request for a page of another
// origin.
func (g *gate) fromElsewhere(r *http.Request) bool {
	origin := r.Header.Values("Origin")
	if len(origin) > 1 || len(r.Header.Values("Sec-Fetch-Site")) > 1 {
		// No browser does this, and a proxy might read the other one.
		return true
	}
	if len(origin) == 1 {
		// Also where Sec-Fetch-Site is content: both must say the same.
		o, err := url.Parse(origin[0])
		if err != nil || o.Host == "" || !strings.EqualFold(o.Host, r.Host) {
			return true
		}
	}
	if len(origin) == 0 && r.Header.Get("Sec-Fetch-Site") == "" || opensPage(r) {
		return false // no browser, or a page that anybody may open
	}
	// The standard protection lets every GET pass, because a page cannot read its answer.
	// Here a GET can wait for an hour, and no page needs one.
	asWrite := r.WithContext(r.Context())
	asWrite.Method = http.MethodPost
	return g.origins.Check(asWrite) != nil
}

// opensPage says that a browser opens the dashboard as a top-level page. Where it was
// sent from does not matter: the page is the same for everybody, it cannot be framed, and
// `c3po open` sends a browser here from a file.
func opensPage(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == "/" && r.Header.Get("Origin") == "" &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// isJSON says whether the one content type that is given is JSON. A page cannot
// send it to a foreign host unasked.
func isJSON(header http.Header) bool {
	given := header.Values("Content-Type")
	if len(given) != 1 {
		return false
	}
	if given[0] == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(given[0])
	return err == nil && kind == "application/json"
}

// allowedHost says whether a Host header names the coordinator: a name it was
// given, or an address. Reached over
// loopback, or over a socket that only local programs see, that is any name of
// loopback. Any other name may be one that a web page lets point here.
func allowedHost(hostport string, local net.Addr, names []string) bool {
	host, ok := hostOnly(hostport)
	if !ok {
		return false
	}
	for _, name := range names {
		if strings.EqualFold(host, name) {
			return true
		}
	}
	reached := addressOf(local)
	if !reached.IsValid() || reached.IsLoopback() {
		return auth.Loopback(host)
	}
	// No page can let a number point here, and behind a port mapping callers use
	// another number than the one that was reached.
	_, err := netip.ParseAddr(host)
	return err == nil
}

// addressOf is invalid for what has no address, as a unix socket.
func addressOf(local net.Addr) netip.Addr {
	tcp, ok := local.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("")
}

// hostOnly is a Host header without its port and brackets; false if it is not
// well formed.
func hostOnly(hostport string) (string, bool) {
	host, port := hostport, "0"
	if at := strings.LastIndexByte(hostport, ':'); at >= 0 && !strings.HasSuffix(hostport, "]") {
		host, port = hostport[:at], hostport[at+1:]
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", false
	}
	inner, bracketed := strings.CutPrefix(host, "[")
	if bracketed {
		inner, bracketed = strings.CutSuffix(inner, "]")
		ip, err := netip.ParseAddr(inner)
		return inner, bracketed && err == nil && ip.Is6() && ip.Zone() == ""
	}
	return host, host != "" && !strings.ContainsAny(host, ":[]%/@ ")
}
