package faultrig

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// healthEvery and healthTimeout are how often a backend is asked for its health,
	// and how long it may take to answer.
	healthEvery   = 250 * time.Millisecond
	healthTimeout = time.Second
)

// A Balancer passes connections on to coordinators in turn: to those of them
// whose /readyz says so. The connections of one that stops saying so are cut.
type Balancer struct {
	listener net.Listener
	asking   *http.Client
	stop     chan struct{}
	work     sync.WaitGroup

	mu       sync.Mutex
	backends []*backend
	turn     int
	closed   bool
}

type backend struct {
	url   string
	ready bool
	links map[*net.TCPConn]*net.TCPConn // caller → coordinator
}

// NewBalancer starts a balancer on loopback before the coordinators of the URLs.
func NewBalancer(t testing.TB, urls ...string) *Balancer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &Balancer{
		listener: listener, stop: make(chan struct{}),
		asking: &http.Client{Timeout: healthTimeout, Transport: &http.Transport{DisableKeepAlives: true}},
	}
	for _, url := range urls {
		one := &backend{url: url, ready: true, links: map[*net.TCPConn]*net.TCPConn{}}
		b.backends = append(b.backends, one)
		b.work.Go(func() { b.watch(one) })
	}
	b.work.Go(b.accept)
	t.Cleanup(b.close)
	return b
}

// URL is where the balancer listens.
func (b *Balancer) URL() string { return "http://" + b.listener.Addr().String() }

// Ready is how many coordinators it has.
func (b *Balancer) Ready() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, one := range b.backends {
		if one.ready {
			n++
		}
	}
	return n
}

func (b *Balancer) accept() {
	for {
		caller, err := b.listener.Accept()
		if err != nil {
			return
		}
		b.work.Go(func() { b.pass(caller.(*net.TCPConn)) })
	}
}

// pass finds a backend for a connection, and copies until one of them is done.
func (b *Balancer) pass(caller *net.TCPConn) {
	defer caller.Close()
	for range b.backends {
		to := b.next()
		if to == nil {
			return
		}
		conn, err := net.DialTimeout("tcp", strings.TrimPrefix(to.url, "http://"), healthTimeout)
		if err != nil {
			continue // the next one may take it: nothing was sent
		}
		coordinator := conn.(*net.TCPConn)
		defer coordinator.Close()
		if !b.keep(to, caller, coordinator) {
			continue
		}
		defer b.forget(to, caller)
		var both sync.WaitGroup
		for _, way := range [][2]*net.TCPConn{{caller, coordinator}, {coordinator, caller}} {
			both.Go(func() {
				_, _ = io.Copy(way[1], way[0])
				_ = way[0].Close()
				_ = way[1].Close()
			})
		}
		both.Wait()
		return
	}
}

// next is the backend whose turn it is; nil if none is ready.
func (b *Balancer) next() *backend {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.backends {
		b.turn++
		if one := b.backends[b.turn%len(b.backends)]; one.ready {
			return one
		}
	}
	return nil
}

func (b *Balancer) keep(to *backend, caller, coordinator *net.TCPConn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || !to.ready {
		return false
	}
	to.links[caller] = coordinator
	return true
}

func (b *Balancer) forget(to *backend, caller *net.TCPConn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(to.links, caller)
}

// watch asks a backend for its health until the balancer ends.
func (b *Balancer) watch(one *backend) {
	tick := time.NewTicker(healthEvery)
	defer tick.Stop()
	for {
		ready := false
		if answer, err := b.asking.Get(one.url + "/readyz"); err == nil {
			_ = answer.Body.Close()
			ready = answer.StatusCode == http.StatusOK
		}
		b.mu.Lock()
		one.ready = ready
		if !ready {
			one.cut()
		}
		b.mu.Unlock()
		select {
		case <-b.stop:
			return
		case <-tick.C:
		}
	}
}

func (one *backend) cut() {
	for caller, coordinator := range one.links {
		_ = caller.Close()
		_ = coordinator.Close()
	}
}

func (b *Balancer) close() {
	close(b.stop)
	_ = b.listener.Close()
	b.mu.Lock()
	b.closed = true
	for _, one := range b.backends {
		one.cut()
	}
	b.mu.Unlock()
	b.work.Wait()
}
