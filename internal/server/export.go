package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/ops/metrics"
	"github.com/c3po-dev/c3po/internal/ops/telemetry"
)

// flushTimeout is how long a coordinator that stops waits for the collector.
const flushTimeout = 3 * time.Second

// An export is the way to an OpenTelemetry collector, or nothing.
type export struct{ *telemetry.Exporter }

func newExport(cfg Config, node string) (export, error) {
	cfg.Telemetry.Version, cfg.Telemetry.Node = cfg.Version, node
	exporter, err := telemetry.New(cfg.Telemetry)
	return export{exporter}, err
}

// ended is what the hub calls; nil without an exporter, and then the hub traces nothing.
func (e export) ended() func(c3po.Space, c3po.EventKind, c3po.MessageID) {
	if e.Exporter == nil {
		return nil
	}
	return e.Exporter.Ended
}

// over has the exporter read a hub and its counters.
func (e export) over(h *hub.Hub, counts *metrics.Metrics, log *slog.Logger) runner {
	e.Read(telemetry.Source{Lives: h.Lives, Metrics: counts.OTLP, Exported: counts.SpansExported, Dropped: counts.SpansDropped, Log: log})
	return e
}

// flush sends the rest, once the hub has written down what it knew.
func (e export) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	e.Flush(ctx)
}
