// Package metrics counts what a coordinator does, for Prometheus. It is the
// only package that knows Prometheus: the hub, the store and the transports
// are handed a Metrics as the small interface each of them declares.
//
// Nothing is labelled with an agent, a space or a message: the number of series
// must not grow with what people do.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
)

// Config says what is running.
type Config struct {
	Version string
	Commit  string
}

// Metrics are the counters of one coordinator.
type Metrics struct {
	registry *prometheus.Registry
	started  time.Time

	accepted    *prometheus.CounterVec
	duplicate   prometheus.Counter
	rejected    *prometheus.CounterVec
	rateLimited prometheus.Counter
	delivered   *prometheus.CounterVec
	acked       prometheus.Counter
	dead        *prometheus.CounterVec
	delivery    prometheus.Histogram
	wake        prometheus.Histogram

	requests *prometheus.HistogramVec

	storeOps    *prometheus.HistogramVec
	storeErrors *prometheus.CounterVec
	warnings    *prometheus.CounterVec
	rollbacks   prometheus.Counter
	corrupt     prometheus.Counter

	exported prometheus.Counter
	dropped  *prometheus.CounterVec
}

var _ hub.Meter = (*Metrics)(nil)

const namespace = "c3po"

// storeBuckets reach from a read on the same machine to the time a step may take.
func storeBuckets() []float64 {
	return []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 2.5}
}

// requestBuckets go on to the longest wait.
func requestBuckets() []float64 {
	return []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 2.5, 10, 60, 600, 3600}
}

// mailBuckets reach from a wake on the same machine to a day, a message's life.
func mailBuckets() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .1, .25, 1, 5, 30, 60, 300, 1800, 3600, 6 * 3600, 24 * 3600}
}

// New makes a set of counters, all at nought.
func New(cfg Config) *Metrics {
	m := &Metrics{
		registry:    prometheus.NewRegistry(),
		started:     time.Now(),
		accepted:    counters("messages", "accepted_total", "Messages stored, by kind and by how safely.", "kind", "durability"),
		duplicate:   counter("messages", "duplicate_total", "Sends and replies that had been stored before, and were answered with the first."),
		rejected:    counters("messages", "rejected_total", "Sends and replies that were refused, by error code.", "reason"),
		rateLimited: counter("", "rate_limited_total", "Sends that were refused because their sender had sent too many."),
		delivered:   counters("messages", "delivered_total", "Answers that carried a message, by door.", "route", "redelivered"),
		acked:       counter("messages", "acked_total", "Messages acked, by an ack or by a reply."),
		dead:        counters("messages", "dead_total", "Messages this coordinator made dead letters, by reason.", "reason"),
		delivery:    histogram("", "delivery_latency_seconds", "From a message's acceptance to the first answer that carried it.", mailBuckets()),
		wake:        histogram("", "wake_latency_seconds", "From a message's acceptance to the wait that it ended.", mailBuckets()),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: "http", Name: "request_duration_seconds", Buckets: requestBuckets(),
			Help: "Requests, waits and streams included, by route and status.",
		}, []string{"route", "code"}),
		storeOps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: "store", Name: "op_duration_seconds", Buckets: storeBuckets(),
			Help: "Steps of the store, by name.",
		}, []string{"op"}),
		storeErrors: counters("store", "errors_total", "Steps that Redis refused or that did not reach it, by error code.", "class"),
		warnings:    counters("", "quota_warnings_total", "Receipts that said that something is nearly full, by what.", "of"),
		rollbacks:   counter("store", "rollback_total", "Times a space was found to have forgotten acknowledged writes."),
		corrupt:     counter("store", "corrupt_total", "Messages that failed their checksum."),
		exported:    counter("spans", "exported_total", "Spans that an OpenTelemetry collector has taken."),
		dropped:     counters("spans", "dropped_total", "Spans that were not exported, by why.", "why"),
	}
	// A counter that appears with its first event has no increase to alert on.
	for _, reason := range []string{c3po.ReasonExpired, c3po.ReasonCorrupt} {
		m.dead.WithLabelValues(reason)
	}
	for _, of := range []string{hub.WarnInbox, hub.WarnSender, hub.WarnSpace, hub.WarnMemory, hub.WarnBudget} {
		m.warnings.WithLabelValues(of)
	}
	for _, why := range []string{"queue_full", "refused", "gone", "stopped"} {
		m.dropped.WithLabelValues(why)
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info", Help: "Always 1; the labels say what is running.",
		ConstLabels: prometheus.Labels{"version": cfg.Version, "commit": cfg.Commit},
	})
	build.Set(1)
	m.registry.MustRegister(build, m.accepted, m.duplicate, m.rejected, m.rateLimited, m.delivered, m.acked, m.dead, m.delivery, m.wake,
		m.requests, m.storeOps, m.storeErrors, m.warnings, m.rollbacks, m.corrupt, m.exported, m.dropped,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counter(subsystem, name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help})
}

func counters(subsystem, name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}, labels)
}

func histogram(subsystem, name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help, Buckets: buckets})
}

// Handler serves the counters, and with them how the hub is at that moment.
func (m *Metrics) Handler(h *hub.Hub) http.Handler {
	m.registry.MustRegister(newVitals(h, c3po.DefaultSpace))
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Accepted implements hub.Meter.
func (m *Metrics) Accepted(kind c3po.Kind, durability c3po.Durability) {
	m.accepted.WithLabelValues(string(kind), string(durability)).Inc()
}

// Repeated implements hub.Meter.
func (m *Metrics) Repeated() { m.duplicate.Inc() }

// Rejected implements hub.Meter.
func (m *Metrics) Rejected(code c3po.Code) {
	m.rejected.WithLabelValues(string(code)).Inc()
	if code == c3po.RateLimited {
		m.rateLimited.Inc()
	}
}

// Served implements hub.Meter.
func (m *Metrics) Served(route string, redelivered bool, after time.Duration) {
	m.delivered.WithLabelValues(route, strconv.FormatBool(redelivered)).Inc()
	if !redelivered {
		m.delivery.Observe(after.Seconds())
	}
}

// Woken implements hub.Meter.
func (m *Metrics) Woken(after time.Duration) { m.wake.Observe(after.Seconds()) }

// Acked implements hub.Meter.
func (m *Metrics) Acked(messages int) { m.acked.Add(float64(messages)) }

// Buried implements hub.Meter.
func (m *Metrics) Buried(reason string) { m.dead.WithLabelValues(reason).Inc() }

// Warned implements hub.Meter.
func (m *Metrics) Warned(of string) { m.warnings.WithLabelValues(of).Inc() }

// Damaged implements hub.Meter.
func (m *Metrics) Damaged() { m.corrupt.Inc() }

// RolledBack implements hub.Meter.
func (m *Metrics) RolledBack() { m.rollbacks.Inc() }

// Request counts an answered request. The route is a pattern, never a path.
func (m *Metrics) Request(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

// StoreTook and StoreFailed are what the store reports.
func (m *Metrics) StoreTook(op string, took time.Duration) {
	m.storeOps.WithLabelValues(op).Observe(took.Seconds())
}

// StoreFailed counts a failure by its class.
func (m *Metrics) StoreFailed(code c3po.Code) { m.storeErrors.WithLabelValues(string(code)).Inc() }

// SpansExported and SpansDropped count what became of spans.
func (m *Metrics) SpansExported(spans int) { m.exported.Add(float64(spans)) }

// SpansDropped counts those that no collector has.
func (m *Metrics) SpansDropped(why string, spans int) {
	m.dropped.WithLabelValues(why).Add(float64(spans))
}
