package runner

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// socketName is the relay's socket among what a container is given.
const socketName = "coordinator.sock"

// A relay lets one container reach the coordinator on this host's loopback, and
// nothing else there: it listens on a socket that only the container is given
// and hands on what comes to the coordinator's own port. It adds no rights: over
// TCP the coordinator believes the token alone.
type relay struct {
	listener net.Listener
	address  string
	trust    *tls.Config // of a coordinator that speaks TLS; nil if it does not
	slots    chan struct{}
	open     sync.WaitGroup
}

// maxRelayed connections are open at a time; more wait, so that a container
// cannot use up what this process may open.
const maxRelayed = 128

// relay starts one in a folder that a container is given. It lasts until it is
// ended: a container that is asked to end still says goodbye.
func (r *Runner) relay(ctx context.Context, folder string, user owner) (end func(), err error) {
	at := r.cfg.Coordinator.Client
	between, err := listenRelay(folder, at.URL, at.TLS)
	if err != nil {
		return nil, cannotMake(filepath.Join(folder, socketName), err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go between.serve(ctx)
	return func() {
		cancel()
		between.close()
	}, user.takeAll(filepath.Join(folder, socketName))
}

// listenRelay listens in a folder that the container is given.
func listenRelay(folder, coordinator string, trust *tls.Config) (*relay, error) {
	u, err := url.Parse(coordinator)
	if err != nil {
		return nil, err
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	r := &relay{address: net.JoinHostPort(u.Hostname(), port), slots: make(chan struct{}, maxRelayed)}
	if u.Scheme == "https" {
		if r.trust = trust.Clone(); r.trust == nil {
			r.trust = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		r.trust.ServerName = u.Hostname()
	}
	// The path may be longer than that of a socket can be: name it by its folder.
	dir, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	r.listener, err = net.Listen("unix", filepath.Join(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()), socketName))
	if err != nil {
		return nil, err
	}
	r.listener.(*net.UnixListener).SetUnlinkOnClose(false) // its folder is removed as a whole
	return r, nil
}

// serve hands on what comes until close.
func (r *relay) serve(ctx context.Context) {
	for {
		select {
		case r.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		from, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.open.Go(func() {
			defer func() { <-r.slots }()
			defer from.Close()
			to, err := r.dial(ctx)
			if err != nil {
				return // the client sees a connection that ends, and tries again
			}
			defer to.Close()
			done := make(chan struct{}, 2)
			for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
				go func() {
					_, _ = io.Copy(way[0], way[1])
					done <- struct{}{}
				}()
			}
			select { // an HTTP connection that one side has ended is over
			case <-done:
			case <-ctx.Done():
			}
		})
	}
}

func (r *relay) dial(ctx context.Context) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if r.trust != nil {
		return (&tls.Dialer{NetDialer: dialer, Config: r.trust}).DialContext(ctx, "tcp", r.address)
	}
	return dialer.DialContext(ctx, "tcp", r.address)
}

func (r *relay) close() {
	_ = r.listener.Close()
	r.open.Wait()
}
