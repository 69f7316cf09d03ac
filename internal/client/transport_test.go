package client_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

// A deafConn is a connection of a laptop that slept: from some moment on nothing arrives, and
// nothing says so.
type deafConn struct {
	net.Conn
	deaf *atomic.Bool
}

func (c deafConn) Write(data []byte) (int, error) {
	if c.deaf.Load() {
		return len(data), nil
	}
	return c.Conn.Write(data)
}

func TestAConnectionThatDiedSilentlyIsNoticedByAPing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, func(http.ResponseWriter, *http.Request) {}, after(time.Hour, answers(nil)))
		var deaf atomic.Bool
		transport := client.Transport("", nil, nil)
		defer transport.CloseIdleConnections()
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetUnencryptedHTTP2(true)
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := s.dial(ctx, network, address)
			return deafConn{conn, &deaf}, err
		}
		call := func() error {
			q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://c3po/", nil)
			if err != nil {
				return err
			}
			answer, err := transport.RoundTrip(q)
			if err == nil {
				err = answer.Body.Close()
			}
			return err
		}
		if err := call(); err != nil {
			t.Fatal(err)
		}
		deaf.Store(true)
		began := time.Now()
		if err := call(); err == nil || time.Since(began) > 30*time.Second {
			t.Errorf("a call over a connection that died ends after %v with %v", time.Since(began), err)
		}
	})
}

// Whatever the address says, nobody is in between on the socket, and nothing is sent to a
// process that has not proved itself.
func TestTheSocketIsUsedInPlaceOfTheAddressOnceItsListenerProvedItself(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		answers(c3po.Pong{Pong: true})(w, r)
	})}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	stranger := errors.New("a stranger listens")
	for name, prove := range map[string]func(net.Conn) error{
		"nobody asked": nil,
		"proved":       func(net.Conn) error { return nil },
		"a stranger":   func(net.Conn) error { return stranger },
	} {
		before := calls.Load()
		c := client.New(client.Config{URL: "https://nas.lan:8420/", Socket: socket, Prove: prove, Patience: time.Millisecond})
		_, err := c.Ping(t.Context(), c3po.None{})
		if want := name != "a stranger"; (err == nil) != want || (calls.Load() > before) != want || !want && !errors.Is(err, stranger) {
			t.Errorf("%s: %v after %d calls", name, err, calls.Load()-before)
		}
		if c.URL() != "https://nas.lan:8420" {
			t.Errorf("people read that it is at %s", c.URL())
		}
	}
	gone := client.New(client.Config{Socket: socket + "2", Prove: func(net.Conn) error { return nil }})
	if _, err := gone.Ping(t.Context(), c3po.None{}); !errors.Is(err, c3po.CoordDown) {
		t.Errorf("without a listener: %v", err)
	}
}

func TestTheAuthorityIsFetchedFromAStrangerAndNothingElseIs(t *testing.T) {
	t.Parallel()
	authority := []byte("-----BEGIN CERTIFICATE-----\n")
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/ca":
			_, _ = w.Write(authority)
		case "/api/op/ping":
			answers(c3po.Pong{Pong: true})(w, r)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	if got, err := client.FetchAuthority(t.Context(), server.URL+"/"); err != nil || !bytes.Equal(got, authority) {
		t.Errorf("the authority is %q, %v", got, err)
	}
	if got, err := client.FetchAuthority(t.Context(), server.URL+"/elsewhere"); !errors.Is(err, c3po.Internal) {
		t.Errorf("a page that is not there: %q, %v", got, err)
	}
	if _, err := client.FetchAuthority(t.Context(), "https://a b"); err == nil {
		t.Error("an address that is none is fetched from")
	}
	if _, err := client.New(client.Config{URL: server.URL}).Ping(t.Context(), c3po.None{}); !errors.Is(err, c3po.Forbidden) || !strings.Contains(err.Error(), "not a coordinator that is trusted") {
		t.Errorf("a call to a stranger: %v", err)
	}
	trusted := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	if _, err := client.New(client.Config{URL: server.URL, TLS: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}}).Ping(t.Context(), c3po.None{}); err != nil {
		t.Errorf("a call to a coordinator that is trusted: %v", err)
	}
	address := server.URL
	server.Close()
	if _, err := client.FetchAuthority(t.Context(), address); !errors.Is(err, c3po.CoordDown) {
		t.Errorf("nobody there: %v", err)
	}
}
