package redisstore

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"

	"github.com/redis/rueidis"
)

// redialEvery keeps writers of a Redis that stays a replica from cutting each other off.
const redialEvery = time.Second

// dials knows the connections of the clients, to cut them when they lead to a server that is
// no primary any more: a client would keep them, although its address leads elsewhere now.
type dials struct {
	mu   sync.Mutex
	open map[net.Conn]struct{}
	last time.Time // when they were cut
}

// join makes a client dial through d.
func (d *dials) join(options *rueidis.ClientOption) {
	dial := options.DialCtxFn // of a socket
	options.DialCtxFn = func(ctx context.Context, address string, dialer *net.Dialer, secure *tls.Config) (conn net.Conn, err error) {
		switch {
		case dial != nil:
			conn, err = dial(ctx, address, dialer, secure)
		case secure != nil:
			conn, err = (&tls.Dialer{NetDialer: dialer, Config: secure}).DialContext(ctx, "tcp", address)
		default:
			conn, err = dialer.DialContext(ctx, "tcp", address)
		}
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.open == nil {
			d.open = map[net.Conn]struct{}{}
		}
		d.open[conn] = struct{}{}
		return dialed{conn, d}, nil
	}
}

// cut closes all connections, so that the next command dials again.
func (d *dials) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.last) < redialEvery {
		return
	}
	d.last = time.Now()
	for conn := range d.open {
		_ = conn.Close()
	}
}

type dialed struct {
	net.Conn
	of *dials
}

func (c dialed) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c.Conn)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
