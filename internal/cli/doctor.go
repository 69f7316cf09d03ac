package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
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

func (a *app) doctor() *cobra.Command {
	var security bool
	var bundle string
	cmd := withoutSettings(&cobra.Command{
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
				guarded.Places = a.places()
			}
			facts := a.facts(cmd)
			d := diagnosis{Findings: doctor.Examine(facts)}
			if security || bundle != "" {
				a.examineSecurity(cmd, &guarded)
				d.Findings = append(d.Findings, doctor.Guard(facts, guarded)...)
			}
			d.Verdict = doctor.Worst(d.Findings)
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if bundle != "" {
				if err := a.writeBundle(cmd, bundle, facts, &d); err != nil {
					return err
				}
			}
			err := a.show(d, func(w io.Writer) { printDiagnosis(w, a.ink(), d) })
			if err != nil || d.Verdict == doctor.Green {
				return err
			}
			code := 1
			if d.Verdict == doctor.Red {
				code = 2
			}
			return &endedError{code: code}
		},
	})
	cmd.Flags().BoolVar(&security, "security", false, "look as well at how safe it is")
	cmd.Flags().StringVar(&bundle, "bundle", "", "write all of it as this archive (.zip), for a bug report")
	return cmd
}

// facts finds out all that doctor judges. What cannot be found out is a fact too.
func (a *app) facts(cmd *cobra.Command) doctor.Facts {
	ctx := cmd.Context()
	f := doctor.Facts{Now: time.Now(), Version: a.Version, Program: ownProgram(), OnPath: resolveProgram(exec.LookPath("c3po")), Config: a.lateSettings(cmd)}
	f.Files = a.secretFiles()
	if state, err := a.folders.State(); err == nil {
		if free, known := paths.FreeDisk(state); known {
			f.Disk = &free
		}
	}
	if project, err := a.project(); err == nil {
		f.OffHere = a.folders.Off(project)
		f.Name = c3po.AgentIDFromFolder(filepath.Base(project))
		f.Entries, f.Exposed = a.projectFiles(project)
	}
	if id, err := c3po.ParseAgentID(a.as); err == nil {
		f.Name = id
	}
	f.Clients = a.examineClients(ctx)
	sessions, _ := a.localSessions(ctx) // without a folder for sockets there are none
	for _, s := range sessions {
		f.Sessions = append(f.Sessions, doctor.Session{
			Agent: s.Agent, Asked: s.Asked, PID: s.PID, Type: s.Client, Folder: s.Folder, Trouble: s.Trouble, Connected: s.Connected, Hooked: s.LastHook != nil,
		})
	}
	f.Coordinator = a.examineCoordinator(ctx, f.Name)
	return f
}

// lateSettings reads c3po.yaml, which the other commands refuse to start without.
func (a *app) lateSettings(cmd *cobra.Command) error {
	path, err := a.folders.ConfigFile(settings.Name)
	if err != nil {
		return err
	}
	if a.file, err = settings.Read(path, fileKeys(cmd.Root())); err != nil {
		return err
	}
	return a.settle(cmd, nil)
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
func (a *app) secretFiles() []doctor.File {
	var all []doctor.File
	for _, secret := range []struct {
		name string
		read func() error
	}{
		{"credentials.json", func() error { _, err := a.folders.Credentials(); return err }},
		{"person.json", func() error { _, err := a.folders.Person(); return err }},
	} {
		path, err := a.folders.ConfigFile(secret.name)
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

func printDiagnosis(w io.Writer, in ink, d diagnosis) {
	for _, f := range d.Findings {
		fmt.Fprintf(w, "%s  %s: %s\n", in.verdict(f.Verdict, fmt.Sprintf("%-6s", f.Verdict)), in.bold(inline(f.Check)), inline(f.Says))
		if f.Fix != "" {
			fmt.Fprintf(w, "        %s %s\n", in.warn("fix:"), inline(f.Fix))
		}
	}
	if d.Bundle != "" {
		fmt.Fprintf(w, "wrote %s, without secrets; look through it before you give it away:\n", inline(d.Bundle))
		for _, line := range d.Contents {
			fmt.Fprintf(w, "        %s\n", inline(line))
		}
	}
	fmt.Fprintf(w, "%s\n", in.verdict(d.Verdict, string(d.Verdict)))
}

func (i ink) verdict(v doctor.Verdict, text string) string {
	switch v {
	case doctor.Red:
		return i.bad(text)
	case doctor.Yellow:
		return i.warn(text)
	default:
		return i.good(text)
	}
}
