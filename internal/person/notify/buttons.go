package notify

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

const (
	// buttonPrefix begins what a button says, so that anything else on its topic is passed over.
	buttonPrefix = "c3po-button."
	// buttonLife is how long a button works.
	buttonLife = 24 * time.Hour
	// maxButtons and maxLabelCharacters are what ntfy shows of them.
	maxButtons         = 3
	maxLabelCharacters = 40
	// repliesSuffix makes the topic that buttons write to. Phones do not listen to it.
	repliesSuffix = "-replies"
	// catchUp is what presses are looked for when a coordinator starts: ntfy keeps them as long.
	catchUp = 12 * time.Hour
	// maxSilence is more than twice the pause between two signs of life from ntfy.
	maxSilence    = 2 * time.Minute
	firstPause    = time.Second
	maxPause      = time.Minute
	maxLineBytes  = 64 << 10
	buttonPurpose = "c3po button 1\n" // no webhook is signed like it
)

// A Press is a choice that a person made with a button of a notice.
type Press struct {
	Space     c3po.Space     `json:"space"`
	MessageID c3po.MessageID `json:"message_id"`
	Choice    string         `json:"choice"`
	Expires   time.Time      `json:"expires"`
	At        time.Time      `json:"-"` // when it was pressed, as ntfy says
}

// word is what the button writes: the press, and the proof that we made it.
func (p Press) word(secret string) string {
	said, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and a time become JSON
	}
	return buttonPrefix + base64.RawURLEncoding.EncodeToString(said) + "." + base64.RawURLEncoding.EncodeToString(buttonProof(secret, said))
}

func buttonProof(secret string, said []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(buttonPurpose))
	mac.Write(said)
	return mac.Sum(nil)
}

// parsePress reads what a button wrote. It refuses what we did not make, and what is
// older than buttonLife.
func parsePress(secret, word string, now time.Time) (Press, error) {
	forged := c3po.Errorf(c3po.Forbidden, "this button is not one of this coordinator's")
	body, proof, _ := strings.Cut(strings.TrimPrefix(word, buttonPrefix), ".")
	said, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return Press{}, forged
	}
	mac, err := base64.RawURLEncoding.DecodeString(proof)
	if err != nil || !hmac.Equal(mac, buttonProof(secret, said)) {
		return Press{}, forged
	}
	var p Press
	if err := json.Unmarshal(said, &p); err != nil {
		return Press{}, forged
	}
	if !now.Before(p.Expires) {
		return p, c3po.Errorf(c3po.Forbidden, "this button worked until %s", p.Expires.Format(time.DateTime))
	}
	return p, nil
}

// An action is a button as ntfy takes it.
type action struct {
	Action string `json:"action"`
	Label  string `json:"label"`
	URL    string `json:"url"`
	Method string `json:"method"`
	Body   string `json:"body"`
	Clear  bool   `json:"clear"` // the notice goes once the press was taken
}

// actions are the buttons of a notice, as a header that is plain ASCII; empty if it has none.
func (n *Notifier) actions(what c3po.Notification, now time.Time) string {
	if !n.config.Buttons || what.Count > 1 || len(what.Choices) == 0 {
		return ""
	}
	at, err := n.replies()
	if err != nil {
		return ""
	}
	at.User = nil // whoever reads the topic would read it
	var all []action
	for _, choice := range what.Choices[:min(len(what.Choices), maxButtons)] {
		if what.Permission && choice == c3po.AllowOnce && isCut(what) {
			continue // nobody allows what they have not seen
		}
		press := Press{Space: what.Space, MessageID: what.MessageID, Choice: choice, Expires: now.Add(buttonLife).UTC().Truncate(time.Second)}
		all = append(all, action{"http", cut(sanitise.Inline(choice), maxLabelCharacters), at.String(), http.MethodPost, press.word(n.config.Secret), true})
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // strings become JSON
	}
	return escaped(string(text))
}

// escaped is JSON that a header can carry.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// replies is the topic that buttons write to.
func (n *Notifier) replies() (*url.URL, error) {
	at, err := checkURL(Ntfy, n.config.Ntfy, n.config.Allow)
	if err != nil {
		return nil, err
	}
	at.Path = strings.TrimSuffix(at.Path, "/") + repliesSuffix
	at.RawPath, at.RawQuery, at.Fragment = "", "", ""
	return at, nil
}

// HasButtons says that choices can be made from a notice.
func (n *Notifier) HasButtons() bool { return n.config.Buttons }

// A Listener hears what comes back from notices.
type Listener struct {
	Pressed func(context.Context, Press)
	Refused func(context.Context, Press, error) // somebody wrote what is no button of ours, or no longer one
	Lost    func(context.Context, error)        // ntfy cannot be heard; it is tried again
}

// Listen hears which buttons are pressed, until ctx ends. Those that were pressed while
// nobody listened come first; a press may come more than once.
func (n *Notifier) Listen(ctx context.Context, l Listener) {
	since := strconv.FormatInt(time.Now().Add(-catchUp).Unix(), 10)
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, maxPause) {
		began := time.Now()
		err := n.hear(ctx, &since, l)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > maxPause {
			pause = firstPause
		}
		l.Lost(ctx, err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// hear follows the topic once, until it breaks off, and moves since along.
func (n *Notifier) hear(ctx context.Context, since *string, l Listener) error {
	at, err := n.replies()
	if err != nil {
		return err
	}
	at.Path += "/json"
	at.RawQuery = url.Values{"since": {*since}}.Encode()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer, err := n.request(ctx, Ntfy, http.MethodGet, at, nil, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if err := refusedBy(Ntfy, at.Host, answer); err != nil {
		return err
	}
	alive := time.AfterFunc(maxSilence, cancel)
	defer alive.Stop()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, maxLineBytes)
	for lines.Scan() {
		alive.Reset(maxSilence)
		var said struct {
			ID      string `json:"id"`
			Time    int64  `json:"time"`
			Event   string `json:"event"`
			Message string `json:"message"`
		}
		if json.Unmarshal(lines.Bytes(), &said) != nil || said.Event != "message" {
			continue
		}
		*since = said.ID
		if !strings.HasPrefix(said.Message, buttonPrefix) {
			continue
		}
		press, err := parsePress(n.config.Secret, said.Message, time.Now())
		press.At = time.Unix(said.Time, 0)
		if err != nil {
			l.Refused(ctx, press, err)
			continue
		}
		l.Pressed(ctx, press)
	}
	err = lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		*since = strconv.FormatInt(time.Now().Unix(), 10) // it would be met again
	}
	if err != nil {
		return unreachable(Ntfy, at, err)
	}
	return c3po.Errorf(c3po.AgentUnavailable, "ntfy at %s ended the connection", at.Host)
}

// Say tells the person by ntfy what became of a press.
func (n *Notifier) Say(ctx context.Context, title, text string) error {
	return n.send(ctx, Ntfy, n.config.Ntfy, []byte(text), map[string]string{
		"Content-Type": "text/plain; charset=utf-8", "Title": title, "Priority": "3",
	})
}
