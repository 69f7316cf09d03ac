package people

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth/pki"
	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/reach"
)

// beforeJoin is the end of the name of a copy of the credentials that new ones replaced.
const beforeJoin = ".before-join"

// A joining is what join prints as JSON. The times are in milliseconds.
type joining struct {
	Host        string  `json:"host"`
	Person      bool    `json:"person,omitempty"` // not the host has joined: its person has signed in
	URL         string  `json:"url"`
	Credentials string  `json:"credentials"`
	Kept        string  `json:"former_credentials,omitempty"`
	OwnAside    bool    `json:"own_coordinator_set_aside,omitempty"` // commands went to this host's own before
	Former      string  `json:"former_host,omitempty"`               // what the host was called there until now
	JoinMS      float64 `json:"join_ms"`
	SendMS      float64 `json:"send_ms"`
	ReadMS      float64 `json:"read_ms"`
	AckMS       float64 `json:"ack_ms"`
}

func Join(a *console.Console) *cobra.Command {
	var host string
	var noInstall bool
	cmd := enrolling(a, &host, &noInstall, false)
	cmd.Flags().StringVar(&host, "host", "", "name this host would like to have; else its own")
	cmd.Flags().BoolVar(&noInstall, "no-install", false, "leave the coding agents of this host as they are")
	return cmd
}

