package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/hub"
)

const (
	// maxWaiting is how many ended messages wait for a collector that is away. An id takes
	// about a hundred bytes.
	maxWaiting = 16 << 10
	// batchSpans is how many spans one request carries at the most.
	batchSpans = 512
	// lookEvery gathers what ended meanwhile.
	lookEvery = time.Second
	// settleFor is how old an end is before its message is read: that it was served is
	// written down up to two seconds late.
	settleFor = 3 * time.Second
	// metricsEvery is how often the numbers are sent, the specification's default.
	metricsEvery = time.Minute
	minPause     = time.Second
	maxPause     = 30 * time.Second
	// finishFor is how long a request may go on that is under way when the coordinator stops.
	finishFor = time.Second
	// sayEvery is how often it is said that spans are lost.
	sayEvery = time.Minute
)

// Why a span was not exported.
const (
	DroppedFull    = "queue_full" // the collector is away or slow, and too many wait
	DroppedRefused = "refused"    // the collector does not want it
	DroppedGone    = "gone"       // its message is not kept any more, or cannot be read
	DroppedStopped = "stopped"    // the coordinator ended first
)

// A Source is where what is exported comes from.
type Source struct {
	// Lives gives the lives of messages, as hub.Lives does.
	Lives func(ctx context.Context, space c3po.Space, ids []c3po.MessageID) ([]hub.Life, error)
	// Metrics gives the numbers as they are; none if nil.
	Metrics func() ([]*metricspb.Metric, error)
	// Exported and Dropped count spans; both may be nil.
	Exported func(spans int)
	Dropped  func(why string, spans int)
	Log      *slog.Logger
	// Settle is settleFor if zero, and MetricsEvery metricsEvery.
	Settle, MetricsEvery time.Duration
}

// An Exporter sends the spans of what ended on this coordinator. It needs Run beside it.
type Exporter struct {
	cfg  Config
	send *sender
	from Source

	mu      sync.Mutex
	waiting []ended
	dropped map[string]int // since it was last said
}

// ended is a message whose span is due.
type ended struct {
	space c3po.Space
	how   c3po.EventKind
	id    c3po.MessageID
	at    time.Time
}

// New makes an exporter; nil if the config turns it off.
func New(cfg Config) (*Exporter, error) {
	send, err := newSender(cfg)
	if err != nil || send == nil {
		return nil, err
	}
	return &Exporter{cfg: cfg, send: send, dropped: map[string]int{}}, nil
}

// Read says where the exporter reads. It is called once, before Run.
func (e *Exporter) Read(from Source) {
	if from.Exported == nil {
		from.Exported = func(int) {}
	}
	if from.Dropped == nil {
		from.Dropped = func(string, int) {}
	}
	if from.Settle == 0 {
		from.Settle = settleFor
	}
	if from.MetricsEvery == 0 {
		from.MetricsEvery = metricsEvery
	}
	e.from = from
}

// Ended has the span of a message exported. It never waits: while too many are due, the
// newest are dropped, and counted.
func (e *Exporter) Ended(space c3po.Space, how c3po.EventKind, id c3po.MessageID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.waiting) >= maxWaiting {
		e.dropped[DroppedFull]++
		return
	}
	e.waiting = append(e.waiting, ended{space, how, id, time.Now()})
}

// Run exports until ctx ends. Flush sends what is left then.
func (e *Exporter) Run(ctx context.Context) error {
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { e.runMetrics(ctx) })
	work.Go(func() {
		for attempt.Sleep(ctx, sayEvery) {
			e.sayDropped(ctx)
		}
	})
	for attempt.Sleep(ctx, lookEvery) {
		for ctx.Err() == nil && e.exportDue(ctx, time.Now().Add(-e.from.Settle)) {
		}
	}
	return nil
}

// Flush sends what is due when the coordinator stops, and what it counted until then. What
// the collector does not take now is lost.
func (e *Exporter) Flush(ctx context.Context) {
	for {
		left, more := e.tryDue(ctx, time.Now(), func(int) bool { return false })
		if e.drop(DroppedStopped, len(left)); !more {
			break
		}
	}
	if err := e.sendMetrics(ctx); err != nil {
		e.from.Log.WarnContext(ctx, "the last metrics were not exported", "err", err)
	}
	e.sayDropped(ctx)
}

// exportDue exports a batch, and tries again while the collector may take it later. It says
// whether there may be more. If the coordinator stops, the batch is left to Flush.
func (e *Exporter) exportDue(ctx context.Context, until time.Time) bool {
	pause := minPause
	left, more := e.tryDue(ctx, until, func(tries int) bool {
		if tries == 1 {
			e.from.Log.WarnContext(ctx, "the OpenTelemetry collector takes no spans; they wait", "endpoint", e.send.base)
		}
		slept := attempt.Sleep(ctx, pause)
		pause = min(2*pause, maxPause)
		return slept
	})
	if len(left) > 0 {
		e.mu.Lock()
		e.waiting = append(left, e.waiting...)
		e.mu.Unlock()
	}
	return more
}

