package operate

import (
	"bytes"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/doctor"
)

// logEnd is how much of a log is worth giving away: its end.
const logEnd = 256 << 10

// writeBundle writes what was found out as one archive, and says so in d.
func writeBundle(a *console.Console, cmd *cobra.Command, name string, facts doctor.Facts, d *diagnosis) (err error) {
	all := []doctor.Document{{Name: "doctor.txt", About: "the findings of c3po doctor", Text: diagnosisText(a, *d)}}
	for _, c := range []struct{ name, about, command string }{
		{"version.json", "this program", "version"},
		{"config.json", "the settings, and where each comes from", "config"},
		{"status.json", "the coordinator and its Redis", "status"},
		{"fsck.json", "the counts of messages", "fsck"},
		{"instances.json", "the sessions on this host", "instances"},
	} {
		all = append(all, doctor.Document{Name: c.name, About: c.about, Text: runForJSON(a, cmd, c.command)})
	}
	all = append(all, doctor.Document{Name: "environment.txt", About: "the variables that c3po reads", Text: environment(a)})
	if state, err := a.Folders.State(); err == nil {
		for _, log := range []struct{ name, about, file string }{
			{"coordinator.log", "the end of the coordinator's log", logName(state)},
			{"redis.log", "the end of the log of its Redis", filepath.Join(state, "redis", "redis.log")},
		} {
			if text, err := endOf(log.file); err == nil {
				all = append(all, doctor.Document{Name: log.name, About: log.about, Text: text})
			}
		}
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		hint := "Name a file in a folder that you can write to."
		if errors.Is(err, fs.ErrExist) {
			hint = "Name another file, or remove that one."
		}
		return c3po.Errorf(c3po.InvalidRequest, "cannot write %s: %w", name, err).Suggest("%s", hint)
	}
	mask := doctor.NewMask(a.Home(), secrets(a)...)
	if err := errors.Join(doctor.Bundle(file, facts.Now, mask, all), file.Close()); err != nil {
		return c3po.Errorf(c3po.Internal, "cannot write %s: %w", name, err).Suggest("Check the space on its disk.")
	}
	d.Bundle = name
	for _, doc := range all {
		d.Contents = append(d.Contents, doc.Name+": "+doc.About)
	}
	return nil
}

func diagnosisText(a *console.Console, d diagnosis) string {
	var text bytes.Buffer
	printDiagnosis(&text, false, d)
	return text.String()
}

// runForJSON is what another command prints as JSON here.
func runForJSON(a *console.Console, cmd *cobra.Command, command string) string {
	var out bytes.Buffer
	p := a.Process
	p.Name, p.Args, p.Stdin, p.Stdout, p.Stderr = "", []string{command, "--json"}, strings.NewReader(""), &out, &out
	if a.URL != "" {
		p.Args = append(p.Args, "--url", a.URL)
	}
	a.Again(cmd.Context(), p)
	return out.String()
}

// environment is what we read from it.
func environment(a *console.Console) string {
	var lines []string
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		for _, prefix := range []string{"C3PO_", "BRIDGE_", "XDG_", "REDIS_URL", "CLAUDE_PROJECT_DIR", "CODEX_HOME", "PATH", "HOME", "TMPDIR"} {
			if !strings.HasPrefix(name, prefix) {
				continue
			}
			if a.Getenv(name) != value {
				break // this run was given another environment
			}
			lines = append(lines, name+"="+value)
			break
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// secrets are those of this host, as far as they are known.
func secrets(a *console.Console) []string {
	all := []string{a.Getenv(console.TokenVariable)}
	if mine, err := a.Folders.Credentials(); err == nil && mine != nil {
		all = append(all, mine.Token, mine.Runner)
	}
	if mine, err := a.Folders.Person(); err == nil && mine != nil {
		all = append(all, mine.Human, mine.Admin)
	}
	for _, address := range strings.Split(settingHere(a, "redis", "REDIS_URL"), ",") {
		if at, err := url.Parse(address); err == nil {
			password, _ := at.User.Password()
			all = append(all, password)
		}
	}
	for _, name := range notifySecrets() {
		value := settingHere(a, "notify."+name, "C3PO_NOTIFY_"+strings.ToUpper(name))
		all = append(all, value)
		// Who knows the path can write there, or read.
		if at, err := url.Parse(value); err == nil {
			all = append(all, strings.Trim(at.Path, "/"), at.RawQuery)
		}
	}
	return all
}

// endOf is the last part of a file, from the begin of a line on.
func endOf(name string) (string, error) {
	text, err := os.ReadFile(name)
	if len(text) > logEnd {
		text = text[len(text)-logEnd:]
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return string(text), err
}
