package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store/storetest"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
	"github.com/c3po-dev/c3po/internal/transport/rest"
)

// Whatever is sent to an operation, the answer is JSON and never a fault of
// ours. Waits are cut off, which is the only way to an outcome nobody knows.
func FuzzBody(f *testing.F) {
	for i := range len(dialect.Operations()) {
		f.Add(uint8(i), `{}`)
	}
	f.Add(uint8(3), `{"target":"ann","message":"x","metadata":{"a":[[]]},"expects_reply":null}`)
	f.Add(uint8(5), `{"message_id":"a::b::00000000","response":"x"}`)
	f.Add(uint8(6), `{"timeout":3600,"after":-1,"kind":"incoming"}`)
	f.Add(uint8(7), `{"message_ids":["ann::ann::00000000",""]}`)
	handler := rest.New(rest.Config{
		Hub:  hub.New(hub.Config{Store: storetest.NewModel(c3po.DefaultLimits())}),
		Auth: auth.New(auth.Config{Mode: auth.None}),
	})
	operations := dialect.Operations()
	f.Fuzz(func(t *testing.T, op uint8, body string) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, "POST", "/api/op/"+operations[int(op)%len(operations)].Name, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Agent-ID", "ann")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("the answer is not JSON: %q", w.Body)
		}
		cutOff := w.Code == http.StatusBadGateway && ctx.Err() != nil
		if w.Code >= 500 && !cutOff {
			t.Errorf("answer %d: %s", w.Code, w.Body)
		}
	})
}
