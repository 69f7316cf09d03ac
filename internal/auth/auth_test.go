package auth_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// fromHeaders is who makes a request where headers are all that counts.
func fromHeaders(r *http.Request, route string) (c3po.Caller, error) {
	caller, _, release, err := auth.New(auth.Config{Mode: auth.None}).Caller(r, route)
	release()
	return caller, err
}

func request(pairs ...string) *http.Request {
	r := &http.Request{Header: http.Header{}, RemoteAddr: "192.0.2.7:1"}
	for i := 0; i < len(pairs); i += 2 {
		r.Header.Add(pairs[i], pairs[i+1])
	}
	return r
}

func TestACallerIsWhoItsHeadersSay(t *testing.T) {
	t.Parallel()
	got, err := fromHeaders(request(
		"X-Agent-ID", "box/api", "X-Session-ID", "s1", "X-C3PO-Space", "team", "X-C3PO-Run", "box:7:99",
		"X-C3PO-Epoch", "4", "X-C3PO-Client", "c3po/1.2 claude-code", "X-C3PO-Closed", "1"), "rest")
	if err != nil {
		t.Fatal(err)
	}
	want := c3po.Caller{
		Space: "team", ID: "box/api", Session: "s1", Run: "box:7:99", Epoch: 4,
		Client: "c3po/1.2 claude-code", Route: "rest", Role: c3po.RoleAdmin, AllSpaces: true, Closed: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("caller (-want +got):\n%s", diff)
	}
}

func TestWithoutHeadersACallerHasNoNameAndTheDefaultSpace(t *testing.T) {
	t.Parallel()
	got, err := fromHeaders(request(), "mcp")
	if err != nil {
		t.Fatal(err)
	}
	want := c3po.Caller{Space: c3po.DefaultSpace, Route: "mcp", Role: c3po.RoleAdmin, AllSpaces: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("caller (-want +got):\n%s", diff)
	}
}

func TestTheSessionIsTheRunOfACallerThatNamesNone(t *testing.T) {
	t.Parallel()
	got, err := fromHeaders(request("X-Agent-ID", "api", "X-Session-ID", "s1"), "rest")
	if err != nil {
		t.Fatal(err)
	}
	if got.Run != "s1" || got.Session != "s1" {
		t.Errorf("run %q, session %q, want s1 for both", got.Run, got.Session)
	}
}

func TestMalformedHeadersAreRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 201)
	for name, headers := range map[string][]string{
		"an agent id with a space":     {"X-Agent-ID", "agent with spaces"},
		"an agent id with an at sign":  {"X-Agent-ID", "agent@home"},
		"an agent id after a dash":     {"X-Agent-ID", "-agent"},
		"two agent ids":                {"X-Agent-ID", "a", "X-Agent-ID", "b"},
		"a session of 201 characters":  {"X-Session-ID", long},
		"a session with an escape":     {"X-Session-ID", "a\x1b[2J"},
		"a session that is not UTF-8":  {"X-Session-ID", "\xff"},
		"a run with a line break":      {"X-C3PO-Run", "a\nb"},
		"a run of 201 characters":      {"X-C3PO-Run", long},
		"a space in capitals":          {"X-C3PO-Space", "Main"},
		"a space that is an address":   {"X-C3PO-Space", "room"},
		"an epoch that is a word":      {"X-C3PO-Epoch", "late"},
		"an epoch below zero":          {"X-C3PO-Epoch", "-1"},
		"a closed session by a word":   {"X-C3PO-Closed", "yes"},
		"a client that turns the text": {"X-C3PO-Client", "a\u202eb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caller, err := fromHeaders(request(headers...), "rest")
			if !errors.Is(err, c3po.InvalidRequest) {
				t.Fatalf("error %v, want %s", err, c3po.InvalidRequest)
			}
			if c3po.AsError(err).Suggestion == "" {
				t.Error("the refusal does not say what to do")
			}
			if diff := cmp.Diff(c3po.Caller{}, caller); diff != "" {
				t.Errorf("a refused request made a caller:\n%s", diff)
			}
		})
	}
}

func TestOtherMachinesMeetTokensAndTLSOrAWordThatThereAreNone(t *testing.T) {
	t.Parallel()
	secure := auth.Exposure{}
	open := auth.Exposure{Mode: auth.None}
	plain := auth.Exposure{Plain: true}
	proxied := auth.Exposure{Plain: true, Proxied: true}
	trusting := auth.Exposure{Mode: auth.None, Plain: true}
	for _, here := range []string{"127.0.0.1:8420", "127.8.8.8:0", "localhost:8420", "[::1]:8420", "[::ffff:127.0.0.1]:8420"} {
		for _, e := range []auth.Exposure{secure, open, plain, proxied, trusting} {
			if err := auth.CheckListen(here, e); err != nil {
				t.Errorf("CheckListen(%q, %+v) = %v", here, e, err)
			}
		}
	}
	for _, outside := range []string{":8420", "0.0.0.0:8420", "[::]:8420", "192.168.1.10:8420", "nas.local:8420", "localhost.evil.com:8420"} {
		for e, want := range map[auth.Exposure]error{
			secure: nil, open: c3po.Forbidden, plain: c3po.Forbidden, proxied: nil, trusting: nil,
		} {
			if err := auth.CheckListen(outside, e); !errors.Is(err, want) {
				t.Errorf("CheckListen(%q, %+v) = %v, want %v", outside, e, err, want)
			}
		}
	}
	for _, nowhere := range []string{"127.0.0.1", ""} {
		if err := auth.CheckListen(nowhere, secure); !errors.Is(err, c3po.InvalidRequest) {
			t.Errorf("CheckListen(%q) = %v", nowhere, err)
		}
	}
}

// Whatever the headers hold, a caller that is let in has a valid id and space
// and carries nothing that a log or a terminal could choke on.
func FuzzFromRequest(f *testing.F) {
	f.Add("api", "s", "main", "box:1:2", "3", "c3po/1")
	f.Add("host/api", "", "", "", "", "")
	f.Add("a::b", "\x00", "Main", "\u2028", "-9", "\xff")
	f.Fuzz(func(t *testing.T, id, session, space, run, epoch, client string) {
		caller, err := fromHeaders(request("X-Agent-ID", id, "X-Session-ID", session, "X-C3PO-Space", space,
			"X-C3PO-Run", run, "X-C3PO-Epoch", epoch, "X-C3PO-Client", client), "rest")
		if err != nil {
			if !errors.Is(err, c3po.InvalidRequest) {
				t.Fatalf("error %v is not %s", err, c3po.InvalidRequest)
			}
			return
		}
		if _, err := c3po.ParseAgentID(string(caller.ID)); caller.ID != "" && err != nil {
			t.Errorf("let in as %q: %v", caller.ID, err)
		}
		if _, err := c3po.ParseSpace(string(caller.Space)); err != nil || caller.Space == "" {
			t.Errorf("let into %q: %v", caller.Space, err)
		}
		for _, text := range []string{caller.Session, caller.Run, caller.Client} {
			if !utf8.ValidString(text) || utf8.RuneCountInString(text) > 200 || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("let in with %q", text)
			}
		}
		if caller.Epoch < 0 {
			t.Errorf("let in with epoch %d", caller.Epoch)
		}
	})
}
