package telemetry

import (
	"cmp"
	"slices"
	"strings"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
)

// scopeName says which part of which program a span is from.
const scopeName = "github.com/c3po-dev/c3po"

func (c Config) resource() *resourcepb.Resource {
	return &resourcepb.Resource{Attributes: attributes(
		text("service.name", "c3po"), text("service.version", c.Version), text("service.instance.id", c.Node))}
}

func (c Config) scope() *commonpb.InstrumentationScope {
	return &commonpb.InstrumentationScope{Name: scopeName, Version: c.Version}
}

// spansOf is what is posted for messages that ended.
func (c Config) spansOf(spans []*tracepb.Span) *tracepb.TracesData {
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: c.resource(), ScopeSpans: []*tracepb.ScopeSpans{{Scope: c.scope(), Spans: spans}},
	}}}
}

// spanOf makes a span of a life: from its acceptance to its end, with the facts between as
// events. A question is the call of an agent in the words of the conventions for generative
// AI; all mail has those for messaging.
func spanOf(space c3po.Space, l hub.Life) *tracepb.Span {
	operation, kind := "send", tracepb.Span_SPAN_KIND_PRODUCER
	switch {
	case l.Kind == c3po.KindReply:
		operation = "reply"
	case l.ExpectsReply && l.To != c3po.Human:
		operation, kind = "invoke_agent", tracepb.Span_SPAN_KIND_CLIENT
	}
	to := cmp.Or(l.To.Queue(), l.To.Name())
	span := &tracepb.Span{
		TraceId: l.Place.Trace[:], SpanId: l.Place.Span[:], TraceState: l.Place.State, Flags: uint32(l.Place.Flags),
		Name: operation + " " + to, Kind: kind,
		StartTimeUnixNano: nanos(l.Accepted.At), EndTimeUnixNano: nanos(endOf(l)),
		Attributes: attributes(
			text("messaging.system", "c3po"), text("messaging.operation.name", operation), text("messaging.operation.type", "send"),
			text("messaging.destination.name", string(l.To)), text("messaging.message.id", string(l.ID)),
			text("messaging.message.conversation_id", l.Thread), number("messaging.message.envelope.size", int64(l.Bytes)),
			text("gen_ai.conversation.id", l.Thread),
			text("c3po.space", string(space)), text("c3po.from", string(l.From)), text("c3po.to", string(l.To)),
			text("c3po.message.kind", string(l.Kind)), text("c3po.message.state", l.State), text("c3po.message.priority", string(l.Priority)),
			number("c3po.message.deliveries", int64(l.Deliveries)),
		),
		Events: eventsOf(l),
	}
	if l.Place.From != (c3po.SpanID{}) {
		span.ParentSpanId = l.Place.From[:]
	}
	if operation == "invoke_agent" {
		span.Attributes = append(span.Attributes, attributes(
			text("gen_ai.operation.name", operation), text("gen_ai.provider.name", "c3po"),
			text("gen_ai.agent.name", to), text("gen_ai.agent.id", string(l.To)))...)
	}
	if l.Cost != nil {
		u := l.Cost.Usage
		span.Attributes = append(span.Attributes, attributes(
			number("gen_ai.usage.input_tokens", u.InputTokens+u.CacheReadTokens+u.CacheWriteTokens), number("gen_ai.usage.output_tokens", u.OutputTokens),
			number("gen_ai.usage.cache_read.input_tokens", u.CacheReadTokens), number("gen_ai.usage.cache_creation.input_tokens", u.CacheWriteTokens))...)
	}
	if link := l.Place.Link; link.Trace != (c3po.TraceID{}) && link.Span != (c3po.SpanID{}) {
		span.Links = []*tracepb.Span_Link{{TraceId: link.Trace[:], SpanId: link.Span[:]}}
	}
	if l.State == c3po.StateDead {
		span.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: l.Reason}
		span.Attributes = append(span.Attributes, attributes(text("error.type", cmp.Or(l.Reason, "_OTHER")))...)
	}
	return span
}

// endOf is when a message ended, and never before it began.
func endOf(l hub.Life) time.Time {
	if l.Ended == nil || l.Ended.At.Before(l.Accepted.At) {
		return l.Accepted.At
	}
	return l.Ended.At
}

// eventsOf are the facts in the order in which they came about.
func eventsOf(l hub.Life) []*tracepb.Span_Event {
	events := []*tracepb.Span_Event{event("accepted", l.Accepted.At, text("c3po.durability", string(l.Accepted.Durability)))}
	for _, f := range l.Notified {
		events = append(events, event("notified", f.At, text("c3po.route", f.Route)))
	}
	for _, f := range l.Started {
		events = append(events, event("started", f.At))
	}
	for _, f := range l.Served {
		events = append(events, event("served", f.At, text("c3po.route", f.Route), number("c3po.times", int64(f.Times))))
	}
	if l.Received != nil {
		events = append(events, event("received", l.Received.At, text("c3po.route", l.Received.Route)))
	}
	if l.Claimed != nil {
		events = append(events, event("claimed", l.Claimed.At, text("c3po.agent", string(l.Claimed.By))))
	}
	if l.Stalled != nil {
		events = append(events, event("stalled", l.Stalled.At))
	}
	if l.Silent != nil {
		events = append(events, event("silent", l.Silent.At))
	}
	for _, a := range l.Answered {
		events = append(events, event("answered", a.At, text("messaging.message.id", string(a.ID))))
	}
	if l.Ended != nil {
		events = append(events, event(l.State, l.Ended.At))
	}
	slices.SortStableFunc(events, func(a, b *tracepb.Span_Event) int { return cmp.Compare(a.TimeUnixNano, b.TimeUnixNano) })
	return events
}

func event(name string, at time.Time, about ...*commonpb.KeyValue) *tracepb.Span_Event {
	return &tracepb.Span_Event{Name: name, TimeUnixNano: nanos(at), Attributes: attributes(about...)}
}

func nanos(at time.Time) uint64 { return uint64(max(0, at.UnixNano())) } // #nosec G115 -- not negative

// attributes leaves out those that say nothing.
func attributes(all ...*commonpb.KeyValue) []*commonpb.KeyValue {
	return slices.DeleteFunc(all, func(a *commonpb.KeyValue) bool { return a == nil })
}

func text(key, value string) *commonpb.KeyValue {
	if value == "" {
		return nil
	}
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: strings.ToValidUTF8(value, "\uFFFD")}}}
}

func number(key string, value int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: value}}}
}
