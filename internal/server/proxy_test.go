package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/c3po-dev/c3po/internal/server"
)

func TestOnlyATrustedProxyIsBelievedWhoCalls(t *testing.T) {
	t.Parallel()
	type seen struct{ host, remote string }
	proxies := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/28")}
	for name, ask := range map[string]struct {
		from   string
		plain  bool
		header http.Header
		want   seen // nothing if it is refused
	}{
		"the proxy": {
			"192.0.2.1:5", true, http.Header{"X-Forwarded-Host": {"nas.example"}, "X-Forwarded-For": {"198.51.100.7"}},
			seen{"nas.example", "198.51.100.7:0"},
		},
		"the proxy, of a caller that makes up an origin": {
			"192.0.2.1:5", true, http.Header{"X-Forwarded-For": {"127.0.0.1, 198.51.100.7"}}, seen{"asked.example", "198.51.100.7:0"},
		},
		"a proxy before the proxy": {
			"192.0.2.1:5", true, http.Header{"X-Forwarded-For": {"198.51.100.7, 192.0.2.2"}}, seen{"asked.example", "198.51.100.7:0"},
		},
		"the proxy, with two hosts": {
			"192.0.2.1:5", true, http.Header{"X-Forwarded-Host": {"a.example, b.example"}}, seen{"asked.example", "192.0.2.1:5"},
		},
		"the proxy, saying nothing": {"192.0.2.1:5", true, nil, seen{"asked.example", "192.0.2.1:5"}},
		"somebody else, past it":    {"198.51.100.7:5", true, http.Header{"X-Forwarded-For": {"192.0.2.1"}}, seen{}},
		"somebody else, over TLS": {
			"198.51.100.7:5", false, http.Header{"X-Forwarded-Host": {"localhost"}, "X-Forwarded-For": {"127.0.0.1"}},
			seen{"asked.example", "198.51.100.7:5"},
		},
		"this machine": {"127.0.0.1:5", true, http.Header{"X-Forwarded-Host": {"evil.example"}}, seen{"asked.example", "127.0.0.1:5"}},
		"a socket":     {"@", true, nil, seen{"asked.example", "@"}},
	} {
		var got seen
		handler := server.Behind(proxies, ask.plain, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got = seen{r.Host, r.RemoteAddr}
		}))
		r := httptest.NewRequest("GET", "http://asked.example/", nil)
		r.RemoteAddr, r.Header = ask.from, ask.header
		if r.Header == nil {
			r.Header = http.Header{}
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		if got != ask.want {
			t.Errorf("%s: it looks like %+v, want %+v", name, got, ask.want)
		}
		if refused := answer.Code == http.StatusForbidden; refused != (ask.want == seen{}) {
			t.Errorf("%s: answered %d", name, answer.Code)
		}
	}
}
