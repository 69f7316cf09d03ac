package mail

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/engine"
)

func Register(a *console.Console) *cobra.Command {
	var in c3po.RegisterInput
	var beat int
	cmd := &cobra.Command{
		Use:   "register",
		Short: "Tell other agents what you are and can do",
		Long: `Tell other agents what you are and can do. The first call of any command registers
you anyway; this adds what others see. With --pid the agent lives as long as that
process of this host.`,
		Example: `  c3po register --as sensor --capability mqtt --capability zigbee
  c3po register --as nightly --type script --heartbeat 300`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			svc, err := a.Acting()
			if err != nil {
				return err
			}
			if in.Cwd == "" {
				// A folder that is gone has no name, and the agent can do without.
				in.Cwd, _ = os.Getwd()
			}
			if cmd.Flags().Changed("heartbeat") {
				in.HeartbeatInterval = &beat
			}
			if in.PID != 0 {
				in.PIDStart = engine.Started(in.PID)
				if in.Host == "" {
					in.Host, _ = os.Hostname() // nobody can look at the process without it
				}
			}
			self, err := svc.RegisterAgent(cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.Show(self, func(w io.Writer) {
				fmt.Fprintf(w, "registered %s", console.Inline(string(self.ID)))
				if len(self.Capabilities) > 0 {
					fmt.Fprintf(w, "; helps with %s", console.Inline(strings.Join(self.Capabilities, ", ")))
				}
				fmt.Fprintln(w)
				console.PrintNotice(w, self.Notice)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&in.Name, "name", "", "display name; else the agent's id")
	flags.StringArrayVar(&in.Capabilities, "capability", nil, "what you can help with; may be given several times")
	flags.StringVar(&in.Type, "type", "", "kind of program, for example script or codex")
	flags.StringVar(&in.Cwd, "cwd", "", "the folder you work in; else the current one")
	flags.StringVar(&in.Host, "host", "", "the host; else this one, with --pid")
	flags.IntVar(&in.PID, "pid", 0, "process id of the agent on this host")
	console.SecondsFlag(flags, &beat, "heartbeat", 0, "time between the calls you will make; 0 withdraws it")
	metadataFlag(flags, &in.Metadata)
	return cmd
}

func Unregister(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "unregister",
		Short:   "End your session; the agent stays known and keeps its mail",
		Example: `  c3po unregister --as sensor`,
		RunE:    console.Operation(a, a.Acting, c3po.Service.Unregister, console.NoInput, func(w io.Writer, done c3po.Unregistered) { fmt.Fprintln(w, console.Inline(done.Message)) }),
	}
}

func StatusSet(a *console.Console) *cobra.Command {
	var in c3po.StatusInput
	cmd := &cobra.Command{
		Use:   "set available|busy|away",
		Short: "Tell other agents how you are",
		Example: `  c3po status set busy --task "migrating the database"
  c3po status set available`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := console.OneOf("available", "busy", "away")(args[0]); err != nil {
				return console.BadUsage(fmt.Sprintf("%q is not a status: %v", args[0], err), cmd.CommandPath()+" --help shows an example.")
			}
			svc, err := a.Acting()
			if err != nil {
				return err
			}
			in.Status = c3po.Availability(args[0])
			done, err := svc.SetStatus(cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.Show(done, func(w io.Writer) {
				fmt.Fprintf(w, "%s is %s", console.Inline(string(svc.ID())), console.Inline(string(in.Status)))
				if in.CurrentTask != "" {
					fmt.Fprintf(w, ": %s", console.Inline(in.CurrentTask))
				}
				fmt.Fprintln(w)
			})
		},
	}
	cmd.Flags().StringVar(&in.CurrentTask, "task", "", "what you work on, in a few words")
	return cmd
}

// A jsonObject is a flag that takes a JSON object.
type jsonObject struct{ into *json.RawMessage }

func (j jsonObject) String() string {
	if j.into == nil {
		return ""
	}
	return string(*j.into)
}

func (jsonObject) Type() string { return "json" }

func (j jsonObject) Set(text string) error {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) != nil || object == nil {
		return errors.New("not a JSON object")
	}
	*j.into = json.RawMessage(text)
	return nil
}

// metadataFlag takes what travels along with a message or describes an agent.
func metadataFlag(flags *pflag.FlagSet, into *json.RawMessage) {
	flags.Var(jsonObject{into}, "metadata", "a JSON object of at most 4 KiB that goes along")
}
