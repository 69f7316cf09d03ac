package server

import (
	"net/http"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// traced takes up the trace that a caller is in, by the headers of W3C Trace Context. What is
// no such header is as good as none: tracing refuses nothing.
func traced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if parent := r.Header["Traceparent"]; len(parent) == 1 {
			if from, ok := c3po.ParseTraceContext(parent[0], strings.Join(r.Header["Tracestate"], ",")); ok {
				r = r.WithContext(c3po.WithTrace(r.Context(), from))
			}
		}
		next.ServeHTTP(w, r)
	})
}
