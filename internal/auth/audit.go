package auth

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// maxFailuresPerSecond is how many refusals are recorded a second, so that guessing
// tokens cannot fill the store.
const maxFailuresPerSecond = 5

// Record writes down what somebody will ask about later, in the log and in the
// audit of all coordinators.
func (k *Keeper) Record(ctx context.Context, e AuditEntry) {
	if k.store != nil {
		// A caller that hangs up is recorded all the same.
		written, err := k.store.Audit(context.WithoutCancel(ctx), e)
		if err != nil {
			k.log.WarnContext(ctx, "cannot write the audit", "event", e.Event, "err", err)
		} else {
			e = written
		}
	}
	// With its place in the chain the log is a witness of what the store held.
	k.log.LogAttrs(ctx, slog.LevelInfo, "audit", slog.String("event", e.Event), slog.String("kid", e.KID), slog.String("role", string(e.Role)),
		slog.String("space", e.Space), slog.String("agent", e.Agent), slog.String("remote", e.Remote), slog.String("detail", e.Detail),
		slog.Int64("n", e.N), slog.String("hash", e.Hash))
}

func (k *Keeper) noteRefusal(r *http.Request, grant Grant, err error) {
	event := EventAuthFailed
	switch {
	case errors.Is(err, c3po.Forbidden):
		event = EventForbidden
	case !errors.Is(err, c3po.Unauthorized):
		return
	}
	if !k.failures.allow(k.now(), maxFailuresPerSecond) {
		return
	}
	k.Record(r.Context(), AuditEntry{
		Event: event, KID: grant.KID, Role: grant.Role, Agent: clip(r.Header.Get(AgentHeader)), Space: clip(r.Header.Get(SpaceHeader)),
		Remote: RemoteOf(r), Detail: c3po.AsError(err).Message,
	})
}

// RemoteOf is where a request came from, without the port.
func RemoteOf(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return "local"
}

// A meter counts what happens within a second.
type meter struct {
	mu     sync.Mutex
	second time.Time
	count  int
}

func (m *meter) allow(now time.Time, most int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Sub(m.second) >= time.Second {
		m.second, m.count = now, 0
	}
	m.count++
	return m.count <= most
}
