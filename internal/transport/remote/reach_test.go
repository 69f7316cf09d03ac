package remote_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/remote"
)

func TestWhatCannotBeReadIsNotAddedAndThePersonHearsWhy(t *testing.T) {
	t.Parallel()
	stopped := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-stopped:
		}
	}))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(stopped) })
	silent := httptest.NewServer(http.NotFoundHandler())
	silent.Close()
	f := &remote.Forwarder{CardTimeout: 300 * time.Millisecond, Getenv: func(string) string { return "" }}
	for _, row := range []struct{ address, env, message, suggestion string }{
		{slow.URL, "", "did not come within 300ms", "whether the agent runs"},
		{slow.URL, "A2A_NOPE", "the coordinator has no variable A2A_NOPE", "Start the coordinator with A2A_NOPE"},
		{silent.URL, "", "nothing listens at its address", "the address of its card"},
		{"http://169.254.169.254/latest", "", "169.254.169.254 is a link-local address", "allow: 169.254.169.254"},
		{"http://[::ffff:169.254.1.2]", "", "169.254.1.2 is a link-local address", "allow: 169.254.1.2"},
		{"http://[fe80::1%25lo]", "", "fe80::1 is a link-local address", "allow: fe80::1"},
	} {
		_, _, err := f.Describe(t.Context(), row.address, row.env)
		refusal := c3po.AsError(err)
		if err == nil || refusal.Code != c3po.InvalidRequest || !strings.Contains(refusal.Message, row.message) || !strings.Contains(refusal.Suggestion, row.suggestion) {
			t.Errorf("%s: the answer is %+v", row.address, refusal)
		}
	}
}

func TestAnAskerReadsNoWordsOfALibrary(t *testing.T) {
	t.Parallel()
	f := newForeign(t, "1.0", func(string, int) (int, string) { return 200, "" })
	s := newSite(t)
	s.run()
	s.add(f.URL, "")
	f.Close()
	got := s.ask("order 7").Response
	if got != "c3po could not ask the remote agent 'billing': nothing listens at its address. Whether it has done anything is unknown." {
		t.Errorf("the asker hears %q", got)
	}
}
