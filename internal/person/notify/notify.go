// Package notify tells a person, outside of c3po, that an agent asks: on the
// desktop, by ntfy, or by a webhook. It also hears which button of an ntfy notice they press. What agents wrote is not sent unless that is
// allowed, and nothing is sent to addresses of one's own network unless they are
// listed: an address in a file of settings must not become a way in.
package notify

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// The channels.
const (
	Desktop = "desktop"
	Ntfy    = "ntfy"
	Webhook = "webhook"
)

// Config says which channels there are. Its zero value has none.
type Config struct {
	Desktop bool
	Ntfy    string // address of a topic
	Webhook string // address to post to; needs a Secret
	Secret  string // what posts to the webhook, and buttons, are signed with
	// Allow are addresses of one's own network that may be sent to.
	Allow    []netip.Prefix
	Bodies   bool          // what agents wrote is sent too
	Stalls   bool          // the person is also told of questions that stall
	Buttons  bool          // choices can be made from a notice of ntfy; needs Bodies and a Secret
	Resolver *net.Resolver // the system's if nil
}

// A Notifier tells a person.
type Notifier struct {
	config Config
	client *http.Client
}

// New checks the settings. It connects to nothing yet.
func New(c Config) (*Notifier, error) {
	n := &Notifier{config: c, client: guardedClient(c.Allow, c.Resolver)}
	for name, address := range map[string]string{Ntfy: c.Ntfy, Webhook: c.Webhook} {
		if address == "" {
			continue
		}
		if _, err := checkURL(name, address, c.Allow); err != nil {
			return nil, err
		}
	}
	if c.Webhook != "" && len(c.Secret) < minSecretBytes {
		return nil, c3po.Errorf(c3po.InvalidRequest, "a webhook needs a secret of at least %d characters, which its posts are signed with", minSecretBytes).
			Suggest("Set notify.secret, for example to what `openssl rand -hex 32` prints, and give the same to the receiver.")
	}
	return n, checkButtons(c)
}

func checkButtons(c Config) error {
	switch {
	case !c.Buttons:
		return nil
	case c.Ntfy == "":
		return c3po.Errorf(c3po.InvalidRequest, "buttons need ntfy, which no address is set for").Suggest("Set notify.ntfy, or leave notify.buttons out.")
	case !c.Bodies:
		return c3po.Errorf(c3po.InvalidRequest, "buttons show the choices an agent wrote, and notify.bodies does not allow that").Suggest("Set notify.bodies: true as well, or leave notify.buttons out.")
	case len(c.Secret) < minSecretBytes:
		return c3po.Errorf(c3po.InvalidRequest, "buttons need a secret of at least %d characters, which they are signed with", minSecretBytes).
			Suggest("Set notify.secret, for example to what `openssl rand -hex 32` prints.")
	}
	return nil
}

// Channels are the ways there are to the person.
func (n *Notifier) Channels() []string {
	var names []string
	if n.config.Desktop {
		names = append(names, Desktop)
	}
	if n.config.Ntfy != "" {
		names = append(names, Ntfy)
	}
	if n.config.Webhook != "" {
		names = append(names, Webhook)
	}
	return names
}

// Notify tells the person by one channel.
func (n *Notifier) Notify(ctx context.Context, channel string, what c3po.Notification) error {
	if !n.config.Bodies {
		what.Question, what.Reason, what.Choices = "", "", nil
	}
	var err error
	switch {
	case !slices.Contains(n.Channels(), channel):
		return c3po.Errorf(c3po.InvalidRequest, "there is no channel %q", channel).Suggest("Set it under notify: in c3po.yaml.")
	case channel == Desktop:
		err = show(ctx, title(what), text(what))
	case channel == Ntfy:
		err = n.publish(ctx, what)
	default:
		err = n.post(ctx, what)
	}
	return err
}

// title is one line of words that no agent has written.
func title(n c3po.Notification) string {
	switch {
	case n.Count > 1 && n.Kind == c3po.NotifyStalled:
		return fmt.Sprintf("%d questions have stalled", n.Count)
	case n.Count > 1 && n.Kind == c3po.NotifyOverdue:
		return fmt.Sprintf("%d questions still wait for your answer", n.Count)
	case n.Count > 1:
		return fmt.Sprintf("%d questions wait for you", n.Count)
	}
	switch n.Kind {
	case c3po.NotifyTest:
		return "c3po can reach you"
	case c3po.NotifyStalled:
		return fmt.Sprintf("%s may be stuck", n.ToAgent)
	case c3po.NotifyOverdue:
		return fmt.Sprintf("%s still waits for your answer", n.FromAgent)
	default:
		if n.Permission {
			return fmt.Sprintf("%s asks for permission", n.FromAgent)
		}
		return fmt.Sprintf("%s asks you", n.FromAgent)
	}
}

// maxTextCharacters keeps a notice to what a person reads at a glance.
const maxTextCharacters = 1000

// text is what follows the title: the question if it may be sent, and how to
// answer.
func text(n c3po.Notification) string {
	if n.Kind == c3po.NotifyTest {
		return "This is a test. Questions of your agents will look like this."
	}
	if n.Kind == c3po.NotifyStalled {
		asker := string(n.FromAgent) + "'s"
		if n.FromAgent == c3po.Human {
			asker = "your"
		}
		return fmt.Sprintf("It has read %s question and made no step for a while. See who waits for whom with: c3po stuck", asker)
	}
	if n.Count > 1 {
		return fmt.Sprintf("The first is from %s. See all with: c3po human list", n.FromAgent)
	}
	var lines []string
	if n.Permission && isCut(n) {
		lines = append(lines, "This is only the start of it. Read all of it where you answer.")
	}
	for _, line := range []string{n.Question, n.Reason} {
		if line != "" {
			lines = append(lines, cut(strings.Join(asShown(n, line), "\n"), maxTextCharacters))
		}
	}
	for i, choice := range n.Choices {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, cut(sanitise.Inline(choice), maxTextCharacters)))
	}
	return strings.Join(append(lines, "Answer with: c3po human answer "+string(n.MessageID)), "\n")
}

// asShown is a text of the question in lines. What a tool would do stands as it would be run:
// nobody knows how the screen of a notice orders letters that run the other way.
func asShown(n c3po.Notification, text string) []string {
	if n.Permission && text == n.Question {
		return sanitise.Exact(text)
	}
	return sanitise.Lines(text)
}

// isCut says that a notice does not show the whole of a question.
func isCut(n c3po.Notification) bool {
	return n.Question == "" || utf8.RuneCountInString(strings.Join(asShown(n, n.Question), "\n")) > maxTextCharacters
}

func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
