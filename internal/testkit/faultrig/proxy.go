package faultrig

import (
	"bytes"
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Proxy passes bytes between callers and one target, and can hurt them on the
// way: all links at once, or one of Links.
type Proxy struct {
	addr string // where it listens

	mu       sync.Mutex
	target   string
	listener net.Listener // nil while callers are refused
	links    []*Link
	faults   faults
	drops    []drop
	point    *failpoint
	dropped  int
	closed   bool
	work     sync.WaitGroup
}

// faults are what happens to bytes; they apply from the next ones on.
type faults struct {
	delay  time.Duration // of every chunk, in either direction
	silent bool          // answers are not passed on, requests are
	hole   bool          // nothing is passed on
}

// A drop loses the answers to requests that contain its mark.
type drop struct {
	mark []byte
	once bool
}

// NewProxy starts a proxy in front of target, which is "host:port" or such a
// redis:// or http:// URL.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{addr: listener.Addr().String(), listener: listener, target: hostOf(target)}
	p.work.Go(func() { p.accept(listener) })
	t.Cleanup(p.close)
	return p
}

func hostOf(target string) string { return target[strings.LastIndex(target, "/")+1:] }

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.addr }

// Delay makes everything take so much longer, in either direction. As on a long
// way, what follows does not wait for what went before.
func (p *Proxy) Delay(by time.Duration) { p.set(func(f *faults) { f.delay = by }) }

// Silence keeps all answers back; requests still arrive and are carried out.
func (p *Proxy) Silence() { p.set(func(f *faults) { f.silent = true }) }

// BlackHole swallows everything in both directions; connections stay open.
func (p *Proxy) BlackHole() { p.set(func(f *faults) { f.hole = true }) }

// Heal ends every fault for new connections, and cuts the old ones: what was
// swallowed can never come, so they are of no use.
func (p *Proxy) Heal() {
	p.mu.Lock()
	p.faults, p.drops, p.point = faults{}, nil, nil
	p.mu.Unlock()
	p.Cut()
	p.listenAgain()
}

// Refuse ends every connection and takes no more, as the end of the target would. Heal
// ends that.
func (p *Proxy) Refuse() {
	p.refuse()
	p.Cut()
}

// Lead takes new connections to another target.
func (p *Proxy) Lead(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = hostOf(target)
}

// refuse ends the listening: whoever comes now cannot connect.
func (p *Proxy) refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
}

func (p *Proxy) listenAgain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil || p.closed {
		return
	}
	listener, err := net.Listen("tcp", p.addr)
	if err != nil {
		panic("faultrig: the proxy has lost its address: " + err.Error())
	}
	p.listener = listener
	p.work.Go(func() { p.accept(listener) })
}

// Cut ends every connection, as the end of the calling process would.
func (p *Proxy) Cut() {
	for _, link := range p.Links() {
		link.Cut()
	}
}

// Reset ends every connection at once, as a router would that has forgotten them:
// what was on its way is gone.
func (p *Proxy) Reset() {
	for _, link := range p.Links() {
		_, _ = link.caller.SetLinger(0), link.target.SetLinger(0)
		link.close()
	}
}

// Links are the connections as they stand, the oldest first.
func (p *Proxy) Links() []*Link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.links)
}

// LoseAnswer arms the proxy once: the next request that contains mark is passed
// on and carried out, but its caller sees the connection end instead of the
// answer. A repeat of the request is not touched.
func (p *Proxy) LoseAnswer(mark string) { p.lose(drop{mark: []byte(mark), once: true}) }

// LoseAnswers does so with every request that contains mark, until Heal.
func (p *Proxy) LoseAnswers(mark string) { p.lose(drop{mark: []byte(mark)}) }

func (p *Proxy) lose(d drop) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drops = append(p.drops, d)
}

// Lost counts the answers that were lost so.
func (p *Proxy) Lost() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropped
}

func (p *Proxy) set(change func(*faults)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.faults)
	for _, link := range p.links {
		change(&link.faults)
	}
}

