package remote_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/transport/a2a"
)

// A remote that leads back here would ask itself for ever. What stops it is the same text,
// and where the text changes on its way the chain.
func TestARemoteThatLeadsBackHereSpendsOneBudget(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		changes bool // the text, on its way
		says    string
		most    int64
	}{
		"the same text":    {false, "the same text was sent there 2 times", 3},
		"a text that goes": {true, "this conversation has used its 6 messages an hour", 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := c3po.DefaultLimits()
			limits.SendsPerMinute, limits.ChainMessages, limits.PairMessages = 0, 6, 20
			store, err := redisstore.Open(t.Context(), redisstore.Config{URL: redistest.New(t).URL(), Limits: limits})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(store.Close)
			s := site{t: t, store: store}.next("one")
			here := a2a.New(a2a.Config{Hub: s.hub, Auth: auth.New(auth.Config{Mode: auth.None})})
			var sent atomic.Int64
			refused := make(chan string, 100)
			door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if sends := bytes.Contains(body, []byte(`"SendMessage"`)); sends {
					n := sent.Add(1)
					if test.changes {
						body = bytes.ReplaceAll(body, []byte("Which invoice?"), fmt.Appendf(nil, "Which invoice? %d", n))
					}
				}
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
				answer := httptest.NewRecorder()
				here.ServeHTTP(answer, r)
				if strings.Contains(answer.Body.String(), "BUDGET_SPENT") {
					refused <- answer.Body.String()
				}
				w.WriteHeader(answer.Code)
				_, _ = w.Write(answer.Body.Bytes())
			}))
			t.Cleanup(door.Close)
			s.run()
			if _, err := s.tryAdd(door.URL+"/a2a/billing", "billing", ""); err != nil {
				t.Fatal(err)
			}
			s.send("Which invoice?")
			select {
			case words := <-refused:
				if n := sent.Load(); n > test.most || !strings.Contains(words, test.says) {
					t.Errorf("after %d messages it heard %s", n, words)
				}
			case <-time.After(30 * time.Second):
				t.Errorf("nothing has stopped it after %d messages", sent.Load())
			}
		})
	}
}
