package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// runs mails what a desk has kept, until the test ends or stop is called.
func (d *desk) runs(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

func (d *desk) mailed(t *testing.T, want ...string) {
	t.Helper()
	if !faultrig.Within(10*time.Second, func() bool { return slices.Equal(d.mail.targets(), want) }) {
		t.Fatalf("mailed to %v, want %v\n%s", d.mail.targets(), want, d.log)
	}
}

func kept(t *testing.T, folder string) int {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestMorePostsThanTheCoordinatorTakesInAMinuteAreAllMailedInTheirOrder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	d := receiveIn(t, folder, posted, "comments=a")
	d.mail.most = 10
	const posts = 35
	for i := range posts {
		for range 2 { // whoever does not trust the answer posts it again
			if w := d.post(comment("a title", fmt.Sprintf("comment %02d", i)), "issue_comment"); w.Code != http.StatusAccepted {
				t.Fatalf("post %d: %d %s", i, w.Code, w.Body)
			}
		}
		if i == 9 {
			d.mail.change(func() { d.mail.sent = d.mail.sent[:10] }) // the repeats, which a coordinator knows by their keys
		}
	}
	if n := kept(t, folder); n == 0 || n > posts {
		t.Fatalf("%d messages are kept", n)
	}
	d.runs(t)
	d.mail.change(func() { d.mail.most = 20 })
	if !faultrig.Within(10*time.Second, func() bool { return len(d.mail.targets()) == 20 }) {
		t.Fatalf("%d are mailed", len(d.mail.targets()))
	}
	d.mail.change(func() { d.mail.most = 0 })
	if !faultrig.Within(10*time.Second, func() bool { return kept(t, folder) == 0 }) {
		t.Fatalf("%d are kept for ever\n%s", kept(t, folder), d.log)
	}
	var order []string
	d.mail.change(func() {
		for _, in := range d.mail.sent {
			if text := in.Message[strings.LastIndex(in.Message, "comment "):]; !slices.Contains(order, text) {
				order = append(order, text)
			}
		}
	})
	if len(order) != posts || !slices.IsSorted(order) {
		t.Errorf("the order is %v", order)
	}
}

func TestWhatIsKeptOutlivesTheReceiver(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first := receiveIn(t, folder, posted, "comments=a", "comments=role:ci")
	first.mail.away = true
	stop := first.runs(t)
	if w := first.post(recorded(t, "github-issue-comment"), "issue_comment"); w.Code != http.StatusAccepted {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	stop()
	// Of a write that was cut short, and of another program.
	for name, text := range map[string]string{".0.json-1": "{", "00000000000000000001.json": "{", "readme": "hello"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	second := receiveIn(t, folder, posted, "comments=a")
	second.runs(t)
	second.mailed(t, "a", "role:ci")
	if !faultrig.Within(10*time.Second, func() bool { return kept(t, folder) == 3 }) {
		t.Errorf("%d files are left", kept(t, folder))
	}
	if !strings.Contains(second.log.String(), "00000000000000000001.json") {
		t.Errorf("the log does not name the file that cannot be read:\n%s", second.log)
	}
}

func TestAFullInboxHoldsUpOnlyItsOwnMail(t *testing.T) {
	t.Parallel()
	d := receive(t, posted, "comments=a", "comments=b")
	d.mail.refuses = map[string]error{"a": c3po.Errorf(c3po.InboxFull, "the inbox is full")}
	d.runs(t)
	d.post(comment("a title", "one"), "issue_comment")
	d.post(comment("a title", "two"), "issue_comment")
	d.mailed(t, "b", "b")
	d.mail.change(func() { d.mail.refuses = nil })
	d.mailed(t, "b", "b", "a", "a")
	if one, two := d.mail.sent[2].Message, d.mail.sent[3].Message; !strings.HasSuffix(one, "one") || !strings.HasSuffix(two, "two") {
		t.Errorf("mailed %q before %q", one, two)
	}
}

func TestWhatIsTooOldOrRefusedForGoodIsNotKept(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first := receiveIn(t, folder, posted, "comments=a")
	first.mail.away = true
	first.post(recorded(t, "github-issue-comment"), "issue_comment")
	late := receiveIn(t, folder, posted.Add(13*time.Hour), "comments=a")
	late.runs(t)
	if !faultrig.Within(10*time.Second, func() bool { return kept(t, folder) == 0 }) || len(late.mail.targets()) != 0 || !strings.Contains(late.log.String(), "given up") {
		t.Errorf("%d kept, mailed to %v\n%s", kept(t, folder), late.mail.targets(), late.log)
	}
	first = receiveIn(t, folder, posted, "comments=a")
	first.mail.away = true
	first.post(comment("a title", "for nobody"), "issue_comment")
	first.mail.change(func() {
		first.mail.away, first.mail.refuses = false, map[string]error{"a": c3po.Errorf(c3po.AgentNotFound, "no agent is named a")}
	})
	first.runs(t)
	if !faultrig.Within(10*time.Second, func() bool { return kept(t, folder) == 0 }) || !strings.Contains(first.log.String(), "no agent is named a") {
		t.Errorf("%d kept\n%s", kept(t, folder), first.log)
	}
}

func TestAReceiverThatCannotKeepSaysSo(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	d := receiveIn(t, folder, posted, "comments=a")
	d.mail.away = true
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	w := d.post(recorded(t, "github-issue-comment"), "issue_comment")
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "60" || !strings.Contains(w.Body.String(), "again later") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	full := receive(t, posted, "comments=a")
	full.mail.away = true
	answers := map[int]int{}
	for i := range 1002 {
		answers[full.post(comment("a title", fmt.Sprint(i)), "issue_comment").Code]++
	}
	if answers[http.StatusAccepted] != 1000 || answers[http.StatusServiceUnavailable] != 2 {
		t.Errorf("the answers are %v", answers)
	}
}
