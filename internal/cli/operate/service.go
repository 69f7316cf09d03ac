package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/unit"
)

const (
	// serviceName is what the packages call the coordinator of one person, so that ours
	// takes the place of theirs.
	serviceName  = "c3po-user"
	serviceLabel = "dev.c3po.coordinator"
	// serviceTime is how long a service may take until its coordinator answers.
	serviceTime = 15 * time.Second
)

// A manager is what starts the services of this user.
type manager struct {
	name     string
	file     string                    // that makes the coordinator one
	link     string                    // that switches on a unit which a package brought; empty if there are none
	text     func(unit.Service) string // what is in the file
	present  []string                  // fails where nobody's services are managed
	isActive []string                  // succeeds while the service runs
	start    [][]string                // and again, with what is in the file now
	stop     []string
	remove   []string // before the file is removed
	forget   []string // after
	absent   string   // what to do where it is not
}

// serviceManager is that of a system; false if we know none there.
func serviceManager(a *console.Console, system string) (manager, bool) {
	switch system {
	case "linux":
		config := a.Getenv("XDG_CONFIG_HOME")
		if !filepath.IsAbs(config) {
			config = filepath.Join(a.Home(), ".config")
		}
		units, service := filepath.Join(config, "systemd", "user"), serviceName+".service"
		systemctl := func(args ...string) []string { return append([]string{"systemctl", "--user"}, args...) }
		return manager{
			name: "systemd", file: filepath.Join(units, service), link: filepath.Join(units, "default.target.wants", service), text: unit.Service.Systemd,
			present: systemctl("show-environment"), isActive: systemctl("is-active", "--quiet", service),
			start: [][]string{systemctl("daemon-reload"), systemctl("enable", service), systemctl("restart", service)},
			stop:  systemctl("stop", service), remove: systemctl("disable", "--now", service), forget: systemctl("daemon-reload"),
			absent: "Log in to this machine itself or over ssh, not with su or sudo. Where there is no systemd, have `c3po up --foreground` started by what is there.",
		}, true
	case "darwin":
		domain := "gui/" + strconv.Itoa(os.Getuid())
		at := domain + "/" + serviceLabel
		file := filepath.Join(a.Home(), "Library", "LaunchAgents", serviceLabel+".plist")
		return manager{
			name: "launchd", file: file, text: unit.Service.Launchd,
			present: []string{"launchctl", "print", domain}, isActive: []string{"launchctl", "print", at},
			start: [][]string{{"launchctl", "bootstrap", domain, file}}, stop: []string{"launchctl", "bootout", at}, remove: []string{"launchctl", "bootout", at},
			absent: "Run it in a terminal of the desktop, not over ssh.",
		}, true
	default:
		return manager{}, false
	}
}

// run runs one of its commands.
func (m manager) run(ctx context.Context, command []string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) // #nosec G204 -- one of the few above
	cmd.WaitDelay = time.Second                                 // it may leave something running that holds its output
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return c3po.Errorf(c3po.Internal, "%s: %w: %s", strings.Join(command, " "), err, lines[len(lines)-1]).
		Suggest("Run it by hand to see what it says.")
}

// isInstalled says that the coordinator starts when the user logs in.
func (m manager) isInstalled() bool {
	for _, name := range []string{m.file, m.link} {
		if _, err := os.Lstat(name); name != "" && err == nil {
			return true
		}
	}
	return false
}

// upAsService makes the coordinator a service, and returns when it answers.
func upAsService(a *console.Console, cmd *cobra.Command, state string, s coordinator, prepare func() error) error {
	ctx := cmd.Context()
	m, known := serviceManager(a, runtime.GOOS)
	if !known {
		return c3po.Errorf(c3po.InvalidRequest, "c3po cannot make itself a service on %s", runtime.GOOS).
			Suggest("Have `c3po up --foreground` started by what starts services here.")
	}
	if err := m.run(ctx, m.present); err != nil {
		return c3po.Because(err, c3po.InvalidRequest, "there is no "+m.name+" here that starts services for you").Suggest("%s", m.absent)
	}
	if err := refuseJoined(a); err != nil {
		return err
	}
	running, err := running(ctx, a, state)
	if err != nil {
		return err
	}
	active := m.run(ctx, m.isActive) == nil
	if running != nil && !active {
		return c3po.Errorf(c3po.InvalidRequest, "c3po is already running at %s, and not as a service", running.URL).
			Suggest("Run c3po down first, then the same command again.")
	}
	if err := prepare(); err != nil {
		return err
	}
	service, err := coordinatorService(a, cmd, state)
	if err != nil {
		return err
	}
	text := m.text(service)
	if before, err := os.ReadFile(m.file); err == nil && string(before) == text && running != nil {
		started := start{Coordinator: *running, Already: true, Service: m.file}
		return a.Show(started, started.print)
	}
	return startService(ctx, a, m, text, state)
}

