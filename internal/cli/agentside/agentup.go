package agentside

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/runner"
	"github.com/c3po-dev/c3po/internal/runner/streamfmt"
)

func agentUp(a *console.Console) *cobra.Command {
	var flags showFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Look after all agents of agents.yaml",
		Long: `Look after all agents of agents.yaml until this command is interrupted: each runs
as with c3po agent run, and one that fails is started again after a rest.`,
		Example: `  c3po agent up`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			how, err := agentStreaming(a, flags)
			if err != nil {
				return err
			}
			file, err := agentsOfHost(a)
			if err != nil {
				return err
			}
			cfg, err := withCoordinator(cmd.Context(), a, flags.runtime)
			if err != nil {
				return err
			}
			return runner.New(cfg).Up(cmd.Context(), file, how)
		},
	}
	flags.add(cmd)
	return cmd
}

func agentStatus(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show what the agents of agents.yaml are doing",
		Example: `  c3po agent status`,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := runnerConfig(a)
			if err != nil {
				return err
			}
			file, err := agentFile(a, cfg.Places)
			if err != nil {
				return err
			}
			records := []runner.Record{}
			for _, agent := range file.Agents {
				record, err := runner.New(cfg).Status(agent.Name)
				if err != nil {
					return err
				}
				records = append(records, record)
			}
			return a.Show(records, func(w io.Writer) {
				if len(records) == 0 {
					fmt.Fprintf(w, "no agents are named in %s\n", console.Inline(file.Path))
					return
				}
				console.Table(w, func(row func(...string)) {
					row("AGENT", "ID", "STATE", "SINCE", "RUNS", "LAST EXIT", "WHY")
					for _, r := range records {
						since, exit := "-", "-"
						if !r.Since.IsZero() {
							since = console.Ago(time.Now(), r.Since)
						}
						if r.LastExit != nil {
							exit = fmt.Sprint(*r.LastExit)
						}
						row(console.Inline(r.Agent), console.Inline(cmp.Or(string(r.ID), "-")), console.Inline(r.State), since, fmt.Sprint(r.Runs), exit, console.Inline(cmp.Or(r.Why, "-")))
					}
				})
			})
		},
	}
}

// A containerRow is a container as it is listed.
type containerRow struct {
	Name    string    `json:"name"`
	Agent   string    `json:"agent,omitempty"`
	Mode    string    `json:"mode"`
	Status  string    `json:"status"`
	Started time.Time `json:"started,omitzero"`
}

func agentPs(a *console.Console) *cobra.Command {
	var runtime string
	cmd := &cobra.Command{
		Use:     "ps",
		Short:   "List the containers of agents, prompts and shells",
		Example: `  c3po agent ps`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := withContainers(cmd.Context(), a, runtime)
			if err != nil {
				return err
			}
			all, err := runner.New(cfg).Containers(cmd.Context())
			if err != nil {
				return err
			}
			rows := []containerRow{}
			for _, c := range all {
				rows = append(rows, containerRow{c.Name, runner.AgentOf(c), runner.ModeOf(c), c.Status, c.Started})
			}
			return a.Show(rows, func(w io.Writer) {
				if len(rows) == 0 {
					fmt.Fprintln(w, "no containers run")
					return
				}
				console.Table(w, func(row func(...string)) {
					row("CONTAINER", "AGENT", "RUNS", "STATUS", "STARTED")
					for _, r := range rows {
						row(console.Inline(r.Name), console.Inline(cmp.Or(r.Agent, "-")), console.Inline(r.Mode), console.Inline(r.Status), console.Ago(time.Now(), r.Started))
					}
				})
			})
		},
	}
	addRuntime(cmd, &runtime)
	return cmd
}

// stopTimeout is how long an agent may take to end: its grace, and a moment.
const stopTimeout = 5 * time.Minute

func agentStop(a *console.Console) *cobra.Command {
	var runtime string
	cmd := &cobra.Command{
		Use:   "stop NAME",
		Short: "End an agent of this host, and its container",
		Long: `End an agent, whether c3po agent run looks after it or c3po agent up, whose other
agents go on. A container whose runner is gone is ended too.`,
		Example: `  c3po agent stop reviewer`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), stopTimeout)
			defer cancel()
			cfg, err := withContainers(ctx, a, runtime)
			if err != nil {
				return err
			}
			if err := runner.New(cfg).Stop(ctx, args[0]); err != nil {
				return err
			}
			return a.Show(map[string]string{"stopped": args[0]}, func(w io.Writer) { fmt.Fprintf(w, "stopped %s\n", console.Inline(args[0])) })
		},
	}
	addRuntime(cmd, &runtime)
	return cmd
}

func agentLogs(a *console.Console) *cobra.Command {
	var raw, follow bool
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Show the output of an agent's last run",
		Example: `  c3po agent logs reviewer
  c3po agent logs reviewer --follow`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := runnerConfig(a)
			if err != nil {
				return err
			}
			r := runner.New(cfg)
			file, err := r.OpenLog(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			var from io.Reader = file
			if follow {
				from = &following{file: file, done: func() bool {
					record, err := r.Status(args[0])
					return err != nil || record.State != runner.StateRunning || cmd.Context().Err() != nil
				}}
			}
			if raw || a.JSON {
				_, err = io.Copy(a.Stdout, from)
				return err
			}
			_, err = streamfmt.Copy(a.Stdout, from, streamfmt.Config{Colour: bool(a.Ink())})
			return err
		},
	}
	cmd.Flags().BoolVarP(&raw, "raw", "j", false, "as the program has written it")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run ends")
	return cmd
}

// following reads a file that grows, until it is done and read to its end.
type following struct {
	file *os.File
	done func() bool
}

func (f *following) Read(into []byte) (int, error) {
	for {
		last := f.done()
		n, err := f.file.Read(into)
		if n > 0 || err != nil && err != io.EOF || last {
			return n, err
		}
		time.Sleep(200 * time.Millisecond)
	}
}
