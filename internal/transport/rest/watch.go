package rest

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/c3po-dev/c3po/c3po"
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
		seen := &witness{ResponseWriter: w, log: log, observe: observe, began: time.Now()}
		r = r.WithContext(withRequestID(r.Context()))
		defer func() {
			trouble := recover()
			if trouble == http.ErrAbortHandler {
				panic(trouble)
			}
			seen.end(trouble, r)
		}()
		next.ServeHTTP(seen, r)
	})
}

// witness remembers the status that was written.
type witness struct {
	http.ResponseWriter
	log     *slog.Logger
	observe Observer
	began   time.Time
	status  int
}

// end tells of a request after its handler, and of the trouble that it got into.
func (w *witness) end(trouble any, r *http.Request) {
	if trouble != nil {
		w.log.ErrorContext(r.Context(), "panic", "method", r.Method, "route", r.Pattern,
			"panic", fmt.Sprint(trouble), "stack", string(debug.Stack()))
		if w.status == 0 {
			Refuse(w, c3po.AsError(fmt.Errorf("panic: %v", trouble)))
		}
	}
	took := time.Since(w.began)
	w.log.LogAttrs(r.Context(), slog.LevelInfo, "request", slog.String("method", r.Method), slog.String("route", r.Pattern),
		slog.Int("status", w.statusSent()), slog.String("duration", took.String()), slog.String("agent", first(w.Header()[actedAsKey])))
	if w.observe != nil {
		w.observe(r.Pattern, w.statusSent(), took)
	}
}

// first is the one value of a header, or none.
func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
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
