package notify_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/person/notify"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

var asked = c3po.Notification{
	Kind: c3po.NotifyQuestion, Space: "main", MessageID: "api::human::0a1b2c3d", FromAgent: "api", AskedAt: time.Unix(1_700_000_000, 0).UTC(),
	Question: "Drop <b>it</b>?", Reason: "It is \x1b[31mfull", Choices: []string{"yes", "no"},
}

// A receiver is a web server that keeps what it was sent.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []*http.Request
	bodies []string
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{status: http.StatusOK}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got, r.bodies = append(r.got, req), append(r.bodies, string(body))
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) last(t *testing.T) (*http.Request, string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.got) == 0 {
		t.Fatal("nothing was received")
	}
	return r.got[len(r.got)-1], r.bodies[len(r.bodies)-1]
}

func open(t *testing.T, c notify.Config) *notify.Notifier {
	t.Helper()
	n, err := notify.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAWebhookIsSignedAndCarriesNoText(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	const secret = "a secret of enough characters"
	n := open(t, notify.Config{Webhook: r.URL + "/hook", Secret: secret, Allow: loopback})
	if err := n.Notify(t.Context(), notify.Webhook, asked); err != nil {
		t.Fatal(err)
	}
	req, body := r.last(t)
	var got c3po.Notification
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	want := asked
	want.Question, want.Reason, want.Choices = "", "", nil
	if diff := cmp.Diff(want, got); diff != "" || req.URL.Path != "/hook" || req.Method != http.MethodPost {
		t.Errorf("%s %s (-want +got):\n%s", req.Method, req.URL, diff)
	}
	for header, want := range map[string]string{
		"Ce-Specversion": "1.0", "Ce-Type": "dev.c3po.question", "Ce-Source": c3po.CloudSource(asked.Space), "Ce-Id": "question " + string(asked.MessageID),
	} {
		if got := req.Header.Get(header); got != want {
			t.Errorf("%s is %q, want %q", header, got, want)
		}
	}
	signature := req.Header.Get(notify.SignatureHeader)
	seconds, _, _ := strings.Cut(strings.TrimPrefix(signature, "t="), ",")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		t.Fatalf("signature %q: %v", signature, err)
	}
	if signature != notify.Sign(secret, time.Unix(at, 0), []byte(body)) {
		t.Errorf("the signature %q is not that of the body", signature)
	}
	if signature == notify.Sign(secret, time.Unix(at, 0), []byte(body+" ")) || signature == notify.Sign("another secret", time.Unix(at, 0), []byte(body)) {
		t.Error("the signature proves nothing")
	}
	if since := time.Since(time.Unix(at, 0)); since < -time.Minute || since > time.Minute {
		t.Errorf("signed %v ago", since)
	}
}

