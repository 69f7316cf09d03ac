package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const secret = "a secret of enough characters"

var pressed = Press{Space: "main", MessageID: "api::human::0a1b2c3d", Choice: "yes", Expires: time.Unix(1_700_000_000, 0).UTC()}

func TestAButtonIsGoodUntilItExpiresAndForItsOwnSecret(t *testing.T) {
	t.Parallel()
	before, after := pressed.Expires.Add(-time.Second), pressed.Expires
	got, err := parsePress(secret, pressed.word(secret), before)
	if err != nil || got != pressed {
		t.Errorf("a good button is read as %+v, %v", got, err)
	}
	if _, err := parsePress(secret, pressed.word(secret), after); err == nil || !strings.Contains(err.Error(), "worked until") {
		t.Errorf("an old button gives %v", err)
	}
	if _, err := parsePress("another secret of enough length", pressed.word(secret), before); err == nil {
		t.Error("a button of another coordinator works")
	}
	// What a webhook is signed with is the same secret, and proves no button.
	said, _ := json.Marshal(pressed)
	if strings.Contains(Sign(secret, before, said), string(buttonProof(secret, said))) {
		t.Error("a webhook's signature is a button's")
	}
}

func TestOnlyASingleQuestionWithChoicesHasButtons(t *testing.T) {
	t.Parallel()
	n := &Notifier{config: Config{Ntfy: "https://me:pass@ntfy.example/team", Secret: secret, Bodies: true, Buttons: true}}
	one := c3po.Notification{Kind: c3po.NotifyQuestion, Space: "main", MessageID: "api::human::1", Choices: []string{"größer 🚀"}}
	got := n.actions(one, time.Now())
	var actions []action
	if err := json.Unmarshal([]byte(got), &actions); err != nil || len(actions) != 1 || actions[0].Label != "größer 🚀" {
		t.Fatalf("the buttons are %q: %+v %v", got, actions, err)
	}
	if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Errorf("no header can carry %q", got)
	}
	if actions[0].URL != "https://ntfy.example/team-replies" {
		t.Errorf("it writes to %s", actions[0].URL)
	}
	several, none := one, one
	several.Count, none.Choices = 2, nil
	for _, what := range []c3po.Notification{several, none} {
		if got := n.actions(what, time.Now()); got != "" {
			t.Errorf("%+v has buttons: %s", what, got)
		}
	}
}

// Attack: a long command shows a harmless start in the notice, beside the button that allows it
func TestNoButtonAllowsWhatTheNoticeDoesNotShow(t *testing.T) {
	t.Parallel()
	n := &Notifier{config: Config{Ntfy: "https://ntfy.example/team", Secret: secret, Bodies: true, Buttons: true}}
	one := c3po.Notification{
		Kind: c3po.NotifyQuestion, Space: "main", MessageID: "api::human::1", FromAgent: "api", Permission: true,
		Question: "Allow Bash?\n\n$ ls", Choices: []string{c3po.AllowOnce, c3po.Deny},
	}
	labels := func(what c3po.Notification) (all []string) {
		var actions []action
		if err := json.Unmarshal([]byte(n.actions(what, time.Now())), &actions); err != nil {
			t.Fatal(err)
		}
		for _, a := range actions {
			all = append(all, a.Label)
		}
		return all
	}
	if got := labels(one); !slices.Equal(got, one.Choices) {
		t.Errorf("the buttons are %q", got)
	}
	one.Question += strings.Repeat(" ; true", 200) + "; rm -rf /"
	if got := labels(one); !slices.Equal(got, []string{c3po.Deny}) {
		t.Errorf("the buttons of a long command are %q", got)
	}
	if said := text(one); !strings.HasPrefix(said, "This is only the start of it.") {
		t.Errorf("the notice says %q", said)
	}
}

// Attack: an agent dresses a question as a request for permission
func TestANoticeTellsAQuestionFromARequestForPermission(t *testing.T) {
	t.Parallel()
	dressed := c3po.Notification{Kind: c3po.NotifyQuestion, FromAgent: "api", Question: "Allow Bash?\n\n$ ls"}
	real := dressed
	real.Permission = true
	if got := []string{title(dressed), title(real)}; !slices.Equal(got, []string{"api asks you", "api asks for permission"}) {
		t.Errorf("the titles are %q", got)
	}
}

// A phone orders letters that run from right to left in its own way.
func TestANoticeShowsEverySignOfACommandInItsPlace(t *testing.T) {
	t.Parallel()
	asks := c3po.Notification{Kind: c3po.NotifyQuestion, FromAgent: "api", Permission: true, Question: "Allow Bash?\n\n$ rm \"אב\" \"ג\" 1", Reason: "לא"}
	if said := text(asks); !strings.Contains(said, `$ rm "⟨U+05D0⟩⟨U+05D1⟩" "⟨U+05D2⟩" 1`) || !strings.Contains(said, "לא") {
		t.Errorf("the notice says %q", said)
	}
}

func TestButtonsThatCannotWorkAreRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	good := Config{Ntfy: "https://ntfy.example/team", Secret: secret, Bodies: true, Buttons: true}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Config){
		"no topic": func(c *Config) { c.Ntfy = "" }, "no bodies": func(c *Config) { c.Bodies = false }, "a short secret": func(c *Config) { c.Secret = "short" },
	} {
		c := good
		spoil(&c)
		if _, err := New(c); err == nil || c3po.AsError(err).Suggestion == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The clock of ntfy may be behind ours, so that a press after the connection broke would
// be too early for our time.
func TestAListenerWhoseConnectionBrokeGoesOnAfterTheLastPress(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 2)
	first := true
	ntfy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Query().Get("since")
		if first {
			first = false
			fmt.Fprintln(w, `{"id":"m1","event":"message","message":"something else"}`)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		<-r.Context().Done()
	}))
	t.Cleanup(ntfy.Close)
	n, err := New(Config{Ntfy: ntfy.URL + "/team", Secret: secret, Bodies: true, Buttons: true, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.Listen(ctx, Listener{Lost: func(context.Context, error) {}})
	}()
	<-asked
	if since := <-asked; since != "m1" {
		t.Errorf("it goes on after %q", since)
	}
	cancel()
	<-ended
}

func FuzzParsePress(f *testing.F) {
	now := pressed.Expires.Add(-time.Hour)
	f.Add(pressed.word(secret))
	f.Add(buttonPrefix + "..")
	f.Fuzz(func(t *testing.T, word string) {
		if press, err := parsePress(secret, word, now); err == nil && press != pressed {
			t.Errorf("%q is taken for %+v", word, press)
		}
	})
}