// enrolling is what join and login have in common.
func enrolling(a *console.Console, host *string, noInstall *bool, onlyPerson bool) *cobra.Command {
	return &cobra.Command{
		Use:   "join [INVITATION]",
		Short: "Join this host to a coordinator",
		Long: `Join this host to a coordinator, with an invitation that c3po invite printed there.
What answers is compared with the invitation before anything secret is sent. The
host gets its own token, kept in a file that only you can read, and is tested
out with a message to itself. Then c3po is installed into the coding agents that
are found here: Claude Code.

Without an argument it asks for the invitation and doesn't show what you paste; with
- it reads it from stdin. An invitation given as the argument works too, but other
users of this machine can read it there while the command runs.`,
		Example: `  c3po join
  echo c3po://nas:8420/5f1c…-k3xv2ab7qmzd-Zm9v… | c3po join -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readInvitation(cmd.Context(), a, args)
			if err != nil {
				return err
			}
			if len(args) > 0 && secretForm.MatchString(args[0]) {
				// By now others may have read it. To use it up is what closes it soonest.
				a.Warn("others on this machine can read an invitation among the arguments", "Next time leave it out: "+cmd.CommandPath()+" asks for it.")
			}
			invited, err := pki.ParseInvitation(text)
			if err != nil {
				return console.BadUsage(err.Error(), c3po.AsError(err).Suggestion)
			}
			if onlyPerson && !invited.Person {
				return console.BadUsage("this invitation is for a host's agents, not for you", "Use it with: c3po join. To sign in, run `c3po invite --person` where the coordinator runs.")
			}
			result, err := joinWith(cmd.Context(), a, invited, cmp.Or(*host, HostName()))
			if err != nil {
				return err
			}
			if err := a.Show(result, result.print); err != nil || *noInstall || result.Person {
				return err
			}
			return agentside.InstallFound(cmd.Context(), a)
		},
	}
}

// invitationForm finds an invitation in a line that c3po invite printed, so that the
// whole line can be pasted.
var invitationForm = regexp.MustCompile(`c3po://[^\s'"]+`)

// secretForm finds an invitation, or a part of one, that holds a secret.
var secretForm = regexp.MustCompile(`c3po://[^\s/]+/.`)

// readInvitation is the one that was given: as an argument, or the first line of stdin.
func readInvitation(ctx context.Context, a *console.Console, args []string) (string, error) {
	if len(args) > 0 && args[0] != "-" {
		return strings.TrimSpace(args[0]), nil
	}
	line, err := secretLine(ctx, a, "Paste the invitation (it isn't shown): ")
	if err != nil {
		return "", err
	}
	return cmp.Or(invitationForm.FindString(line), strings.TrimSpace(line)), nil
}

// HostName is the name of this machine, as far as it can be part of an id.
func HostName() string {
	name, err := os.Hostname()
	if err != nil {
		name = "host"
	}
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	return string(c3po.AgentIDFromFolder(name))
}

func joinWith(ctx context.Context, a *console.Console, invited pki.Invitation, host string) (joining, error) {
	began := time.Now()
	// A folder that cannot be written to is found before the invitation is used.
	config, err := a.Folders.Config()
	if err != nil {
		return joining{}, err
	}
	mine := paths.Credentials{URL: invited.URL()}
	if err := checkFree(a, mine.URL); err != nil {
		return joining{}, err
	}
	if invited.Hash != pki.System {
		authority, err := client.FetchAuthority(ctx, mine.URL)
		if err != nil {
			return joining{}, err
		}
		if err := pki.CheckHash(authority, invited.Hash); err != nil {
			return joining{}, err
		}
		mine.CA = string(authority)
	}
	trust, err := reach.Trust(mine.CA)
	if err != nil {
		return joining{}, err
	}
	stranger := client.New(client.Config{URL: mine.URL, TLS: trust, ClientName: "join", Version: a.Version})
	joined, err := stranger.Join(ctx, c3po.JoinInput{Secret: invited.Secret, Host: host})
	if err != nil {
		return joining{}, err
	}
	if joined.PersonToken != "" {
		return signIn(ctx, a, config, paths.Person{URL: mine.URL, CA: mine.CA, Human: joined.PersonToken}, joined.Host)
	}
	mine.Token, mine.Runner, mine.Host = joined.Token, joined.RunnerToken, joined.Host
	result := joining{Host: joined.Host, URL: mine.URL, Credentials: filepath.Join(config, "credentials.json"), JoinMS: milliseconds(began)}
	if was, err := a.Folders.Credentials(); err == nil && was != nil && !was.OwnHost() && was.Host != mine.Host {
		result.Former = was.Host
	}
	if err := result.keepFormer(a, config); err != nil {
		return joining{}, err
	}
	if err := mine.Write(config); err != nil {
		return joining{}, err
	}
	err = tryOut(ctx, a, mine, trust, &result)
	return result, err
}

// checkFree refuses an invitation to a host that is another coordinator's, whose commands
// would go on going there. Nothing has used the invitation yet.
func checkFree(a *console.Console, url string) error {
	note, err := a.OwnCoordinator()
	if err != nil {
		return err
	}
	if note != nil {
		return c3po.Errorf(c3po.InvalidRequest, "this host runs its own coordinator at %s, and its commands go there", note.URL).
			Suggest("Stop that one first: c3po down. Then use the invitation again, which is still good.")
	}
	agents, person, err := a.Elsewhere()
	switch {
	case err != nil:
		return err
	case agents != "" && !paths.SameAddress(agents, url):
		return c3po.Errorf(c3po.InvalidRequest, "this host has joined the coordinator at %s, not the one at %s", agents, url).
			Suggest("A host joins one at a time. Leave that one first: c3po leave")
	case person != "" && !paths.SameAddress(person, url):
		return c3po.Errorf(c3po.InvalidRequest, "you are signed in at %s, not at %s", person, url).
			Suggest("A host is of one coordinator at a time. Sign out first: c3po leave")
	default:
		return nil
	}
}

// keepFormer keeps the credentials there were: until this host leaves those for its own
// coordinator, and a copy of others that the new ones replace, whose token is nowhere
// else. The note of an own coordinator that was killed would lead commands to it.
func (j *joining) keepFormer(a *console.Console, config string) (err error) {
	if note, err := a.Folders.Coordinator(); err == nil && note != nil {
		state, err := a.Folders.StateFile("")
		if err := errors.Join(err, note.Remove(state)); err != nil {
			return err
		}
	}
	if j.OwnAside, err = paths.SetAsideOwn(config); err != nil {
		return err
	}
	data, err := os.ReadFile(j.Credentials)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	j.Kept = j.Credentials + beforeJoin
	return paths.WriteFile(j.Kept, data)
}

// tryOut sends a message to itself, as an agent of this host that is there for
// nothing else, reads and acks it.
func tryOut(ctx context.Context, a *console.Console, mine paths.Credentials, trust *tls.Config, result *joining) error {
	id := c3po.AgentID(mine.Host + "/join-check")
	self := client.New(client.Config{URL: mine.URL, TLS: trust, Token: mine.Token, AgentID: id, ClientName: "join", Version: a.Version})
	failed := func(what string, err error) error {
		return c3po.Because(err, c3po.AsError(err).Code, fmt.Sprintf("this host has joined as '%s', but cannot %s: %s", mine.Host, what, c3po.AsError(err).Message)).
			Suggest("%s", cmp.Or(c3po.AsError(err).Suggestion, "Run `c3po status`."))
	}
	if _, err := self.RegisterAgent(ctx, c3po.RegisterInput{Type: c3po.TypeProbe}); err != nil {
		return failed("register an agent", err)
	}
	// It is of no use to anybody once the command is over.
	defer func() { _, _ = self.Unregister(context.WithoutCancel(ctx), c3po.None{}) }()
	began := time.Now()
	expects := false
	// With the time, so that a host that joins again is not told that it repeats itself.
	text := "Does this host reach the coordinator? " + began.Format(time.RFC3339Nano)
	sent, err := self.SendMessage(ctx, c3po.SendInput{Target: string(id), Message: text, ExpectsReply: &expects})
	if err != nil {
		return failed("send", err)
	}
	result.SendMS, began = milliseconds(began), time.Now()
	mail, err := self.GetMessages(ctx, c3po.GetMessagesInput{})
	if err != nil {
		return failed("read", err)
	}
	result.ReadMS, began = milliseconds(began), time.Now()
	acked, err := self.AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{sent.ID}})
	if err != nil {
		return failed("ack", err)
	}
	result.AckMS = milliseconds(began)
	read := slices.ContainsFunc(mail.Messages, func(m c3po.Message) bool { return m.ID == sent.ID })
	if !read || !slices.Contains(acked.Acked, sent.ID) {
		return failed("find its own message", c3po.Errorf(c3po.Internal, "read %t, acked %t", read, slices.Contains(acked.Acked, sent.ID)))
	}
	return nil
}

