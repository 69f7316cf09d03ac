package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/transport/webhook"
)

// hooksAgent is who the mail is from unless --as says otherwise.
const hooksAgent = "hooks"

// minHookSecret is too long to be guessed from a signature.
const minHookSecret = 16

// hookSettings are the settings by which posts of code hosts become mail.
type hookSettings struct {
	listen  string
	secrets map[string]*string // by host
	rules   []string
	mention string
	ignore  []string
}

func (h *hookSettings) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&h.listen, "hooks-listen", "127.0.0.1:8421", "address to take posts at")
	flags.StringSliceVar(&h.rules, "hooks-rules", nil, "who gets what: KIND[@OWNER/NAME]=TARGET, KIND being comments, failures or mentions")
	flags.StringVar(&h.mention, "hooks-mention", "", "the name that mentions are of, for example @acme-bot")
	flags.StringSliceVar(&h.ignore, "hooks-ignore", nil, "accounts whose comments are not mailed, beside the one of --hooks-mention: those that agents write with")
	names := []string{"listen", "rules", "mention", "ignore"}
	h.secrets = map[string]*string{}
	for _, host := range webhook.Hosts() {
		h.secrets[host.Name] = flags.String("hooks-"+host.Name, "", "secret of the posts of "+host.Title+", at least 16 characters; better set where others cannot read it")
		names = append(names, host.Name)
	}
	for _, name := range names {
		console.Setting(flags, "hooks-"+name, "C3PO_HOOKS_"+strings.ToUpper(name), "hooks."+name)
	}
}

// config is what is set, checked.
func (h *hookSettings) config() (webhook.Config, error) {
	cfg := webhook.Config{Secrets: map[string]string{}, Mention: h.mention, Ignore: h.ignore, Now: time.Now}
	for name, secret := range h.secrets {
		switch {
		case *secret == "":
		case len(*secret) < minHookSecret:
			return cfg, console.BadUsage("the secret of "+name+" has fewer than 16 characters", "Make one: openssl rand -hex 20")
		default:
			cfg.Secrets[name] = *secret
		}
	}
	if len(cfg.Secrets) == 0 {
		return cfg, console.BadUsage("no secret is set, so nobody can post", "Set github or gitlab under hooks: in c3po.yaml; c3po hooks --help has an example.")
	}
	for _, text := range h.rules {
		rule, err := webhook.ParseRule(text)
		if err != nil {
			return cfg, console.Misspelled(err)
		}
		if rule.Kind == webhook.Mentions && h.mention == "" {
			return cfg, console.BadUsage("a rule is about mentions, and hooks.mention says of whom not", "Set it to a name, for example @acme-bot.")
		}
		cfg.Rules = append(cfg.Rules, rule)
	}
	if len(cfg.Rules) == 0 {
		return cfg, console.BadUsage("no rule says who gets the mail", "Set rules under hooks: in c3po.yaml; c3po hooks --help has an example.")
	}
	return cfg, nil
}

func Hooks(a *console.Console) *cobra.Command {
	var h hookSettings
	cmd := &cobra.Command{
		Use:   "hooks",
		Short: "Make mail of what GitHub and GitLab post",
		Long: `Take what GitHub and GitLab post, and mail it to agents or queues by rules in
c3po.yaml. The paths are /github and /gitlab; nothing else is there, so this address
can be made reachable from outside while the coordinator is not.

  hooks:
    github: a secret of at least 16 characters, the same as in the webhook there
    mention: "@acme-bot"
    rules: [comments@acme/api=reviewer, failures=role:ci, mentions=helper]

A post must be signed with the secret (GitHub) or carry it (GitLab), be JSON of at most
2 MiB, and tell of the last 12 hours. The same post is mailed once, and comments by the
account in mention, or by those in ignore, are not. What the coordinator does not take now
is kept on disk, and mailed when it does. It runs until it is interrupted; with --json,
what it prints and logs are lines of JSON.`,
		Example: `  c3po hooks
  c3po hooks --hooks-rules comments=reviewer,failures=role:ci`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := h.config()
			if err != nil {
				return err
			}
			if a.As == "" {
				a.As = hooksAgent
			}
			if id, err := c3po.ParseAgentID(a.As); err == nil && id.Reserved() {
				return console.BadUsage("mail of code hosts cannot come from "+a.As, "Leave --as out, or give the name of an agent.")
			}
			svc, err := a.Acting()
			if err != nil {
				return err
			}
			cfg.Sender, cfg.Log = svc, slog.New(slog.NewTextHandler(a.Stderr, nil))
			if a.JSON {
				cfg.Log = slog.New(slog.NewJSONHandler(a.Stderr, nil))
			}
			space, err := a.InSpace()
			if err != nil {
				return err
			}
			if cfg.Folder, err = a.Folders.KeptPosts(a.URL, string(space), a.As); err != nil {
				return err
			}
			receiver, err := webhook.New(cfg)
			if err != nil {
				return err
			}
			warnOfTargets(cmd.Context(), svc, cfg)
			var mailing sync.WaitGroup
			defer mailing.Wait()
			ctx, stop := context.WithCancel(cmd.Context())
			defer stop()
			mailing.Go(func() { receiver.Run(ctx) })
			return serveHooks(ctx, h.listen, receiver, func(at string) error {
				return a.Show(map[string]string{"url": at}, func(out io.Writer) { fmt.Fprintln(out, "taking posts at", at) })
			})
		},
	}
	h.flags(cmd)
	return cmd
}

// warnOfTargets says which rules lead to nobody now. An agent may still register, so that
// is no reason not to start.
func warnOfTargets(ctx context.Context, svc c3po.Service, cfg webhook.Config) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	queues := map[string]bool{}
	for in := (c3po.ListAgentsInput{}); ; {
		list, err := svc.ListAgents(ctx, in)
		if err != nil {
			e := console.Explain(err)
			cfg.Log.WarnContext(ctx, "cannot check the rules' targets", "why", e.Error())
			return
		}
		for _, agent := range list.Agents {
			for _, queue := range c3po.QueuesOf(agent.Capabilities) {
				queues[queue.Queue()] = true
			}
		}
		if in.Cursor = list.Next; in.Cursor == "" {
			break
		}
	}
	for _, rule := range cfg.Rules {
		to, err := c3po.ParseTarget(rule.Target)
		switch {
		case err != nil || to == c3po.Human:
			continue
		case to.Queue() != "":
			if !queues[to.Queue()] {
				cfg.Log.WarnContext(ctx, "no agent has the role of a rule; nothing is mailed by it until one registers", "target", rule.Target)
			}
			continue
		}
		if _, err := svc.GetAgentStatus(ctx, c3po.AgentInput{AgentID: rule.Target}); errors.Is(err, c3po.AgentNotFound) {
			cfg.Log.WarnContext(ctx, "no agent has the name of a rule; nothing is mailed by it until one registers", "target", rule.Target)
		}
	}
}

// serveHooks serves until ctx ends, and calls ready with its address.
func serveHooks(ctx context.Context, listen string, handler http.Handler, ready func(at string) error) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return console.BadUsage("cannot listen on "+listen+": "+err.Error(), "Give another address with --hooks-listen.")
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = server.Shutdown(last) // those under way were told nothing yet; they come again
	})
	defer stop()
	if err := ready("http://" + listener.Addr().String()); err != nil {
		return err
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
