package server

import "sync"

const (
	// maxFlightBytes is how much of unfinished bodies a coordinator holds. It is a
	// third of the memory we promise to stay below, because a buffer that grows is
	// up to twice as large as what is in it.
	maxFlightBytes = 64 << 20
	// maxCallerFlightBytes is how much of it one caller can hold: eight of the
	// largest requests, so that one that stalls leaves room for the others.
	maxCallerFlightBytes = 16 << 20
	// maxStrangerFlightBytes is how much of it all who show no token that was let in
	// before can hold together, from however many addresses. The rest is for those we
	// know.
	maxStrangerFlightBytes = 32 << 20
)

// strangers are one caller more, for the sum of all that are not known. No account
// and no address is called so.
const strangers = "\x00strangers"

// flight counts the bytes of bodies that have arrived and whose rest has not. A
// caller that stalls in the middle of a body makes us keep what it has sent.
type flight struct {
	mu      sync.Mutex
	total   int64
	callers map[string]int64
}

func newFlight() *flight { return &flight{callers: map[string]int64{}} }

// A flier is who a body is from: an account, or the address of a stranger.
type flier struct {
	name     string
	stranger bool
}

// take counts bytes of a caller, unless they are too many.
func (f *flight) take(by flier, bytes int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.total+bytes > maxFlightBytes || f.callers[by.name]+bytes > maxCallerFlightBytes ||
		by.stranger && f.callers[strangers]+bytes > maxStrangerFlightBytes {
		return false
	}
	f.add(by, bytes)
	return true
}

// give takes them out of the count.
func (f *flight) give(by flier, bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(by, -bytes)
}

func (f *flight) add(by flier, bytes int64) {
	f.total += bytes
	names := []string{by.name}
	if by.stranger {
		names = append(names, strangers)
	}
	for _, name := range names {
		if f.callers[name] += bytes; f.callers[name] <= 0 {
			delete(f.callers, name)
		}
	}
}
