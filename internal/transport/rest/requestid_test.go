package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// told are the lines of a log: what each says, and which changes it tells of.
func told(t *testing.T, book *bytes.Buffer) (lines []string) {
	t.Helper()
	for text := range strings.Lines(book.String()) {
		var line struct {
			Msg, Kind, Node string
			ReqID           string `json:"req_id"`
			Changed         struct{ Kind string }
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if line.ReqID == "" || line.Node != "one" {
			t.Errorf("a line of a request has no id or no node: %s", text)
		}
		lines = append(lines, strings.TrimSpace(line.Msg+" "+line.Kind+line.Changed.Kind))
	}
	return lines
}

func TestALineOfARequestTellsOfItsLastChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes []string
		want    []string
	}{
		"none": {nil, []string{"request"}},
		"one":  {[]string{"accepted"}, []string{"request accepted"}},
		"more": {[]string{"registered", "acked", "answered"}, []string{"changed registered", "changed acked", "request answered"}},
	} {
		book := &bytes.Buffer{}
		log := slog.New(Correlate(slog.NewJSONHandler(book, nil))).With("node", "one")
		ctx := withRequestID(t.Context())
		for _, kind := range c.changes {
			log.LogAttrs(ctx, slog.LevelInfo, "changed", slog.String("kind", kind))
		}
		log.InfoContext(ctx, "request")
		if diff := cmp.Diff(c.want, told(t, book)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAChangeOfACallThatWaitsIsLoggedAfterASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		book := &bytes.Buffer{}
		log := slog.New(Correlate(slog.NewJSONHandler(book, nil))).With("node", "one")
		ctx := withRequestID(t.Context())
		log.InfoContext(ctx, "changed", "kind", "accepted")
		wait, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		<-wait.Done()
		synctest.Wait()
		if diff := cmp.Diff([]string{"changed accepted"}, told(t, book)); diff != "" {
			t.Errorf("after two seconds (-want +got):\n%s", diff)
		}
		log.InfoContext(ctx, "request")
		if diff := cmp.Diff([]string{"changed accepted", "request"}, told(t, book)); diff != "" {
			t.Errorf("at the end (-want +got):\n%s", diff)
		}
	})
}
