package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
)

// vitals asks the hub when it is scraped; the hub asks its store only now and
// then, so scraping often costs nothing.
type vitals struct {
	hub *hub.Hub

	draining, waiters, watchers, up, fsync, pending, oldest *prometheus.Desc
	bytes, maxBytes, memory, maxMemory                      *prometheus.Desc
}

func newVitals(h *hub.Hub, space c3po.Space) *vitals {
	gauge := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
	}
	return &vitals{
		hub:       h,
		draining:  gauge("draining", "1 while the coordinator is being stopped."),
		waiters:   gauge("waiters", "Waits that sleep here."),
		watchers:  gauge("sse_clients", "Streams of events that are open here."),
		up:        gauge("store_up", "1 if Redis answered within two seconds."),
		fsync:     gauge("store_fsync_mode", "1 for what an accepted message is worth now: fsync or memory.", "mode"),
		pending:   gauge("messages_pending", "Unacked messages of space "+string(space)+"."),
		bytes:     gauge("space_bytes", "Bytes of the unacked messages of space "+string(space)+"."),
		maxBytes:  gauge("space_bytes_limit", "The most a space may hold of them; 0 if there is no limit."),
		memory:    gauge("store_memory_bytes", "Memory Redis uses; of a cluster, the fullest node."),
		maxMemory: gauge("store_memory_limit_bytes", "Memory Redis may use (maxmemory); 0 if there is no limit."),
		oldest:    gauge("oldest_unacked_seconds", "Age of the oldest unacked message of space "+string(space)+", to the minute; 0 without one. Mail of human is left out."),
	}
}

// Describe implements prometheus.Collector.
func (v *vitals) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{v.draining, v.waiters, v.watchers, v.up, v.fsync, v.pending, v.oldest, v.bytes, v.maxBytes, v.memory, v.maxMemory} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (v *vitals) Collect(to chan<- prometheus.Metric) {
	// The interface knows no context; the hub bounds what it asks.
	now := v.hub.Vitals(context.Background())
	set := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	set(v.draining, oneIf(now.Draining))
	set(v.waiters, float64(now.Waiters))
	set(v.watchers, float64(now.Watchers))
	set(v.up, oneIf(now.StoreUp))
	if !now.StoreUp {
		return
	}
	for _, mode := range []c3po.Durability{c3po.OnDisk, c3po.InMemory} {
		set(v.fsync, oneIf(mode == now.Durability), string(mode))
	}
	set(v.pending, float64(now.Pending))
	set(v.bytes, float64(now.PendingBytes))
	set(v.maxBytes, float64(now.SpaceBytes))
	set(v.memory, float64(now.Memory.Used))
	set(v.maxMemory, float64(now.Memory.Max))
	set(v.oldest, now.OldestUnacked.Seconds())
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
