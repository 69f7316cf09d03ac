package verify

import (
	"context"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// awaitTrace looks at the trace of a probe until it shows what it must.
func (r *run) awaitTrace(ctx context.Context, probe c3po.MessageID, missing string, shows func(c3po.Trace) bool) error {
	return await(ctx, r.Service, probe, missing, shows)
}

func await(ctx context.Context, svc Service, probe c3po.MessageID, missing string, shows func(c3po.Trace) bool) error {
	for {
		trace, err := svc.Trace(ctx, c3po.MessageInput{MessageID: probe})
		switch {
		case err != nil && ctx.Err() == nil:
			return err
		case err == nil && shows(trace):
			return nil
		}
		select {
		case <-ctx.Done():
			return failuref("the trace of %s does not show that it was %s", probe, missing)
		case <-time.After(pollEvery):
		}
	}
}

// servedTo wants the probe to be recorded as served to that reader.
func (r *run) servedTo(ctx context.Context, probe c3po.MessageID, reader string) error {
	return r.awaitTrace(ctx, probe, "served", func(t c3po.Trace) bool { return isBy(t.Served, reader) })
}

// notifiedTo wants it recorded that that reader was told of the probe.
func (r *run) notifiedTo(ctx context.Context, probe c3po.MessageID, reader string) error {
	return r.awaitTrace(ctx, probe, "announced", func(t c3po.Trace) bool { return isBy(t.Notified, reader) })
}

func isBy(facts []c3po.Fact, reader string) bool {
	return slices.ContainsFunc(facts, func(f c3po.Fact) bool { return f.Session == reader })
}

// ack ends a probe, and wants that recorded too.
func (r *run) ack(ctx context.Context, probe c3po.MessageID) error {
	if _, err := r.Service.AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{probe}}); err != nil {
		return err
	}
	return r.awaitTrace(ctx, probe, "acked", func(t c3po.Trace) bool { return t.State == c3po.StateAcked })
}

// ackAll ends all mail of the probe agent, which is only probes.
func (r *run) ackAll(ctx context.Context) {
	for {
		list, err := r.Service.Peek(ctx, c3po.GetMessagesInput{})
		if err != nil || len(list.Messages) == 0 {
			return
		}
		var ids []c3po.MessageID
		for _, m := range list.Messages {
			ids = append(ids, m.ID)
		}
		if done, err := r.Service.AckMessages(ctx, c3po.AckInput{MessageIDs: ids}); err != nil || len(done.Acked) == 0 {
			return
		}
	}
}

// clean leaves no probe behind, and nobody who is online.
func (r *run) clean(ctx context.Context) {
	if r.self == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	// The sessions that were tried have said that it is theirs.
	_, _ = r.Service.RegisterAgent(ctx, r.Profile)
	for _, probe := range r.asked {
		_, _ = r.Service.Cancel(ctx, c3po.MessageInput{MessageID: probe})
	}
	r.ackAll(ctx)
	_, _ = r.Service.Unregister(ctx, c3po.None{}) // it is forgotten anyway when it stays silent
}
