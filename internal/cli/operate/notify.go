package operate

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/person/notify"
)

// notifying are the settings by which the person is told of questions.
type notifying struct {
	desktop bool
	ntfy    string
	webhook string
	secret  string
	allow   []string
	bodies  bool
	stalls  bool
	buttons bool
}

func (n *notifying) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&n.desktop, "notify-desktop", false, "show questions to you on the desktop (notify-send, osascript)")
	flags.StringVar(&n.ntfy, "notify-ntfy", "", "address of an ntfy topic for notices of questions to you")
	flags.StringVar(&n.webhook, "notify-webhook", "", "address for notices of questions to you, signed with the secret")
	flags.StringVar(&n.secret, "notify-secret", "", "secret of the webhook and of buttons; better set where others cannot read it")
	flags.StringSliceVar(&n.allow, "notify-allow", nil, "private addresses that may be told, such as 192.168.1.20 or 10.0.0.0/8")
	flags.BoolVar(&n.bodies, "notify-bodies", false, "also send what agents wrote")
	flags.BoolVar(&n.stalls, "notify-stalls", false, "also tell of agents that have read a question and make no step")
	flags.BoolVar(&n.buttons, "notify-buttons", false, "put choices on buttons of ntfy notices, which answer the question")
	for _, name := range []string{"desktop", "ntfy", "webhook", "secret", "allow", "bodies", "stalls", "buttons"} {
		console.Setting(flags, "notify-"+name, "C3PO_NOTIFY_"+strings.ToUpper(name), "notify."+name)
	}
}

// notifySecrets are the settings among them that are nobody else's business.
func notifySecrets() []string { return []string{"ntfy", "webhook", "secret"} }

func (n *notifying) variables() []string {
	return []string{
		"C3PO_NOTIFY_DESKTOP=" + strconv.FormatBool(n.desktop),
		"C3PO_NOTIFY_NTFY=" + n.ntfy,
		"C3PO_NOTIFY_WEBHOOK=" + n.webhook,
		"C3PO_NOTIFY_ALLOW=" + strings.Join(n.allow, ","),
		"C3PO_NOTIFY_BODIES=" + strconv.FormatBool(n.bodies),
		"C3PO_NOTIFY_STALLS=" + strconv.FormatBool(n.stalls),
		"C3PO_NOTIFY_BUTTONS=" + strconv.FormatBool(n.buttons),
		"C3PO_NOTIFY_SECRET=" + n.secret,
	}
}

func (n *notifying) check() error {
	config, err := n.config()
	if err == nil {
		_, err = notify.New(config)
	}
	return console.Misspelled(err)
}

func (n *notifying) config() (notify.Config, error) {
	config := notify.Config{Desktop: n.desktop, Ntfy: n.ntfy, Webhook: n.webhook, Secret: n.secret, Bodies: n.bodies, Stalls: n.stalls, Buttons: n.buttons}
	for _, text := range n.allow {
		prefix, err := notify.ParseAllow(text)
		if err != nil {
			return config, err
		}
		config.Allow = append(config.Allow, prefix)
	}
	return config, nil
}

func Notify(a *console.Console) *cobra.Command {
	return console.Family(&cobra.Command{
		Use:   "notify",
		Short: "Get notices of questions outside c3po",
		Long: `Be told of questions outside of c3po: on the desktop, by ntfy, or by a webhook.
Each is one line under notify: in c3po.yaml, where the coordinator runs:

  notify:
    desktop: true
    ntfy: https://ntfy.sh/a-topic-nobody-guesses
    webhook: https://example.com/hook
    secret: what posts to the webhook, and buttons, are signed with
    allow: [192.168.1.20]
    bodies: true
    stalls: true
    buttons: true

What agents wrote is sent only with bodies: true. With stalls: true you also hear, once,
that an agent has read a question and makes no step with it. With buttons: true a choice can be
made from the notice of ntfy. Addresses of this machine and of
private networks are sent to only if allow lists them. A coordinator reads this
when it is started.`,
		Example: `  c3po notify test`,
	}, notifyTest(a))
}

// A notifyResult is how one channel took the test.
type notifyResult struct {
	Channel string      `json:"channel"`
	OK      bool        `json:"ok"`
	Error   *c3po.Error `json:"error,omitempty"`
}

func notifyTest(a *console.Console) *cobra.Command {
	var n notifying
	cmd := &cobra.Command{
		Use:   "test",
		Short: "Send a test by every channel that is set",
		Long: `Send a test by every channel that is set here, from this machine. The coordinator
itself is not asked: run it where the coordinator runs, with its settings.`,
		Example: `  c3po notify test
  c3po notify test --notify-ntfy https://ntfy.sh/a-topic-nobody-guesses`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := n.check(); err != nil {
				return err
			}
			config, err := n.config()
			if err != nil {
				return err
			}
			notifier, err := notify.New(config)
			if err != nil {
				return err
			}
			if len(notifier.Channels()) == 0 {
				return console.BadUsage("no channel is set", "Set desktop, ntfy or webhook under notify: in c3po.yaml, or give the flags that the coordinator was started with. c3po notify --help shows them.")
			}
			results := []notifyResult{}
			var failed error
			for _, channel := range notifier.Channels() {
				result := notifyResult{Channel: channel}
				err := notifier.Notify(cmd.Context(), channel, c3po.Notification{Kind: c3po.NotifyTest})
				if result.OK = err == nil; err != nil {
					result.Error = c3po.AsError(err)
					failed = err
				}
				results = append(results, result)
			}
			if err := a.Show(results, func(w io.Writer) { printNotified(w, results) }); err != nil {
				return err
			}
			return failed
		},
	}
	n.flags(cmd)
	return cmd
}

func printNotified(w io.Writer, results []notifyResult) {
	for _, r := range results {
		if r.OK {
			fmt.Fprintf(w, "%s: sent\n", r.Channel)
		} else {
			fmt.Fprintf(w, "%s: not sent\n", r.Channel)
		}
	}
}
