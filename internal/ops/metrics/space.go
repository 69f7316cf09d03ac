package metrics

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
)

// Space serves the numbers of one space, to a caller who may know of no other:
// everything else adds up what happens in all of them.
func Space(h *hub.Hub, space c3po.Space) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(&spaceVitals{all: newVitals(h, space), space: space})
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

type spaceVitals struct {
	all   *vitals
	space c3po.Space
}

// Describe implements prometheus.Collector.
func (s *spaceVitals) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.all.up, s.all.pending, s.all.oldest, s.all.bytes, s.all.maxBytes} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (s *spaceVitals) Collect(to chan<- prometheus.Metric) {
	now := s.all.hub.SpaceVitals(context.Background(), s.space)
	set := func(d *prometheus.Desc, value float64) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value)
	}
	set(s.all.up, oneIf(now.StoreUp))
	if !now.StoreUp {
		return
	}
	set(s.all.pending, float64(now.Pending))
	set(s.all.bytes, float64(now.PendingBytes))
	set(s.all.maxBytes, float64(now.SpaceBytes))
	set(s.all.oldest, now.OldestUnacked.Seconds())
}