// startService writes the file, starts the service and waits for its coordinator. One
// that does not come is not left behind.
func startService(ctx context.Context, a *console.Console, m manager, text, state string) error {
	if err := os.MkdirAll(filepath.Dir(m.file), 0o700); err != nil {
		return err
	}
	if m.run(ctx, m.isActive) == nil {
		if err := m.run(ctx, m.stop); err != nil {
			return err
		}
	}
	if err := paths.WriteFile(m.file, []byte(text)); err != nil {
		return err
	}
	for _, command := range m.start {
		if err := m.run(ctx, command); err != nil {
			return errors.Join(err, m.removeFile(ctx))
		}
	}
	note, err := awaitCoordinator(ctx, a, m, state)
	if err != nil {
		return errors.Join(err, m.removeFile(context.WithoutCancel(ctx)))
	}
	started := start{Coordinator: *note, Service: m.file}
	return a.Show(started, func(w io.Writer) {
		fmt.Fprintf(w, "wrote %s\n", console.Inline(m.file))
		started.print(w)
		fmt.Fprintln(w, "it starts again when you log in; c3po down --service ends that")
		if m.name == "systemd" && !lingers() {
			fmt.Fprintln(w, "to start it at boot, before you log in: loginctl enable-linger")
		}
	})
}

// awaitCoordinator waits until the coordinator of a service answers, or has ended.
func awaitCoordinator(ctx context.Context, a *console.Console, m manager, state string) (*paths.Coordinator, error) {
	defer a.Waiting("starting the service")()
	limited, cancel := context.WithTimeout(ctx, serviceTime)
	defer cancel()
	for {
		alive := m.run(limited, m.isActive) == nil
		note, err := running(limited, a, state)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case note != nil:
			return note, nil
		case !alive || limited.Err() != nil:
			return nil, c3po.Errorf(c3po.InvalidRequest, "the service did not start, and is removed again: %s", lastWords(state)).
				Suggest("Its log is %s. `c3po up` starts the coordinator without a service.", logName(state))
		case err != nil:
			return nil, err
		}
		select {
		case <-limited.Done():
		case <-time.After(5 * pollEvery):
		}
	}
}

// lastWords is why the coordinator of a state folder has ended, as its log says.
func lastWords(state string) string {
	log, err := endOf(logName(state))
	at := strings.LastIndex(log, "c3po: ")
	if err != nil || at < 0 {
		return "it does not answer"
	}
	why, _, _ := strings.Cut(log[at+len("c3po: "):], "\n")
	return why
}

// lingers says that the user's services run without a login.
func lingers() bool {
	me, err := user.Current()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join("/var/lib/systemd/linger", me.Username))
	return err == nil
}

// removeFile ends the service and takes its file away.
func (m manager) removeFile(ctx context.Context) error {
	// Whatever it says: it may not run, or not be known any more.
	_ = m.run(ctx, m.remove)
	if err := os.Remove(m.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if m.forget != nil {
		_ = m.run(ctx, m.forget)
	}
	return nil
}

// endService stops the service of the coordinator if there is one, and takes it away if
// that is wanted. A coordinator may run without it all the same.
func endService(ctx context.Context, a *console.Console, remove bool, done *end) error {
	m, known := serviceManager(a, runtime.GOOS)
	if !known || !m.isInstalled() {
		return nil
	}
	done.Service, done.Removed = m.file, remove
	done.Coordinator = m.run(ctx, m.isActive) == nil
	switch {
	case remove:
		return m.removeFile(ctx)
	case done.Coordinator:
		return m.run(ctx, m.stop)
	default:
		return nil
	}
}

// coordinatorService is the service, with the settings that were given for it. Those
// in c3po.yaml it reads itself.
func coordinatorService(a *console.Console, cmd *cobra.Command, state string) (unit.Service, error) {
	program, err := os.Executable()
	if err != nil {
		return unit.Service{}, err
	}
	s := unit.Service{
		Name: serviceName, Label: serviceLabel, Description: "c3po coordinator", Program: program, Arguments: []string{"up", "--foreground"},
		Log: logName(state), AlwaysLog: true, StopWithin: downTime, OutlivedBy: "Its Redis", Remove: "c3po down --service",
	}
	for _, name := range []string{"PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		if value := a.Getenv(name); value != "" {
			s.Environment = append(s.Environment, unit.Variable{Name: name, Value: value})
		}
	}
	var secret error
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if from := a.Origins[f.Name].From; from != console.FromFlag && from != console.FromVariable {
			return
		}
		if console.IsSecret(f) || slices.Contains(notifySecrets(), strings.TrimPrefix(f.Name, "notify-")) {
			secret = c3po.Errorf(c3po.InvalidRequest, "the secret in --%s would stand in the file of the service", f.Name).
				Suggest("Write it in c3po.yaml, which the service reads; `c3po config` says where that is.")
		}
		value := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
		}
		s.Arguments = append(s.Arguments, "--"+f.Name+"="+value)
	})
	return s, secret
}
