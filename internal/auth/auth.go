// Package auth says who makes a request. It is the only place where a
// c3po.Caller is made, so nothing further in can mistake a claim for a fact.
//
// A Keeper knows a caller by its token, or on the unix socket of one machine by
// the user it runs as. A person who presses a button of a notice is known by that. What it may do follows from its role, which the table of
// operations is asked about; as whom and where from its token's grant. With the
// mode None a caller is who its headers say.
package auth

import (
	"net"
	"net/http"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/c3po"
)

// The headers a caller introduces itself with.
const (
	AgentHeader   = "X-Agent-ID"
	SessionHeader = "X-Session-ID"
	SpaceHeader   = "X-C3PO-Space"
	RunHeader     = "X-C3PO-Run"
	EpochHeader   = "X-C3PO-Epoch"
	ClientHeader  = "X-C3PO-Client"
	// AncestorsHeader names the processes our command line was started by, so that
	// what an agent starts cannot pass for its person by accident.
	AncestorsHeader = "X-C3PO-Ancestors"
	// ClosedHeader is set by the host of a closed session that calls for it.
	ClosedHeader = "X-C3PO-Closed"
)

// canonical are these headers as net/http keeps them, which takes memory to find out.
var canonical = func() map[string]string {
	as := map[string]string{}
	for _, name := range []string{AgentHeader, SessionHeader, SpaceHeader, RunHeader, EpochHeader, ClientHeader, AncestorsHeader, ClosedHeader} {
		as[name] = http.CanonicalHeaderKey(name)
	}
	return as
}()

// maxHeaderCharacters a header of free text may have.
const maxHeaderCharacters = 200

// fromHeaders makes the Caller of a request that came through the named door,
// as its headers say. The agent id may be missing: whether one is needed is for
// the operation to say. What is there must be well formed: INVALID_REQUEST.
func fromHeaders(r *http.Request, route string) (c3po.Caller, error) {
	h := headers{values: r.Header}
	caller := c3po.Caller{
		Space:   parseHeader(&h, SpaceHeader, c3po.ParseSpace),
		ID:      parseHeader(&h, AgentHeader, agentID),
		Session: parseHeader(&h, SessionHeader, printable(SessionHeader)),
		Run:     parseHeader(&h, RunHeader, printable(RunHeader)),
		Epoch:   parseHeader(&h, EpochHeader, epoch),
		Client:  parseHeader(&h, ClientHeader, printable(ClientHeader)),
		Closed:  parseHeader(&h, ClosedHeader, isSet),
		Route:   route,
		Local:   local(r),
		PID:     pidIn(r.Context()),
		// Headers alone prove nothing about a role, so everybody has every one.
		Role: c3po.RoleAdmin, AllSpaces: true,
	}
	if h.err != nil {
		return c3po.Caller{}, h.err
	}
	if caller.Run == "" {
		caller.Run = caller.Session
	}
	return caller, nil
}

// local says that a request came from this host: over loopback, or over our own
// socket, which has no address.
func local(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err != nil || Loopback(host)
}

// headers reads values and keeps the first thing that was wrong.
type headers struct {
	values http.Header
	err    error
}

func parseHeader[T any](h *headers, name string, parse func(string) (T, error)) T {
	var none T
	if h.err != nil {
		return none
	}
	given := h.values[canonical[name]]
	if len(given) > 1 {
		// A proxy in between might read the other one.
		h.err = c3po.Errorf(c3po.InvalidRequest, "header %s is given more than once", name).Suggest("Send %s once.", name)
		return none
	}
	text := ""
	if len(given) == 1 {
		text = given[0]
	}
	value, err := parse(text)
	if err != nil {
		h.err = err
		return none
	}
	return value
}

func agentID(s string) (c3po.AgentID, error) {
	if s == "" {
		return "", nil
	}
	return c3po.ParseAgentID(s)
}

func epoch(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, c3po.Errorf(c3po.InvalidRequest, "header %s is not a number", EpochHeader).
			Suggest("Send back the %s of an earlier answer, or leave it out.", EpochHeader)
	}
	return n, nil
}

func isSet(s string) (bool, error) {
	if s != "" && s != "1" {
		return false, c3po.Errorf(c3po.InvalidRequest, "header %s is not 1", ClosedHeader).Suggest("Send 1, or leave it out.")
	}
	return s == "1", nil
}

func printable(name string) func(string) (string, error) {
	return func(s string) (string, error) {
		if utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxHeaderCharacters && allPrintable(s) {
			return s, nil
		}
		return "", c3po.Errorf(c3po.InvalidRequest, "header %s is not plain text of at most %d characters", name, maxHeaderCharacters).
			Suggest("Use printable characters only, at most %d of them.", maxHeaderCharacters)
	}
}

func allPrintable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