// tryDue takes a batch of what is due and sends it, again as long as the caller says so. It
// gives back what the collector did not take until then.
func (e *Exporter) tryDue(ctx context.Context, until time.Time, again func(tries int) bool) (left []ended, more bool) {
	batch := e.take(until)
	if len(batch) == 0 {
		return nil, false
	}
	for tries := 1; ; tries++ {
		// Read anew for each try: nothing but ids is kept while the collector is away.
		spans, lost, err := e.spans(ctx, batch)
		if err == nil {
			err = e.sendSpans(ctx, spans)
		}
		if err == nil {
			e.drop(DroppedGone, lost)
			return nil, true
		}
		refused, isAnswer := errors.AsType[*sendError](err)
		if isAnswer && !refused.retry {
			e.from.Log.WarnContext(ctx, "the OpenTelemetry collector refuses spans", "endpoint", e.send.base, "err", err)
			e.drop(DroppedRefused, len(spans))
			return nil, true
		}
		if !again(tries) {
			return batch, true
		}
	}
}

func (e *Exporter) sendSpans(ctx context.Context, spans []*tracepb.Span) error {
	if len(spans) == 0 {
		return nil
	}
	// Cut off, a request may have been taken or not. It ends soon after ctx instead.
	whole, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(finishFor, cut) })()
	rejected, err := e.send.send(whole, traces, e.cfg.spansOf(spans))
	if err != nil {
		return err
	}
	taken := max(0, len(spans)-int(rejected))
	e.from.Exported(taken)
	e.drop(DroppedRefused, len(spans)-taken)
	return nil
}

// take removes the batch that is due first.
func (e *Exporter) take(until time.Time) []ended {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for n < len(e.waiting) && n < batchSpans && !e.waiting[n].at.After(until) {
		n++
	}
	batch := e.waiting[:n:n]
	if e.waiting = e.waiting[n:]; len(e.waiting) == 0 {
		e.waiting = nil // or its memory would stay
	}
	return batch
}

// spans reads what is due, and says of how many nothing is kept. A message that has ended in
// another way since, because it came back, is exported with that end.
func (e *Exporter) spans(ctx context.Context, batch []ended) (spans []*tracepb.Span, lost int, err error) {
	ids, how := map[c3po.Space][]c3po.MessageID{}, map[c3po.Space]map[c3po.MessageID]c3po.EventKind{}
	for _, one := range batch {
		if how[one.space] == nil {
			how[one.space] = map[c3po.MessageID]c3po.EventKind{}
		}
		if how[one.space][one.id] == "" {
			ids[one.space] = append(ids[one.space], one.id)
		}
		how[one.space][one.id] = one.how
	}
	for space, wanted := range ids {
		lives, err := e.from.Lives(ctx, space, wanted)
		if err != nil {
			return nil, 0, err
		}
		lost += len(wanted) - len(lives)
		for _, life := range lives {
			said := how[space][life.ID]
			if said == "" {
				said = c3po.EventKind(life.State) // asked for under a former name
			}
			if life.State != string(said) || life.From == c3po.System || !life.Place.Sampled() {
				continue
			}
			spans = append(spans, spanOf(space, life))
		}
	}
	return spans, lost, nil
}

func (e *Exporter) drop(why string, spans int) {
	if spans <= 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropped[why] += spans
}

// sayDropped counts and logs what was lost since it did last.
func (e *Exporter) sayDropped(ctx context.Context) {
	e.mu.Lock()
	lost := e.dropped
	e.dropped = map[string]int{}
	e.mu.Unlock()
	for why, spans := range lost {
		e.from.Dropped(why, spans)
		e.from.Log.WarnContext(ctx, "spans were not exported", "why", why, "spans", spans, "endpoint", e.send.base)
	}
}

// runMetrics sends the numbers again and again. One that is lost is made good by the next:
// they count from the start.
func (e *Exporter) runMetrics(ctx context.Context) {
	failing := false
	for attempt.Sleep(ctx, e.from.MetricsEvery) {
		err := e.sendMetrics(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			e.from.Log.WarnContext(ctx, "the OpenTelemetry collector takes no metrics", "endpoint", e.send.base, "err", err)
		}
		failing = err != nil
	}
}

func (e *Exporter) sendMetrics(ctx context.Context) error {
	if e.from.Metrics == nil {
		return nil
	}
	e.sayDropped(ctx)
	all, err := e.from.Metrics()
	if err != nil {
		return err
	}
	_, err = e.send.send(ctx, metrics, &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{{
		Resource: e.cfg.resource(), ScopeMetrics: []*metricspb.ScopeMetrics{{Scope: e.cfg.scope(), Metrics: all}},
	}}})
	return err
}
