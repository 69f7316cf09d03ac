package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

// streams answers with a stream that then ends.
func streams(text string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, text)
	}
}

const (
	resumed  = "id: %s\nevent: resume\ndata: {\"recovered\":true,\"epoch\":1,\"seq\":1}\n\n"
	reset    = "id: %s\nevent: reset\ndata: {\"recovered\":false,\"epoch\":2,\"seq\":1,\"reason\":\"epoch\"}\n\n"
	happened = "id: %s\ndata: {\"seq\":1,\"kind\":\"acked\",\"at\":\"2026-01-01T00:00:00Z\"}\n\n"
)

func TestEventsGoOnAfterARestartWhereTheyWere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		noting := func(next step) step {
			return func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.URL.Query().Get("after"))
				next(w, r)
			}
		}
		s := newScript(t,
			noting(streams(fmt.Sprintf(resumed+": a comment\n\n"+happened+"retry: 700\n\n", "1:1", "1:2"))),
			noting(streams(fmt.Sprintf(resumed+happened, "1:2", "1:3"))),
			noting(refuses(c3po.Errorf(c3po.RedisUnavailable, "away"))),
			noting(streams(fmt.Sprintf(reset+happened, "2:9", "2:10"))),
		)
		c := s.client(t, client.Config{})
		began := time.Now()
		var got []string
		var pause time.Duration
		for e, err := range c.Events(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			kind := "event"
			if e.Start != nil {
				kind = fmt.Sprint("start ", e.Start.Recovered)
			}
			got = append(got, fmt.Sprint(e.At, " ", kind))
			if e.At.Seq == 3 {
				pause = time.Since(began)
			}
			if e.At.Seq == 10 {
				break
			}
		}
		want := []string{"1:1 start true", "1:2 event", "1:3 event", "2:9 start false", "2:10 event"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if pause != 700*time.Millisecond {
			t.Errorf("it came back after %v, was told 700 ms", pause)
		}
		if diff := cmp.Diff([]string{"", "1:2", "1:3", "1:3"}, asked); diff != "" {
			t.Errorf("asked to go on after (-want +got):\n%s", diff)
		}
	})
}

func TestAStreamWithCommentsStaysOpenAndSaysWhoReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, func(w http.ResponseWriter, r *http.Request) {
			for range 10 {
				after(40*time.Second, streams(": still here\n\n"))(w, r)
				_ = http.NewResponseController(w).Flush()
			}
			fmt.Fprintf(w, happened, "1:2")
		})
		for e, err := range s.client(t, client.Config{AgentID: "api", Space: "lab"}).Events(t.Context(), nil) {
			if err != nil || e.Event == nil || e.Event.Kind != "acked" {
				t.Fatalf("it brings %+v, %v", e, err)
			}
			break
		}
		if calls := s.requests(); len(calls) != 1 || calls[0].header.Get("X-Agent-ID") != "api" || calls[0].header.Get("X-C3PO-Space") != "lab" {
			t.Errorf("it was opened by %+v", calls)
		}
	})
}

func TestAStreamIsOpenedAgainSoonUnlessTheCoordinatorSaysLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		later := fmt.Sprintf(happened+"retry: 9000\n\n", "1:2")
		s := newScript(t, streams(""), streams(""), streams(""), streams(""), streams(""), streams(later), streams(fmt.Sprintf(happened, "1:3")), streams(fmt.Sprintf(happened, "1:4")))
		s.setDown(true) // for less than a client's patience
		time.AfterFunc(2*time.Second, func() { s.setDown(false) })
		var at []time.Time
		for _, err := range s.client(t, client.Config{}).Events(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if at = append(at, time.Now()); len(at) == 3 {
				break
			}
		}
		if told, own := at[1].Sub(at[0]), at[2].Sub(at[1]); told != 9*time.Second || own > 100*time.Millisecond {
			t.Errorf("told to come back after 9 s it came after %v, and the next time after %v", told, own)
		}
	})
}

func TestAStreamThatFallsSilentIsOpenedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t,
			func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprintf(w, resumed, "1:1")
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			},
			streams(fmt.Sprintf(happened, "1:2")),
		)
		c := s.client(t, client.Config{})
		began := time.Now()
		for e, err := range c.Events(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Event != nil {
				break
			}
		}
		if took := time.Since(began); took < 45*time.Second || took > 60*time.Second {
			t.Errorf("a silent stream was given up after %v", took)
		}
	})
}

func TestEventsEndWithWhyThereAreNone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		last := func(c *client.Client, ctx context.Context) error {
			var last error
			for _, err := range c.Events(ctx, nil) {
				last = err
			}
			return last
		}
		refusing := newScript(t, refuses(c3po.Errorf(c3po.Forbidden, "no"))).client(t, client.Config{})
		if err := last(refusing, t.Context()); !errors.Is(err, c3po.Forbidden) {
			t.Errorf("a refusal ends events with %v", err)
		}
		down := newScript(t, refuses(c3po.Errorf(c3po.Forbidden, "no")))
		down.setDown(true)
		if err := last(down.client(t, client.Config{}), t.Context()); !errors.Is(err, c3po.CoordDown) {
			t.Errorf("a coordinator that is not there ends events with %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		quiet := newScript(t, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, resumed, "1:1")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}).client(t, client.Config{})
		if err := last(quiet, ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the end of the context ends events with %v", err)
		}
	})
}
