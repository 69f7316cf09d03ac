package webhook

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	defaultPatience = 10 * time.Second
	// pace is how many bytes buy a post another second.
	pace = 64 << 10
	// maxGuests and maxHeld are how many posts are read at once, and how many bytes of them
	// are held.
	maxGuests = 256
	maxHeld   = 32 << 20
)

// errSlow says that a post had to make room.
var errSlow = errors.New("it came too slowly")

// A lobby is where posts are read that have proved nothing yet. None is turned away for
// those before it: if it is full, the one that has been there longest goes. A post of a
// code host is here for a moment only, so nobody keeps it out by sitting there. Peers
// are not told apart by address: behind a proxy or a tunnel all have the same one.
type lobby struct {
	patience time.Duration
	mu       sync.Mutex
	guests   []*guest // in the order in which they came
	held     int
}

type guest struct {
	came     time.Time
	held     int
	out      bool
	deadline func(time.Time)
}

// read reads a post of at most maxBytes.
func (l *lobby) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	connection := http.NewResponseController(w)
	g := &guest{came: time.Now(), deadline: func(at time.Time) {
		_ = connection.SetReadDeadline(at) // not every writer has one; a server's has
	}}
	l.enter(g)
	defer l.leave(g)
	in := http.MaxBytesReader(w, r.Body, maxBytes)
	var body bytes.Buffer
	chunk := make([]byte, 8<<10)
	for {
		n, err := in.Read(chunk)
		body.Write(chunk[:n])
		if !l.advance(g, n) {
			return nil, errSlow
		}
		if errors.Is(err, io.EOF) {
			if !l.release(g) {
				return nil, errSlow
			}
			return body.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l *lobby) enter(g *guest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.guests = append(l.guests, g)
	g.deadline(g.came.Add(l.patience))
	l.makeRoom()
}

// advance counts what a post has brought, and reports whether it may stay.
func (l *lobby) advance(g *guest, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g.out {
		return false
	}
	g.held, l.held = g.held+n, l.held+n
	g.deadline(g.came.Add(l.patience + time.Duration(g.held)*time.Second/pace))
	l.makeRoom()
	return !g.out
}

// makeRoom sends away those who came first until the rest fit.
func (l *lobby) makeRoom() {
	for len(l.guests) > maxGuests || l.held > maxHeld {
		first := l.guests[0]
		l.remove(first)
		first.deadline(time.Unix(1, 0))
	}
}

func (l *lobby) leave(g *guest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !g.out {
		l.remove(g)
	}
}

// release lets a post go that has come whole, and reports whether it was still there. Its
// deadline ends: the server would take it for a peer that has hung up, and end the
// mailing. One that is cut off keeps it, because the server may read on.
func (l *lobby) release(g *guest) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g.out {
		return false
	}
	l.remove(g)
	g.deadline(time.Time{})
	return true
}

func (l *lobby) remove(g *guest) {
	g.out, l.held = true, l.held-g.held
	l.guests = slices.DeleteFunc(l.guests, func(other *guest) bool { return other == g })
}
