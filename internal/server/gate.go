package server

import (
	"log/slog"
	"net"
	"net/http"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/rest"
)

// gate keeps web pages out. A page on this machine's browser reaches loopback
// too: by a request across origins, or by a name of its own that it lets point
// here. The first is told by the headers browsers send, the second by the Host.
func gate(log *slog.Logger, next http.Handler) http.Handler {
	refuse := func(w http.ResponseWriter, r *http.Request, err *c3po.Error) {
		log.InfoContext(r.Context(), "request refused at the gate", "method", r.Method, "host", r.Host, "err", err.Message)
		rest.Refuse(w, err)
	}
	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, c3po.Errorf(c3po.Forbidden, "requests from other web sites are refused").
			Suggest("Call the coordinator from a program, not from a page of another origin."))
	}))
	inner := origins.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !auth.Loopback(hostOnly(r.Host)) {
			refuse(w, r, c3po.Errorf(c3po.Forbidden, "this coordinator answers only to localhost, not to the name it was called by").
				Suggest("Use http://localhost, http://127.0.0.1 or http://[::1] with its port."))
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// hostOnly is a Host header without its port.
func hostOnly(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return hostport
}
