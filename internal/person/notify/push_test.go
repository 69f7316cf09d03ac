package notify_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/person/notify"
	"github.com/c3po-dev/c3po/internal/testkit/pushtest"
)

// browsers are some of one space.
type browsers struct {
	all  []notify.Browser
	gone []string
}

func (b *browsers) Any(context.Context) (bool, error) { return len(b.all) > 0, nil }

func (b *browsers) Of(context.Context, c3po.Space) ([]notify.Browser, error) { return b.all, nil }

func (b *browsers) Gone(_ context.Context, one notify.Browser) error {
	b.gone = append(b.gone, one.ID)
	return nil
}

func pushing(t *testing.T, c notify.Config, to ...c3po.PushInput) (*notify.Notifier, *browsers) {
	t.Helper()
	key, err := notify.PushKey([]byte("a secret of all coordinators"))
	if err != nil {
		t.Fatal(err)
	}
	b := &browsers{}
	for _, in := range to {
		b.all = append(b.all, notify.Browser{ID: in.Endpoint, PushInput: in})
	}
	c.Browsers, c.PushKey = b, key
	return open(t, c), b
}

func TestOnlyTheBrowserReadsAPushedNotice(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	n, _ := pushing(t, notify.Config{Allow: loopback}, service.Subscription())
	if err := n.Notify(t.Context(), notify.Push, asked); err != nil {
		t.Fatal(err)
	}
	want := `{"title":"api asks you","body":"Drop \u003cb\u003eit\u003c/b\u003e? It is \\x1b[31mfull","id":"api::human::0a1b2c3d","space":"main"}`
	if got := service.Notices(); len(got) != 1 || got[0] != want {
		t.Errorf("the browser reads %q", got)
	}
	head, sealed := service.Last()
	for _, word := range []string{"api", "Drop", "main"} {
		if bytes.Contains(sealed, []byte(word)) {
			t.Errorf("the service reads %q", word)
		}
	}
	claims, key, err := pushtest.Proof(head.Get("Authorization"))
	if err != nil || key != n.PublicPushKey().Key || !strings.Contains(claims, `"aud":"`+service.URL+`"`) {
		t.Errorf("the proof: %s, %s, %v", claims, key, err)
	}
	if head.Get("Content-Encoding") != "aes128gcm" || head.Get("TTL") == "" {
		t.Errorf("headers: %v", head)
	}
	long := asked
	long.Question = strings.Repeat("why? ", 10_000)
	if err := n.Notify(t.Context(), notify.Push, long); err != nil {
		t.Fatal(err)
	}
	if _, other := service.Last(); len(other) != len(sealed) {
		t.Errorf("its length tells %d from %d", len(other), len(sealed))
	}
}

func TestABrowserThatItsServiceNoLongerKnowsIsForgotten(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	service.Answer(http.StatusGone)
	n, b := pushing(t, notify.Config{Allow: loopback}, service.Subscription())
	if err := n.Notify(t.Context(), notify.Push, asked); err != nil || len(b.gone) != 1 {
		t.Errorf("gone: %v, %v", b.gone, err)
	}
	service.Answer(http.StatusTooManyRequests)
	if err := n.Notify(t.Context(), notify.Push, asked); !errors.Is(err, c3po.AgentUnavailable) || len(b.gone) != 1 {
		t.Errorf("a service that is busy: %v, %v", err, b.gone)
	}
}

func TestABrowserCannotSendNoticesIntoOnesOwnNetwork(t *testing.T) {
	t.Parallel()
	service := pushtest.Start(t)
	n, _ := pushing(t, notify.Config{}, service.Subscription())
	good := service.Subscription()
	for _, endpoint := range []string{
		good.Endpoint, "https://127.0.0.1/x", "https://10.0.0.7/x", "https://[::1]/x", "https://169.254.169.254/latest", "https://0x7f000001/x",
		"http://push.example.com/x", "https://ana:secret@push.example.com/x", "file:///etc/passwd", "https://push.example.com/" + strings.Repeat("x", 3000), "",
	} {
		in := good
		in.Endpoint = endpoint
		if err := n.CheckPush(in); !errors.Is(err, c3po.InvalidRequest) {
			t.Errorf("%.60s: %v", endpoint, err)
		}
	}
	for _, in := range []c3po.PushInput{
		{Endpoint: "https://push.example.com/x", P256DH: "BAAA", Auth: good.Auth},
		{Endpoint: "https://push.example.com/x", P256DH: good.P256DH, Auth: "short"},
	} {
		if err := n.CheckPush(in); !errors.Is(err, c3po.InvalidRequest) {
			t.Errorf("keys that are none: %v", err)
		}
	}
	good.Endpoint = "https://push.example.com/x"
	if err := n.CheckPush(good); err != nil {
		t.Errorf("a push service is refused: %v", err)
	}
	// One that was stored all the same is not sent to, nor a name that leads there.
	if err := n.Notify(t.Context(), notify.Push, asked); err == nil || len(service.Notices()) != 0 {
		t.Errorf("it was sent to: %v, %v", service.Notices(), err)
	}
	named := service.Subscription()
	named.Endpoint = strings.NewReplacer("http://", "https://", "127.0.0.1", "localhost").Replace(named.Endpoint)
	n, _ = pushing(t, notify.Config{}, named)
	if err := n.Notify(t.Context(), notify.Push, asked); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("a name of this machine: %v", err)
	}
}
