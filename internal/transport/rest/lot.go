package rest

import (
	"context"
	"net"
	"sync"
	"time"
)

// A Lot is where waits sleep that take long. For a request under way net/http keeps its
// buffers and the stack that it has grown, half of what a wait weighs. A parked wait has left
// it with its connection. It is answered from here, and with its next request the connection
// goes back to the server: the Lot is one of its listeners.
type Lot struct {
	LotConfig
	back chan net.Conn
	shut *end // Accept ends
	gone *end // it is stopping, and nobody is here

	mu       sync.Mutex
	parked   map[*parked]struct{}
	stopping bool
}

// An end comes once.
type end struct {
	done chan struct{}
	come func()
}

func newEnd() *end {
	e := &end{done: make(chan struct{})}
	e.come = sync.OnceFunc(func() { close(e.done) })
	return e
}

// LotConfig configures a Lot.
type LotConfig struct {
	After time.Duration // a wait is parked when it has slept for so long
	Idle  time.Duration // how long a connection is kept for its next request
	Stall time.Duration // how long a caller may leave an answer unread
}

// NewLot makes an empty one.
func NewLot(cfg LotConfig) *Lot {
	return &Lot{LotConfig: cfg, back: make(chan net.Conn), shut: newEnd(), gone: newEnd(), parked: map[*parked]struct{}{}}
}

// Accept is the next connection whose wait was answered and whose caller goes on.
func (l *Lot) Accept() (net.Conn, error) {
	select {
	case conn := <-l.back:
		return conn, nil
	case <-l.shut.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (l *Lot) Close() error {
	l.shut.come()
	return nil
}

// Addr is nowhere: nobody connects to it.
func (l *Lot) Addr() net.Addr { return &net.UnixAddr{Net: "unix", Name: "parked waits"} }

// Stop is for a coordinator that stops, before it sends its waits away: nothing is parked
// any more, and every answer says that its connection closes.
func (l *Lot) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopping = true
	l.settle()
	for p := range l.parked {
		if p.answered {
			_ = p.conn.SetReadDeadline(time.Now())
		}
	}
}

// Drain comes after Stop: when it returns every wait was answered, or ctx is over and they
// were cut off.
func (l *Lot) Drain(ctx context.Context) {
	select {
	case <-l.gone.done:
		return
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.parked {
		if p.conn != nil {
			_ = p.conn.Close()
		}
	}
}

// settle is called with the lock held.
func (l *Lot) settle() {
	if l.stopping && len(l.parked) == 0 {
		l.gone.come()
	}
}

func (l *Lot) isStopping() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stopping
}

func (l *Lot) enter(p *parked) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping {
		return false
	}
	l.parked[p] = struct{}{}
	return true
}

// hold says which connection it has.
func (l *Lot) hold(p *parked, conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.conn = conn
}

func (l *Lot) leave(p *parked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.parked, p)
	l.settle()
}

// answered is called when a wait was answered. Its connection is kept for the next
// request, if it may be.
func (l *Lot) answered(p *parked, keep bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.answered, p.kept = true, keep && !l.stopping
	// What listens has nothing more to wait for than this; and nothing at all if it is known
	// that the caller goes on, or that it must not.
	until := time.Now()
	if p.kept && len(p.early) == 0 {
		until = until.Add(l.Idle)
	}
	_ = p.conn.SetReadDeadline(until)
	close(p.over)
}