func (p *Proxy) accept(listener net.Listener) {
	for {
		caller, err := listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		to := p.target
		p.mu.Unlock()
		target, err := net.Dial("tcp", to)
		if err != nil {
			// The caller sees what it would see without a proxy, nearly: its
			// connection ends before anything was answered.
			_ = caller.Close()
			continue
		}
		link := &Link{proxy: p, caller: caller.(*net.TCPConn), target: target.(*net.TCPConn)}
		p.mu.Lock()
		link.faults = p.faults
		p.links = append(p.links, link)
		if p.closed || p.point != nil && p.point.passed && p.point.then == Gone {
			link.close()
		}
		p.mu.Unlock()
		p.work.Go(link.requests)
		p.work.Go(link.answers)
	}
}

func (p *Proxy) close() {
	p.refuse()
	p.mu.Lock()
	p.closed = true
	for _, link := range p.links {
		link.close()
	}
	p.mu.Unlock()
	p.work.Wait()
}

// A Link is one connection through the proxy.
type Link struct {
	proxy  *Proxy
	caller *net.TCPConn
	target *net.TCPConn

	// Guarded by proxy.mu.
	faults faults
	losing bool // a marked request was passed on: no answer goes back any more
}

// Cut ends the connection for both. The link stays among Links until the target
// has closed it too, which says that the target is done with it.
func (l *Link) Cut() {
	_ = l.caller.Close()
	_ = l.target.CloseWrite()
}

func (l *Link) close() {
	_ = l.caller.Close()
	_ = l.target.Close()
}

// BlackHole swallows everything on this connection.
func (l *Link) BlackHole() {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	l.faults.hole = true
}

func (l *Link) state() (f faults, losing bool) {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	return l.faults, l.losing
}

// requests passes on what the caller sends. When the caller is done, the target
// is told so, and may still answer.
func (l *Link) requests() {
	var before []byte // the end of what came so far: a mark may be in two chunks
	l.pass(l.caller, l.target, func(chunk []byte) bool {
		before = append(before, chunk...)
		l.arm(before)
		before = bytes.Clone(before[max(0, len(before)-maxMarkBytes):])
		swallowed := l.asked(chunk)
		f, _ := l.state()
		return !f.hole && !swallowed
	})
	_ = l.target.CloseWrite()
}

// maxMarkBytes is how long a mark may be.
const maxMarkBytes = 256

// arm looks for a mark. It is found before the request is passed on, so that
// its answer cannot slip through.
func (l *Link) arm(text []byte) {
	p := l.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.drops, func(d drop) bool { return bytes.Contains(text, d.mark) })
	if at < 0 {
		return
	}
	l.losing = true
	if p.drops[at].once {
		p.drops = slices.Delete(p.drops, at, at+1)
	}
}

// answers passes back what the target sends. The first answer after a marked
// request ends the caller's connection. The target's is kept until the target
// has done all it was sent: it must not notice before.
func (l *Link) answers() {
	defer l.forget()
	ended := false
	l.pass(l.target, l.caller, func([]byte) bool {
		f, losing := l.state()
		if losing && !ended {
			ended = true
			l.proxy.mu.Lock()
			l.proxy.dropped++
			l.proxy.mu.Unlock()
			l.Cut()
		}
		return !losing && !f.silent && !f.hole && !l.answered()
	})
	// It may be the caller who has gone: the target ends in its own time.
	l.Cut()
	_, _ = io.Copy(io.Discard, l.target)
	_ = l.target.Close()
}

func (l *Link) forget() {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	l.proxy.links = slices.DeleteFunc(l.proxy.links, func(other *Link) bool { return other == l })
}

// pass copies chunk by chunk while allowed says so, until one side is closed.
func (l *Link) pass(from, to *net.TCPConn, allowed func([]byte) bool) {
	under := make(chan late, 1024)
	var writing sync.WaitGroup
	writing.Go(func() {
		for chunk := range under {
			Pass(context.Background(), time.Until(chunk.due))
			// Whoever cannot be written to any more is seen to be gone by who reads.
			_, _ = to.Write(chunk.bytes)
		}
	})
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && allowed(buffer[:n]) {
			f, _ := l.state()
			under <- late{bytes.Clone(buffer[:n]), time.Now().Add(f.delay)}
		}
		if err != nil {
			break
		}
	}
	close(under)
	writing.Wait()
}

// late is a chunk on its way, and when it arrives.
type late struct {
	bytes []byte
	due   time.Time
}
