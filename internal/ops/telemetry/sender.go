package telemetry

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

const (
	sendTimeout = 10 * time.Second
	idleTimeout = 2 * time.Minute
	answerBytes = 64 << 10
	// framePrefix is what gRPC puts before a message: whether it is compressed, and its length.
	framePrefix = 5
)

// A signal is one of the kinds of data that OTLP knows, with its address in both protocols.
type signal struct{ path, method string }

// The signals. What is posted is the request of the service: TracesData and MetricsData have
// the same form on the wire.
var (
	traces  = signal{"/v1/traces", "/opentelemetry.proto.collector.trace.v1.TraceService/Export"}
	metrics = signal{"/v1/metrics", "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"}
)

// A sender posts to one collector. The exporters of OpenTelemetry's own SDK would do the same
// with the whole of grpc-go behind them, for one call that takes a message and gives one back.
type sender struct {
	base    string
	grpc    bool
	headers http.Header
	http    *http.Client
}

// A sendError says what the collector did not take.
type sendError struct {
	err   error
	retry bool // the same may be taken later
}

func (e *sendError) Error() string { return e.err.Error() }

// send posts a batch. It reports how many of its items the collector refused.
func (s *sender) send(ctx context.Context, to signal, batch proto.Message) (rejected int64, err error) {
	body, err := proto.Marshal(batch)
	if err != nil {
		return 0, &sendError{err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	address, kind := s.base+to.path, "application/x-protobuf"
	if s.grpc {
		address, kind = s.base+to.method, "application/grpc+proto"
		framed := make([]byte, framePrefix, framePrefix+len(body))
		binary.BigEndian.PutUint32(framed[1:], uint32(len(body))) // #nosec G115 -- a batch is far smaller
		body = append(framed, body...)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, &sendError{err: err}
	}
	for name, values := range s.headers {
		r.Header[name] = values
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("User-Agent", "OTel-OTLP-Exporter-c3po")
	if s.grpc {
		r.Header.Set("TE", "trailers")
	}
	answer, err := s.http.Do(r)
	if err != nil {
		return 0, &sendError{err: err, retry: true}
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, answerBytes))
	if err != nil {
		return 0, &sendError{err: err, retry: true}
	}
	if answer.StatusCode != http.StatusOK {
		return 0, &sendError{err: fmt.Errorf("the collector answered %d", answer.StatusCode), retry: retryStatus(answer.StatusCode)}
	}
	if !s.grpc {
		return rejectedBy(said), nil
	}
	// Without a body the status is in the headers.
	status := answer.Trailer.Get("Grpc-Status")
	if status == "" {
		status = answer.Header.Get("Grpc-Status")
	}
	if status != "0" {
		return 0, &sendError{err: fmt.Errorf("the collector answered with gRPC status %.8q", status), retry: retryCode(status)}
	}
	return rejectedBy(said[min(len(said), framePrefix):]), nil
}

// retryStatus and retryCode are what the specification calls retryable.
func retryStatus(code int) bool {
	switch code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func retryCode(status string) bool {
	code, err := strconv.Atoi(status)
	if err != nil {
		return true // a connection that broke before the status came
	}
	switch code {
	case 1, 4, 8, 10, 11, 14, 15: // cancelled, deadline, exhausted, aborted, out of range, unavailable, data loss
		return true
	}
	return false
}

// rejectedBy reads how many items an answer says were refused: partial_success.rejected of the
// answers of both services.
func rejectedBy(answer []byte) int64 {
	partial := field(answer, 1, protowire.BytesType)
	if partial == nil {
		return 0
	}
	refused := field(partial, 1, protowire.VarintType)
	n, read := protowire.ConsumeVarint(refused)
	if read < 0 || n > 1<<32 {
		return 0
	}
	return int64(n) // #nosec G115 -- bounded above
}

// field finds a field of a message; nil if it is not there.
func field(message []byte, number protowire.Number, kind protowire.Type) []byte {
	for len(message) > 0 {
		is, of, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil
		}
		message = message[n:]
		length := protowire.ConsumeFieldValue(is, of, message)
		if length < 0 {
			return nil
		}
		if is == number && of == kind {
			if kind == protowire.BytesType {
				value, _ := protowire.ConsumeBytes(message)
				return value
			}
			return message[:length]
		}
		message = message[length:]
	}
	return nil
}
