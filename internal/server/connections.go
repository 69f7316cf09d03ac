package server

import (
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// complainEvery bounds how often it is logged that there are too many.
const complainEvery = 10 * time.Second

// connections counts the connections of all listeners. One too many is closed at once:
// accepted, it would cost memory; left waiting, its caller would not know why.
type connections struct {
	most int // 0 = any number
	log  *slog.Logger
	open atomic.Int64

	mu         sync.Mutex
	complained time.Time
}

// of makes a listener whose connections are counted here.
func (c *connections) of(listener net.Listener) net.Listener {
	if c.most <= 0 {
		return listener
	}
	return countedListener{listener, c}
}

type countedListener struct {
	net.Listener
	connections *connections
}

func (l countedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.connections.open.Add(1) <= int64(l.connections.most) {
			return &countedConn{Conn: conn, leave: sync.OnceFunc(func() { l.connections.open.Add(-1) })}, nil
		}
		l.connections.open.Add(-1)
		l.connections.complain(conn.RemoteAddr())
		_ = conn.Close()
	}
}

func (c *connections) complain(last net.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.complained) < complainEvery {
		return
	}
	c.complained = time.Now()
	c.log.Warn("too many connections, new ones are closed", "limit", c.most, "remote", last.String())
}

type countedConn struct {
	net.Conn
	leave func()
}

func (c *countedConn) Close() error {
	c.leave()
	return c.Conn.Close()
}
