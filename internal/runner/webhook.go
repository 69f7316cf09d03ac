package runner

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

// A webhook listens on loopback for as long as its agent is looked after, so
// that a call that comes during a run is not lost.
type webhook struct {
	called chan struct{}
	server *http.Server
}

func listenWebhook(t agentfile.Trigger) (*webhook, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(t.Port)))
	if err != nil {
		return nil, c3po.Because(err, c3po.InvalidRequest, "the port "+strconv.Itoa(t.Port)+" of a webhook is not free").
			Suggest("Give the trigger another port in agents.yaml.")
	}
	w := &webhook{called: make(chan struct{}, 1)}
	path := t.Path
	if path == "" {
		path = "/"
	}
	w.server = &http.Server{ReadTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		host, _, err := net.SplitHostPort(in.Host)
		if err != nil {
			host = in.Host
		}
		switch {
		case in.Header.Get("Origin") != "" || !loopback(host):
			// A page in a browser of this host is not of this host.
			http.Error(out, "not for web pages", http.StatusForbidden)
		case in.URL.Path != path:
			http.NotFound(out, in)
		case in.Method != http.MethodPost:
			out.Header().Set("Allow", http.MethodPost)
			http.Error(out, "POST here", http.StatusMethodNotAllowed)
		default:
			select {
			case w.called <- struct{}{}:
			default: // a call that is not yet dealt with stands for both
			}
			out.WriteHeader(http.StatusAccepted)
		}
	})}
	go func() { _ = w.server.Serve(listener) }() // ends with close
	return w, nil
}

func (w *webhook) close() { _ = w.server.Close() }

func (w *webhook) watch(ctx context.Context) (firing, bool) {
	select {
	case <-ctx.Done():
		return firing{}, false
	case <-w.called:
		return firing{why: "webhook"}, true
	}
}
