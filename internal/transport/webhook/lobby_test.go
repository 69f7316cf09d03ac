package webhook_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/transport/webhook"
)

// idle opens connections that say they post much and send no more than a part.
func idle(t *testing.T, server *httptest.Server, n, length int, part []byte) []net.Conn {
	t.Helper()
	all := make([]net.Conn, n)
	for i := range all {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		fmt.Fprintf(conn, "POST /github HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", length)
		// The server asks for the body once it reads it: from then on the post is under way.
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.Contains(line, "100 Continue") {
			t.Fatalf("idle connection %d heard %q, %v", i, line, err)
		}
		if _, err := conn.Write(part); err != nil {
			t.Fatal(err)
		}
		all[i] = conn
	}
	return all
}

func postSigned(t *testing.T, server *httptest.Server, body []byte) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/github", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", "issue_comment")
	r.Header.Set("X-Hub-Signature-256", sign(body))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer
}

func TestIdleConnectionsKeepNoSignedPostOut(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		peers int
		part  []byte
		full  bool // so that who came first makes room
	}{
		"a byte each":             {200, []byte("{"), false},
		"more than are read":      {300, []byte("{"), true},
		"nearly all of it, often": {40, bytes.Repeat([]byte(" "), 1_999_999), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := receive(t, posted, "comments=a")
			server := httptest.NewServer(d)
			t.Cleanup(server.Close)
			conns := idle(t, server, test.peers, 2_000_000, test.part)
			if answer := postSigned(t, server, recorded(t, "github-issue-comment")); answer.StatusCode != http.StatusAccepted {
				t.Errorf("a signed post beside %d idle ones: %s", test.peers, answer.Status)
			}
			if test.full {
				wantTooSlow(t, conns[0])
			}
			for _, conn := range conns {
				_ = conn.Close()
			}
		})
	}
}

// impatient serves posts that have to come at once.
func impatient(t *testing.T, sender webhook.Sender) *httptest.Server {
	t.Helper()
	rule, err := webhook.ParseRule("comments=a")
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := webhook.New(webhook.Config{
		Secrets: map[string]string{"github": secret}, Rules: []webhook.Rule{rule}, Sender: sender,
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return posted }, Patience: 50 * time.Millisecond, Folder: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(receiver)
	t.Cleanup(server.Close)
	return server
}

func TestAPostThatComesTooSlowlyIsCutOff(t *testing.T) {
	t.Parallel()
	server := impatient(t, &mailbox{})
	for _, length := range []int{2, 100_000, 2_000_000} { // of some a server reads the rest before it answers
		wantTooSlow(t, idle(t, server, 1, length, []byte("{"))[0])
	}
}

// A slowSender takes longer than a post may take to come.
type slowSender struct{ mailbox }

func (s *slowSender) SendMessage(ctx context.Context, in c3po.SendInput) (c3po.Receipt, error) {
	if !faultrig.Pass(ctx, 300*time.Millisecond) {
		return c3po.Receipt{}, ctx.Err()
	}
	return s.mailbox.SendMessage(ctx, in)
}

func TestAPostThatHasComeMayTakeLongToMail(t *testing.T) {
	t.Parallel()
	server := impatient(t, &slowSender{})
	if answer := postSigned(t, server, recorded(t, "github-issue-comment")); answer.StatusCode != http.StatusAccepted {
		t.Errorf("it was answered with %s", answer.Status)
	}
}

// wantTooSlow wants an answer that says so, sooner than anybody is cut off for idling.
func wantTooSlow(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(8 * time.Second)); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusRequestTimeout {
		t.Errorf("it was answered with %s", answer.Status)
	}
}
