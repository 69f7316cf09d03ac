package rest

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/c3po-dev/c3po"
)

// An Observer is told of each request that was answered: the pattern it
// matched, the status, and how long it took.
type Observer func(route string, status int, took time.Duration)

// Watch logs one line for each request next has answered, never what is in it,
// and turns a panic into an INTERNAL error, so that one bad request does not
// end the others. It gives the request an id, which Correlate adds to all that
// is logged on its behalf. Observe may be nil.
func Watch(log *slog.Logger, observe Observer, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		r = r.WithContext(withRequestID(r.Context()))
		seen := &witness{ResponseWriter: w}
		defer func() {
			trouble := recover()
			switch {
			case trouble == http.ErrAbortHandler:
				panic(trouble)
			case trouble != nil:
				log.ErrorContext(r.Context(), "panic", "method", r.Method, "route", r.Pattern,
					"panic", fmt.Sprint(trouble), "stack", string(debug.Stack()))
				if seen.status == 0 {
					Refuse(seen, c3po.AsError(fmt.Errorf("panic: %v", trouble)))
				}
			}
			took := time.Since(began)
			log.LogAttrs(r.Context(), slog.LevelInfo, "request", slog.String("method", r.Method), slog.String("route", r.Pattern),
				slog.Int("status", seen.statusSent()), slog.Duration("duration", took), slog.String("agent", seen.Header().Get(actedAsKey)))
			if observe != nil {
				observe(r.Pattern, seen.statusSent(), took)
			}
		}()
		next.ServeHTTP(seen, r)
	})
}

// witness remembers the status that was written.
type witness struct {
	http.ResponseWriter
	status int
}

func (w *witness) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *witness) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(data)
}

// statusSent is the status the caller has seen: 200 if the handler wrote nothing.
func (w *witness) statusSent() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}

// Unwrap lets http.ResponseController reach what is underneath, to flush.
func (w *witness) Unwrap() http.ResponseWriter { return w.ResponseWriter }
