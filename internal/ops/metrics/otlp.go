package metrics

import (
	"time"

	dto "github.com/prometheus/client_model/go"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
)

// OTLP gives what Handler serves in the form of OpenTelemetry, under the same names. Counters
// count from when the coordinator started.
func (m *Metrics) OTLP() ([]*metricspb.Metric, error) {
	families, err := m.registry.Gather()
	if err != nil {
		return nil, err
	}
	from, now := unixNano(m.started), unixNano(time.Now())
	all := make([]*metricspb.Metric, 0, len(families))
	for _, family := range families {
		one := &metricspb.Metric{Name: family.GetName(), Description: family.GetHelp()}
		switch family.GetType() {
		case dto.MetricType_COUNTER:
			one.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{
				AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, IsMonotonic: true,
				DataPoints: numbersOf(family, from, now, func(m *dto.Metric) float64 { return m.GetCounter().GetValue() }),
			}}
		case dto.MetricType_GAUGE:
			one.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{
				DataPoints: numbersOf(family, 0, now, func(m *dto.Metric) float64 { return m.GetGauge().GetValue() }),
			}}
		case dto.MetricType_HISTOGRAM:
			one.Data = &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{
				AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, DataPoints: histogramsOf(family, from, now),
			}}
		default:
			continue // summaries, which only the Go runtime has, and which nothing can add up
		}
		all = append(all, one)
	}
	return all, nil
}

func numbersOf(family *dto.MetricFamily, from, now uint64, value func(*dto.Metric) float64) []*metricspb.NumberDataPoint {
	points := make([]*metricspb.NumberDataPoint, 0, len(family.GetMetric()))
	for _, m := range family.GetMetric() {
		points = append(points, &metricspb.NumberDataPoint{
			Attributes: labelsOf(m), StartTimeUnixNano: from, TimeUnixNano: now, Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: value(m)},
		})
	}
	return points
}

// histogramsOf turns buckets that hold all below them into buckets that hold their own.
func histogramsOf(family *dto.MetricFamily, from, now uint64) []*metricspb.HistogramDataPoint {
	points := make([]*metricspb.HistogramDataPoint, 0, len(family.GetMetric()))
	for _, m := range family.GetMetric() {
		h := m.GetHistogram()
		sum, below := h.GetSampleSum(), uint64(0)
		point := &metricspb.HistogramDataPoint{Attributes: labelsOf(m), StartTimeUnixNano: from, TimeUnixNano: now, Count: h.GetSampleCount(), Sum: &sum}
		for _, bucket := range h.GetBucket() {
			point.ExplicitBounds = append(point.ExplicitBounds, bucket.GetUpperBound())
			point.BucketCounts = append(point.BucketCounts, bucket.GetCumulativeCount()-below)
			below = bucket.GetCumulativeCount()
		}
		point.BucketCounts = append(point.BucketCounts, h.GetSampleCount()-below)
		points = append(points, point)
	}
	return points
}

func labelsOf(m *dto.Metric) []*commonpb.KeyValue {
	var labels []*commonpb.KeyValue
	for _, label := range m.GetLabel() {
		labels = append(labels, &commonpb.KeyValue{Key: label.GetName(), Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: label.GetValue()}}})
	}
	return labels
}

func unixNano(at time.Time) uint64 { return uint64(max(0, at.UnixNano())) } // #nosec G115 -- not negative
