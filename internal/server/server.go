// Package server is a running coordinator: it opens the store, puts the hub on
// it, and serves REST and MCP until it is told to stop. It is the one place
// that knows all the parts.
package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/host/liveness"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/ops/metrics"
	"github.com/c3po-dev/c3po/internal/ops/telemetry"
	"github.com/c3po-dev/c3po/internal/person/dashboard"
	"github.com/c3po-dev/c3po/internal/person/notify"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/transport/a2a"
	"github.com/c3po-dev/c3po/internal/transport/mcpserver"
	"github.com/c3po-dev/c3po/internal/transport/rest"
	"github.com/c3po-dev/c3po/web"
)

const (
	// drainTimeout is how long requests under way may take to finish when the
	// coordinator stops.
	drainTimeout = 10 * time.Second

	readHeaderTimeout = 5 * time.Second
	headerBytes       = 32 << 10
	// idleTimeout is longer than the 60 s our clients and most proxies keep a
	// connection for, so that it is rarely us who close one that is being used.
	idleTimeout = 120 * time.Second
	// pingEvery is half the time after which a dead connection is noticed.
	pingEvery = 5 * time.Second
)

// Config configures a coordinator. The zero value of every field but RedisURL
// is usable.
type Config struct {
	Listen   string    // DefaultListen, or a port after it, if empty; a port of 0 takes any free one
	RedisURL string    // as redisstore takes it
	Names    []string  // by which callers may call it, besides the address they reach
	Auth     auth.Mode // auth.Tokens if empty
	Socket   string    // unix socket for the programs of this user; none if empty
	Config   string    // folder for the credentials of this user; none are made if empty
	// Beside is where another coordinator runs whose credentials are in that folder;
	// they are kept, and must be good here too. Nowhere if empty.
	Beside string
	// TLS is one of the words TLSAuto (if empty), TLSOn and TLSOff. The certificate comes
	// from the coordinator's own authority unless files are given.
	TLS     string
	TLSCert string
	TLSKey  string
	// TrustedProxies are where a proxy before the coordinator calls from, whose
	// X-Forwarded headers count.
	TrustedProxies []netip.Prefix
	Notify         notify.Config // how the person is told of questions
	// Telemetry is where traces and metrics are sent, besides /metrics; nowhere if zero.
	Telemetry telemetry.Config
	Limits    c3po.Limits // c3po.DefaultLimits() if zero
	Version   string
	Commit    string
	// Started is when a process of this machine started, 0 if there is none: with it the
	// deaths of this machine's agents are seen. May be nil.
	Started func(pid int) int64
	// Lineage is a process of this machine and those it was started by, the nearest
	// first, and whether these are all. Without it callers are believed about that.
	Lineage func(pid int) (line []c3po.ProcessRun, whole bool)
	// Personal says that a process of this machine is a person's own, as a shell that
	// they type into is: no agent has such a run. None is if nil.
	Personal func(pid int) bool
	// Stopped says that a process of this machine is halted: an agent of it that waits
	// here hears nothing then. May be nil.
	Stopped func(pid int) bool
	// PingEvery is how long nothing is heard over a connection from another machine
	// until its other end is asked whether it is there, and how long it has to answer;
	// pingEvery if zero. It needs HTTP/2, as our clients speak where there is TLS.
	PingEvery time.Duration
	Log       *slog.Logger     // silent if nil
	Now       func() time.Time // a clock for tests; that of Redis if nil
}

