package operate

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/cli/mail"
	"github.com/c3po-dev/c3po/internal/host/doctor"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/settings"
)

// A diagnosis is what doctor prints as JSON.
type diagnosis struct {
	Verdict  doctor.Verdict   `json:"verdict"`
	Findings []doctor.Finding `json:"findings"`
	Bundle   string           `json:"bundle,omitempty"` // the file that was written
	Contents []string         `json:"contents,omitempty"`
}

func Doctor(a *console.Console) *cobra.Command {
	var security bool
	var bundle string
	cmd := console.WithoutSettings(&cobra.Command{
		Use:   "doctor",
		Short: "Find what is wrong here, and how to mend it",
		Long: `Check this host: the program, its settings and credentials, the coordinator and its
Redis, the token, clocks, versions and disk. It also checks the coding agents that
c3po is installed into, their hooks and sessions, and settings in the current folder
that change them. It sends itself a message. Each check is green, or says what to do.

--security also checks file permissions, who can reach the coordinator, tokens with
more rights than they need, and leftovers. --bundle writes everything, with the ends
of the logs and without secrets, into one archive for a bug report.

The exit code is 0 if all is green, 1 for yellow (it works, but something should be
fixed) and 2 for red. c3po verify tests every delivery path.`,
		Example: `  c3po doctor
  c3po doctor --security
  c3po doctor --bundle report.zip`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var guarded doctor.Exposure
			if security || bundle != "" {
				// Before anything else: c3po sets right what is its own when it uses it.
				guarded.Places = places(a)
			}
			facts := facts(a, cmd)
			d := diagnosis{Findings: doctor.Examine(facts)}
			if security || bundle != "" {
				examineSecurity(a, cmd, &guarded)
				d.Findings = append(d.Findings, doctor.Guard(facts, guarded)...)
			}
			d.Verdict = doctor.Worst(d.Findings)
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if bundle != "" {
				if err := writeBundle(a, cmd, bundle, facts, &d); err != nil {
					return err
				}
			}
			err := a.Show(d, func(w io.Writer) { printDiagnosis(w, a.Ink(), d) })
			if err != nil || d.Verdict == doctor.Green {
				return err
			}
			code := 1
			if d.Verdict == doctor.Red {
				code = 2
			}
			return &console.EndedError{Code: code}
		},
	})
	cmd.Flags().BoolVar(&security, "security", false, "look as well at how safe it is")
	cmd.Flags().StringVar(&bundle, "bundle", "", "write all of it as this archive (.zip), for a bug report")
	return cmd
}

// facts finds out all that doctor judges. What cannot be found out is a fact too.
func facts(a *console.Console, cmd *cobra.Command) doctor.Facts {
	ctx := cmd.Context()
	f := doctor.Facts{Now: time.Now(), Version: a.Version, Program: ownProgram(), OnPath: resolveProgram(exec.LookPath("c3po")), Config: lateSettings(a, cmd)}
	f.Files = secretFiles(a)
	if state, err := a.Folders.State(); err == nil {
		if free, known := paths.FreeDisk(state); known {
			f.Disk = &free
		}
	}
	if project, err := agentside.Project(a); err == nil {
		f.OffHere = a.Folders.Off(project)
		f.Name = c3po.AgentIDFromFolder(filepath.Base(project))
		f.Entries, f.Exposed = projectFiles(a, project)
	}
	if id, err := c3po.ParseAgentID(a.As); err == nil {
		f.Name = id
	}
	f.Clients = examineClients(ctx, a)
	sessions, _ := mail.LocalSessions(ctx, a) // without a folder for sockets there are none
	for _, s := range sessions {
		f.Sessions = append(f.Sessions, doctor.Session{
			Agent: s.Agent, Asked: s.Asked, PID: s.PID, Type: s.Client, Folder: s.Folder, Trouble: s.Trouble, Connected: s.Connected, Hooked: s.LastHook != nil,
		})
	}
	f.Coordinator = examineCoordinator(ctx, a, f.Name)
	return f
}

// lateSettings reads c3po.yaml, which the other commands refuse to start without.
func lateSettings(a *console.Console, cmd *cobra.Command) error {
	path, err := a.Folders.ConfigFile(settings.Name)
	if err != nil {
		return err
	}
	if a.File, err = settings.Read(path, console.FileKeys(cmd.Root())); err != nil {
		return err
	}
	return a.Settle(cmd, nil)
}

func ownProgram() string { return resolveProgram(os.Executable()) }

// resolveProgram is where a program really is; empty if there is none.
func resolveProgram(name string, err error) string {
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	return name
}

// secretFiles are those of this user that hold tokens.
func secretFiles(a *console.Console) []doctor.File {
	var all []doctor.File
	for _, secret := range []struct {
		name string
		read func() error
	}{
		{"credentials.json", func() error { _, err := a.Folders.Credentials(); return err }},
		{"person.json", func() error { _, err := a.Folders.Person(); return err }},
	} {
		path, err := a.Folders.ConfigFile(secret.name)
		if err != nil {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			continue // there is none to be read
		}
		open := runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
		all = append(all, doctor.File{Name: path, Open: open, Err: secret.read()})
	}
	return all
}

func printDiagnosis(w io.Writer, in console.Ink, d diagnosis) {
	for _, f := range d.Findings {
		fmt.Fprintf(w, "%s  %s: %s\n", verdict(in, f.Verdict, fmt.Sprintf("%-6s", f.Verdict)), in.Bold(console.Inline(f.Check)), console.Inline(f.Says))
		if f.Fix != "" {
			fmt.Fprintf(w, "        %s %s\n", in.Warn("fix:"), console.Inline(console.ForPeople(f.Fix)))
		}
	}
	if d.Bundle != "" {
		fmt.Fprintf(w, "wrote %s, without secrets; look through it before you give it away:\n", console.Inline(d.Bundle))
		for _, line := range d.Contents {
			fmt.Fprintf(w, "        %s\n", console.Inline(line))
		}
	}
	fmt.Fprintf(w, "%s: %s\n", verdict(in, d.Verdict, string(d.Verdict)), console.Inline(d.inOneLine()))
}

// inOneLine is what to do first.
func (d diagnosis) inOneLine() string {
	count := map[doctor.Verdict]int{}
	first := map[doctor.Verdict]string{}
	for _, f := range d.Findings {
		count[f.Verdict]++
		if first[f.Verdict] == "" {
			first[f.Verdict] = f.Check
		}
	}
	switch {
	case d.Verdict == doctor.Green:
		return "all is well"
	case count[d.Verdict] == 1:
		return "fix " + first[d.Verdict]
	default:
		return fmt.Sprintf("fix %s first, then the other %d", first[d.Verdict], count[d.Verdict]-1)
	}
}

func verdict(i console.Ink, v doctor.Verdict, text string) string {
	switch v {
	case doctor.Red:
		return i.Bad(text)
	case doctor.Yellow:
		return i.Warn(text)
	default:
		return i.Good(text)
	}
}
