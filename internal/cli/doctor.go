package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/doctor"
	"github.com/c3po-dev/c3po/internal/settings"
	"github.com/c3po-dev/c3po/plugin"
)

// A diagnosis is what doctor prints as JSON.
type diagnosis struct {
	Verdict  doctor.Verdict   `json:"verdict"`
	Findings []doctor.Finding `json:"findings"`
}

func (a *app) doctor() *cobra.Command {
	return withoutSettings(&cobra.Command{
		Use:   "doctor",
		Short: "Look for what is wrong with this host and its coordinator, and say how to mend it",
		Long: `Look for what is wrong: the program and its settings, credentials that others can
read, the coordinator and the Redis behind it, clocks, versions, the coding agents
that c3po is installed into, and their sessions here. For each check it prints a
verdict, and what to do if it is not green.

The exit code is 0 if all is green, 1 for yellow (it works, and something should be
mended) and 2 for red. c3po verify proves that mail arrives.`,
		Example: `  c3po doctor`,
		Args:    arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := diagnosis{Findings: doctor.Examine(a.facts(cmd))}
			d.Verdict = doctor.Worst(d.Findings)
			if err := cmd.Context().Err(); err != nil {
				return err
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
}

// facts finds out all that doctor judges. What cannot be found out is a fact too.
func (a *app) facts(cmd *cobra.Command) doctor.Facts {
	ctx := cmd.Context()
	f := doctor.Facts{Version: a.Version, Program: ownProgram(), OnPath: resolved(exec.LookPath("c3po")), Config: a.lateSettings(cmd)}
	if project, err := a.project(); err == nil {
		f.OffHere = a.folders.Off(project)
	}
	f.Files = a.secretFiles()
	for _, i := range a.installations(ctx) {
		f.Clients = append(f.Clients, i.examined())
	}
	sessions, _ := a.here(ctx) // without a folder for sockets there are none
	for _, s := range sessions {
		if s.Trouble != "" {
			f.Sessions = append(f.Sessions, fmt.Sprintf("%s, pid %d: %s", s.Agent, s.PID, s.Trouble))
		}
	}
	f.Coordinator = a.examineCoordinator(ctx)
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

func ownProgram() string { return resolved(os.Executable()) }

// resolved is where a program really is; empty if there is none.
func resolved(name string, err error) string {
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
	for name, read := range map[string]func() error{
		"credentials.json": func() error { _, err := a.folders.Credentials(); return err },
		"person.json":      func() error { _, err := a.folders.Person(); return err },
	} {
		path, err := a.folders.ConfigFile(name)
		if err != nil {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			continue // there is none to be read
		}
		open := runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
		all = append(all, doctor.File{Name: path, Open: open, Err: read()})
	}
	return all
}

// examined compares what is installed with what this program would install.
func (i installation) examined() doctor.Client {
	c := doctor.Client{Name: i.client, Err: i.err, Installed: i.folder != "", Off: i.off, Fix: i.fix}
	if !c.Installed {
		return c
	}
	_ = fs.WalkDir(plugin.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		want, err := plugin.Files.ReadFile(name)
		if have, missing := os.ReadFile(filepath.Join(i.folder, name)); missing != nil || !bytes.Equal(have, want) {
			c.Stale = append(c.Stale, name)
		}
		return err
	})
	named, _ := os.ReadFile(filepath.Join(i.folder, "bin", "binary"))
	for _, program := range []string{strings.TrimSpace(string(named)), "c3po"} { // as bin/launch looks for it
		if found, err := exec.LookPath(program); err == nil && c.Binary == "" {
			c.Binary = found
		}
	}
	return c
}

// pings are how many calls the fastest is taken of.
const pings = 3

func (a *app) examineCoordinator(ctx context.Context) doctor.Coordinator {
	var c doctor.Coordinator
	cfg, err := a.clientConfig("")
	c.URL = client.New(cfg).URL()
	if err != nil {
		c.Err = err
		return c
	}
	svc := client.New(cfg)
	if _, c.Err = svc.Health(ctx); c.Err != nil {
		return c
	}
	info, err := svc.ServerInfo(ctx, c3po.None{})
	if err != nil {
		c.Why = err
		return c
	}
	c.Info = &info
	for range pings {
		began := time.Now()
		pong, err := svc.Ping(ctx, c3po.None{})
		took := time.Since(began)
		if err == nil && (c.Round == 0 || took < c.Round) {
			c.Round, c.Skew = took, pong.Timestamp.Sub(began.Add(took/2))
		}
	}
	if audit, err := svc.Fsck(ctx, c3po.None{}); err == nil {
		c.Audit = &audit
	}
	return c
}

func printDiagnosis(w io.Writer, in ink, d diagnosis) {
	for _, f := range d.Findings {
		fmt.Fprintf(w, "%s  %s: %s\n", in.verdict(f.Verdict, fmt.Sprintf("%-6s", f.Verdict)), in.bold(inline(f.Check)), inline(f.Says))
		if f.Fix != "" {
			fmt.Fprintf(w, "        %s %s\n", in.warn("fix:"), inline(f.Fix))
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