// Run is a coordinator from start to end. It calls ready with the address it
// listens on, once it serves. When ctx ends it answers every wait with the word
// to call again, lets requests under way finish, and returns nil.
func Run(ctx context.Context, cfg Config, ready func(addr string)) error {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Limits == (c3po.Limits{}) {
		cfg.Limits = c3po.DefaultLimits()
	}
	// The port first: it is the quicker refusal.
	listener, err := listen(ctx, cfg.Listen, cfg.checkListen, cfg.Log)
	if err != nil {
		return err
	}
	defer listener.Close()
	open := &connections{most: cfg.Limits.Connections, log: cfg.Log}
	listener = open.of(listener)
	listeners := []net.Listener{listener}
	if cfg.Socket != "" {
		socket, err := listenSocket(ctx, cfg.Socket)
		if err != nil {
			return err
		}
		defer socket.Close()
		listeners = append(listeners, socket)
	}
	node := hub.NewNode()
	cfg.Log = slog.New(rest.Correlate(cfg.Log.Handler())).With("node", node)
	counts := metrics.New(metrics.Config{Version: cfg.Version, Commit: cfg.Commit})
	redis, err := openStore(ctx, cfg, node, counts, redisPatience)
	if err != nil {
		return err
	}
	defer redis.Close()

	watcher, here := watchProcesses(cfg), seeProcesses(cfg)
	keeper := auth.New(auth.Config{Store: redis, Mode: cfg.Auth, Log: cfg.Log, Lineage: here.lineage(), Host: here.host, Personal: cfg.Personal, CallsPerSecond: cfg.Limits.TokenCalls})
	notifier, err := notify.New(cfg.Notify)
	if err != nil {
		return err
	}
	export, err := newExport(cfg, node)
	if err != nil {
		return err
	}
	h := hub.New(hub.Config{
		Store: redis, Limits: cfg.Limits, Node: node, Version: cfg.Version, Commit: cfg.Commit, Features: c3po.Features(),
		Auth: authWord(cfg.Auth), Meter: counts, Entered: watcher.Watch, Sees: watcher.Sees, Host: watcher.Host, Declared: watcher.Declare, Watches: watcher.Watches, Stopped: cfg.Stopped, Notifier: notifier, TellsStalls: cfg.Notify.Stalls, Log: cfg.Log,
		Holders: here.holders, Proved: keeper.Prove, Notary: keeper, Acted: keeper.Acted, Ended: export.ended(),
	})
	watcher.Ended = func(ctx context.Context, run liveness.Run) error {
		if run.Name == "" {
			_, err := h.DeclaredEnded(ctx, run.Space, run.Agent, store.Declared{PID: run.PID, Start: run.Start, Seen: run.Seen})
			return err
		}
		_, err := h.ProcessEnded(ctx, run.Space, run.Agent, run.Name)
		return err
	}
	if keeper.Mode() == auth.None {
		cfg.Log.Warn("AUTHENTICATION IS OFF: whoever reaches this coordinator may act as anybody, read everything and answer as the person", "auth", auth.None)
	}
	shown, err := newFace(ctx, cfg, redis, listener.Addr().String())
	if err != nil {
		return err
	}
	twin, localhost := listenBeside(ctx, listener.Addr(), cfg.Log)
	keeper.ServeAt(shown.pages(listener.Addr(), localhost))
	if shown.tls != nil {
		listeners[0] = tls.NewListener(listener, shown.tls)
	} else if cfg.TLS == TLSOff {
		cfg.Log.Warn("TLS IS OFF: what is sent to this coordinator can be read on its way", "address", listener.Addr().String())
	}
	if twin != nil {
		defer twin.Close()
		twin = open.of(twin)
		if shown.tls != nil {
			twin = tls.NewListener(twin, shown.tls)
		}
		listeners = append(listeners, twin)
	}
	// Its files may be locked by another that starts, for longer than Redis is waited for.
	leave, err := patiently(ctx, cfg, redisPatience, func(context.Context) (func(), error) {
		return introduce(ctx, keeper, cfg, cfg.URL(listener.Addr().String()), string(shown.ca))
	})
	if err != nil {
		return err
	}
	defer leave()
	runners := []runner{h, keeper, watcher, buttonDoor{notifier, h, keeper, cfg.Log}, tidying{}}
	served := handler(cfg, h, keeper, counts, shown)
	if export.Exporter != nil {
		runners, served = append(runners, export.over(h, counts, cfg.Log)), traced(served)
		defer export.flush(ctx)
	}
	return serve(ctx, cfg, runners, h.Drain, listeners, served, func() {
		cfg.Log.Info("coordinator ready", "address", listener.Addr().String(), "version", cfg.Version)
		if ready != nil {
			ready(listener.Addr().String())
		}
	})
}

