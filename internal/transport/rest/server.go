// Package rest serves the hub over HTTP as JSON: the routes of the API reference, and
// POST /api/op/{name} for every operation of the table. It decides nothing; it reads
// requests, calls the hub as the request's caller, and writes answers.
package rest

import (
	_ "embed"
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/hub"
)

// Config configures the handler. The zero value of every field but Hub and Auth
// works.
type Config struct {
	Hub     *hub.Hub
	Auth    *auth.Keeper // says who makes a request
	Join    Joining      // how other hosts join; they cannot if zero
	Limits  c3po.Limits  // those of the hub; c3po.DefaultLimits() if zero
	Version string
	Observe Observer     // nobody counts if nil
	Log     *slog.Logger // silent if nil
}

type server struct {
	hub    *hub.Hub
	auth   *auth.Keeper
	join   Joining
	offers *programs
	// downloads of them that are under way
	downloads atomic.Int64
	limits    c3po.Limits
	version   string
	log       *slog.Logger
}

//go:embed openapi.yaml
var openapi []byte

// New makes the handler of everything REST.
func New(cfg Config) http.Handler {
	s := &server{hub: cfg.Hub, auth: cfg.Auth, join: cfg.Join, offers: &programs{}, limits: cfg.Limits, version: cfg.Version, log: cfg.Log}
	if s.limits == (c3po.Limits{}) {
		s.limits = c3po.DefaultLimits()
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return Watch(s.log, cfg.Observe, s.mux())
}