// The value was computed with `openssl dgst -sha256 -hmac`.
func TestTheSignatureIsWhatTheDocumentsSay(t *testing.T) {
	t.Parallel()
	got := notify.Sign("0123456789abcdef", time.Unix(1_700_000_000, 0), []byte(`{"kind":"test"}`))
	if want := "t=1700000000,v1=7b9c59098ba85a48d59c54f192718aa0a2c69c80f408cb702d0ad2549a517f6a"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNtfyIsToldWhoAsksAndTheTextOnlyIfAllowed(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	address := strings.Replace(r.URL, "http://", "http://me:pass@", 1) + "/topic"
	if err := open(t, notify.Config{Ntfy: address, Allow: loopback}).Notify(t.Context(), notify.Ntfy, asked); err != nil {
		t.Fatal(err)
	}
	req, body := r.last(t)
	if diff := cmp.Diff([]string{"/topic", "api asks you", "4"}, []string{req.URL.Path, req.Header.Get("Title"), req.Header.Get("Priority")}); diff != "" {
		t.Error(diff)
	}
	if body != "Answer with: c3po human answer api::human::0a1b2c3d" {
		t.Errorf("body %q", body)
	}
	if user, password, ok := req.BasicAuth(); !ok || user != "me" || password != "pass" {
		t.Errorf("login %s:%s", user, password)
	}
	late := asked
	late.Kind = c3po.NotifyOverdue
	if err := open(t, notify.Config{Ntfy: address, Allow: loopback, Bodies: true}).Notify(t.Context(), notify.Ntfy, late); err != nil {
		t.Fatal(err)
	}
	req, body = r.last(t)
	if got := req.Header.Get("Title"); got != "api still waits for your answer" {
		t.Errorf("title %q", got)
	}
	for _, part := range []string{"Drop <b>it</b>?\n", "It is ", "\n1. yes\n2. no\n", "c3po human answer api::human::0a1b2c3d"} {
		if !strings.Contains(body, part) || strings.ContainsRune(body, '\x1b') {
			t.Errorf("body %q lacks %q, or has an escape", body, part)
		}
	}
}

func TestANoticeOfManyQuestionsSaysHowMany(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	n := open(t, notify.Config{Ntfy: r.URL + "/topic", Allow: loopback, Bodies: true})
	many := asked
	many.Count, many.Question, many.Reason, many.Choices = 400, "", "", nil
	if err := n.Notify(t.Context(), notify.Ntfy, many); err != nil {
		t.Fatal(err)
	}
	req, body := r.last(t)
	if got := req.Header.Get("Title"); got != "400 questions wait for you" || body != "The first is from api. See all with: c3po human list" {
		t.Errorf("%q: %q", got, body)
	}
}

func TestWhatAReceiverRefusesIsAnErrorWithoutTheSecretsOfItsAddress(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	r.status = http.StatusForbidden
	n := open(t, notify.Config{Ntfy: strings.Replace(r.URL, "http://", "http://me:hush@", 1) + "/hidden", Allow: loopback})
	err := n.Notify(t.Context(), notify.Ntfy, asked)
	if err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("error %v", err)
	}
	r.Close()
	gone := n.Notify(t.Context(), notify.Ntfy, asked)
	if !errors.Is(gone, c3po.AgentUnavailable) {
		t.Errorf("error %v", gone)
	}
	for _, err := range []error{err, gone} {
		if strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "hidden") {
			t.Errorf("the error tells a secret: %v", err)
		}
	}
}

func TestAWebhookNeedsASecret(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "short"} {
		_, err := notify.New(notify.Config{Webhook: "https://example.com/", Secret: secret})
		if !errors.Is(err, c3po.InvalidRequest) || !strings.Contains(err.Error(), "secret") {
			t.Errorf("secret %q: %v", secret, err)
		}
	}
	if got := open(t, notify.Config{}).Channels(); len(got) != 0 {
		t.Errorf("channels of nothing: %v", got)
	}
}

// The desktop is a fake here: a recorder called notify-send on PATH, which
// writes its arguments down.
func TestTheDesktopIsToldByNotifySend(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("notify-send is how Linux shows notices")
	}
	folder := t.TempDir()
	script := "#!/bin/sh\nfor a in \"$@\"; do printf '%s\\n' \"[$a]\"; done > " + filepath.Join(folder, "seen") + "\n"
	if err := os.WriteFile(filepath.Join(folder, "notify-send"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	n := open(t, notify.Config{Desktop: true, Bodies: true})
	t.Setenv("PATH", filepath.Join(folder, "nowhere"))
	if err := n.Notify(t.Context(), notify.Desktop, asked); err == nil || !strings.Contains(err.Error(), "notify-send is not installed") {
		t.Errorf("without notify-send: %v", err)
	}
	t.Setenv("PATH", folder+":/usr/bin:/bin")
	if err := n.Notify(t.Context(), notify.Desktop, asked); err != nil {
		t.Fatal(err)
	}
	seen, err := os.ReadFile(filepath.Join(folder, "seen"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"[--app-name=c3po]\n[--]\n[api asks you]\n[Drop &lt;b&gt;it&lt;/b&gt;?\n", "c3po human answer api::human::0a1b2c3d]\n"} {
		if !strings.Contains(string(seen), part) {
			t.Errorf("notify-send was given %q, want %q in it", seen, part)
		}
	}
}