// handler is everything a coordinator serves.
func handler(cfg Config, h *hub.Hub, keeper *auth.Keeper, counts *metrics.Metrics, shown face) http.Handler {
	mcp := mcpserver.New(mcpserver.Config{
		Service:  serviceOf(h),
		Version:  cfg.Version,
		Features: c3po.Features(),
		Log:      cfg.Log,
	})
	mux := http.NewServeMux()
	mux.Handle("/mcp", rest.Watch(cfg.Log, counts.Request, admit(keeper, mcp.Handler())))
	mux.Handle("GET /metrics", rest.Watch(cfg.Log, counts.Request, rest.ForRoles(keeper, cfg.Log, numbersFor(), numbers(counts, h))))
	outside := rest.Watch(cfg.Log, counts.Request, a2a.New(a2a.Config{
		Hub: h, Auth: keeper, Version: cfg.Version, Secure: len(cfg.TrustedProxies) > 0, Log: cfg.Log,
	}))
	for _, path := range []string{strings.TrimSuffix(a2a.Prefix, "/"), a2a.Prefix, a2a.WellKnown} {
		mux.Handle(path, outside)
	}
	page := rest.Watch(cfg.Log, counts.Request, dashboard.New(web.Files()))
	mux.Handle("GET /{$}", page)
	mux.Handle("GET "+dashboard.Assets, page)
	mux.Handle("/", rest.New(rest.Config{Hub: h, Auth: keeper, Join: shown.join, Limits: cfg.Limits, Version: cfg.Version, Observe: counts.Request, Log: cfg.Log}))
	return behindProxy(cfg.TrustedProxies, cfg.TLS == TLSOff, newGate(shown.names, cfg.Version, keeper.Known, cfg.Log, mux))
}

// watchProcesses looks at the agents of this machine. Those of others are seen
// by their own host, or by their connections.
func watchProcesses(cfg Config) *liveness.Watcher {
	host, err := os.Hostname()
	if err != nil || cfg.Started == nil || cfg.Started(os.Getpid()) == 0 {
		host = "" // no run is of a host without a name, or on which processes cannot be seen
	}
	return liveness.New(liveness.Config{Host: host, Started: cfg.Started, Log: cfg.Log})
}

// authWord is what server_info says of the mode, if it is worth a word.
func authWord(mode auth.Mode) string {
	if mode == auth.None {
		return string(mode)
	}
	return ""
}

// A runner works beside the requests, until its context ends.
type runner interface{ Run(context.Context) error }

// serve runs hub and handler until ctx ends or one of them fails, then stops
// them in the order that loses nothing: waits are answered, requests finish,
// and only then the hub writes down what it still knows.
func serve(ctx context.Context, cfg Config, runners []runner, drain func(), listeners []net.Listener, handler http.Handler, ready func()) error {
	ping := cmp.Or(cfg.PingEvery, pingEvery)
	// Work outlives ctx by the time it takes to stop.
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	group, work := errgroup.WithContext(work)
	srv := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		MaxHeaderBytes:    headerBytes,
		IdleTimeout:       idleTimeout,
		// A program that is halted, or a machine that sleeps, holds its connection and
		// hears nothing.
		HTTP2: &http.HTTP2Config{SendPingTimeout: ping, PingTimeout: ping},
		// Shutdown waits for handlers but does not tell them to stop. This does.
		BaseContext: func(net.Listener) context.Context { return work },
		ConnContext: auth.WithPeer(cfg.Started),
		// Handshakes that fail, mostly: nothing to wake anybody for.
		ErrorLog: slog.NewLogLogger(cfg.Log.Handler(), slog.LevelInfo),
	}
	for _, r := range runners {
		group.Go(func() error { return r.Run(work) })
	}
	for _, listener := range listeners {
		group.Go(func() error {
			if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		})
	}
	group.Go(func() error {
		defer end()
		select {
		case <-ctx.Done():
		case <-work.Done():
		}
		drain()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		if srv.Shutdown(grace) != nil {
			cfg.Log.Warn("requests did not finish in time and are cut off", "after", drainTimeout)
			end()
			return srv.Close()
		}
		return nil
	})
	ready()
	return group.Wait()
}