func milliseconds(since time.Time) float64 {
	return float64(time.Since(since).Round(10*time.Microsecond)) / float64(time.Millisecond)
}

func (j joining) print(w io.Writer) {
	if j.Person {
		fmt.Fprintf(w, "you are signed in at %s: c3po answer, c3po top, c3po open and c3po pause work here\n", console.Inline(j.URL))
		fmt.Fprintf(w, "your token is in %s\n", console.Inline(j.Credentials))
		j.printFormer(w)
		return
	}
	fmt.Fprintf(w, "this host has joined %s as %s\n", console.Inline(j.URL), console.Inline(j.Host))
	if j.Former != "" {
		fmt.Fprintf(w, "it was %s before; mail for %s/… waits for a host of that name\n", console.Inline(j.Former), console.Inline(j.Former))
	}
	fmt.Fprintf(w, "a message to itself: joined in %.1f ms, sent in %.1f ms, read in %.1f ms, acked in %.1f ms\n", j.JoinMS, j.SendMS, j.ReadMS, j.AckMS)
	fmt.Fprintf(w, "its token is in %s\n", console.Inline(j.Credentials))
	j.printFormer(w)
	fmt.Fprintf(w, "agents here are called %s/NAME; try: c3po agents\n", console.Inline(j.Host))
}

func (j joining) printFormer(w io.Writer) {
	if j.Kept != "" {
		fmt.Fprintf(w, "what was there before is in %s\n", console.Inline(j.Kept))
	}
	if j.OwnAside {
		fmt.Fprintf(w, "commands here now go to %s; c3po leave goes back to this host's own coordinator\n", console.Inline(j.URL))
	}
}
