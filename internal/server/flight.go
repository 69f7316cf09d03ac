package server

import (
	"crypto/sha256"
	"net"
	"net/http"
	"sync"
)

const (
	// maxFlightBytes is how much of unfinished bodies a coordinator holds. It is a
	// third of the memory we promise to stay below, because a buffer that grows is
	// up to twice as large as what is in it.
	maxFlightBytes = 64 << 20
	// maxCallerFlightBytes is how much of it one caller can hold: eight of the
	// largest requests, so that one that stalls leaves room for the others.
	maxCallerFlightBytes = 16 << 20
)

// flight counts the bytes of bodies that have arrived and whose rest has not. A
// caller that stalls in the middle of a body makes us keep what it has sent.
type flight struct {
	mu      sync.Mutex
	total   int64
	callers map[string]int64
}

func newFlight() *flight { return &flight{callers: map[string]int64{}} }

// take counts bytes of a caller, unless they are too many.
func (f *flight) take(caller string, bytes int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.total+bytes > maxFlightBytes || f.callers[caller]+bytes > maxCallerFlightBytes {
		return false
	}
	f.total += bytes
	f.callers[caller] += bytes
	return true
}

// give takes them out of the count.
func (f *flight) give(caller string, bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.total -= bytes
	if f.callers[caller] -= bytes; f.callers[caller] <= 0 {
		delete(f.callers, caller)
	}
}

// flightCaller tells callers apart: by the token they show, true or not, and
// without one by where they call from. The token itself is not kept.
func flightCaller(r *http.Request) string {
	if token := r.Header.Get("Authorization"); token != "" {
		sum := sha256.Sum256([]byte(token))
		return string(sum[:])
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
