package operate

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/reach"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// coordinator is what a coordinator is told when it is started.
type coordinator struct {
	listen   string
	redis    string
	sends    int
	budgets  string
	logLevel string
	auth     string
	outside  outside
	notify   notifying
	export   exporting
	beside   string // where c3po up of this user runs, whose credentials are to be kept
	keptFrom string // the file that listen was kept in by an earlier c3po up
}

func (s *coordinator) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.listen, "listen", server.DefaultListen, "address to listen on; without one, the next free port if it is taken")
	flags.StringVar(&s.redis, "redis", "", "redis://, rediss:// or unix:// address; several, separated by commas, for a Cluster")
	flags.IntVar(&s.sends, "sends-per-minute", c3po.DefaultLimits().SendsPerMinute, "how many messages an agent may send; 0 for any number")
	flags.StringVar(&s.budgets, "budgets", "on", "on, or off for a coordinator that ends no loops of agents")
	flags.StringVar(&s.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&s.auth, "auth", string(auth.Tokens), "token, or none for a network whose every user is trusted")
	console.Setting(flags, "auth", "C3PO_AUTH", "auth")
	console.Setting(flags, "listen", "C3PO_LISTEN", "listen")
	console.Setting(flags, "redis", "REDIS_URL", "redis")
	console.Setting(flags, "sends-per-minute", "C3PO_SENDS_PER_MINUTE", "limits.sends_per_minute")
	console.Setting(flags, "budgets", "C3PO_BUDGETS", "budgets")
	console.Setting(flags, "log-level", "C3PO_LOG_LEVEL", "log_level")
	s.outside.flags(cmd)
	s.notify.flags(cmd)
	s.export.flags(cmd)
}

// variables hands the settings to a process that is about to start. They are
// not arguments: the address of a Redis can hold its password, and everybody
// can read the arguments of a process.
func (s *coordinator) variables() []string {
	return append(slices.Concat(s.outside.variables(), s.notify.variables(), s.export.variables()),
		"C3PO_AUTH="+s.auth,
		"C3PO_LISTEN="+s.listen,
		"REDIS_URL="+s.redis,
		"C3PO_SENDS_PER_MINUTE="+strconv.Itoa(s.sends),
		"C3PO_BUDGETS="+s.budgets,
		"C3PO_LOG_LEVEL="+s.logLevel,
	)
}

func (s *coordinator) check(a *console.Console) error {
	if _, err := auth.ParseMode(s.auth); err != nil {
		return console.BadUsage(err.Error(), c3po.AsError(err).Suggestion)
	}
	if err := checkListen(s.listen); err != nil {
		return err
	}
	if s.redis != "" {
		if err := server.CheckRedis(s.redis); err != nil {
			return console.Misspelled(err)
		}
	}
	if s.sends < 0 {
		return console.BadUsage(fmt.Sprintf("--sends-per-minute is %d", s.sends), "It must be 0, which is no limit, or more.")
	}
	if s.budgets != "on" && s.budgets != "off" {
		return console.BadUsage(fmt.Sprintf("--budgets is on or off, not %q", s.budgets), "Single budgets are set under limits: in c3po.yaml.")
	}
	if err := new(slog.Level).UnmarshalText([]byte(s.logLevel)); err != nil {
		return console.BadUsage(fmt.Sprintf("there is no log level %q", s.logLevel), "Use debug, info, warn or error.")
	}
	if err := s.notify.check(); err != nil {
		return err
	}
	if err := s.export.read(a.Getenv); err != nil {
		return err
	}
	return s.outside.check()
}

// log writes JSON lines, with durations as a person reads them. check has seen the level.
func (s *coordinator) log(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.logLevel))
	return slog.New(legible{slog.NewJSONHandler(sanitise.Log(w), &slog.HandlerOptions{Level: level})})
}

// legible writes durations as a person reads them. Most lines have none, and ReplaceAttr
// would look at every part of each line.
type legible struct{ slog.Handler }

func (l legible) Handle(ctx context.Context, line slog.Record) error {
	lasts := false
	line.Attrs(func(a slog.Attr) bool {
		lasts = a.Value.Kind() == slog.KindDuration
		return !lasts
	})
	if !lasts {
		return l.Handler.Handle(ctx, line)
	}
	spelt := slog.NewRecord(line.Time, line.Level, line.Message, line.PC)
	line.Attrs(func(a slog.Attr) bool {
		if a.Value.Kind() == slog.KindDuration {
			a.Value = slog.StringValue(a.Value.Duration().String())
		}
		spelt.AddAttrs(a)
		return true
	})
	return l.Handler.Handle(ctx, spelt)
}

func (l legible) WithAttrs(attrs []slog.Attr) slog.Handler {
	return legible{l.Handler.WithAttrs(attrs)}
}

func (l legible) WithGroup(name string) slog.Handler { return legible{l.Handler.WithGroup(name)} }

// limits are those of the file, and those that are flags as well.
func (s *coordinator) limits(a *console.Console) c3po.Limits {
	limits := a.File.Limits()
	if s.budgets == "off" {
		limits = limits.Unbudgeted()
	}
	limits.SendsPerMinute = s.sends
	return limits
}

// run is the coordinator itself.
func (s *coordinator) run(ctx context.Context, a *console.Console, socket string, log *slog.Logger, ready func(url string)) error {
	config, err := a.Folders.Config()
	if err != nil {
		return err
	}
	cfg := server.Config{
		Listen: s.listen, Socket: socket, Auth: auth.Mode(s.auth), Config: config, Beside: s.beside, RedisURL: s.redis, Limits: s.limits(a), Version: a.Version, Commit: a.Commit, Started: engine.Started, Lineage: engine.Lineage, Personal: engine.Personal, Stopped: engine.Stopped, Log: log, Now: a.Now,
	}
	s.outside.into(&cfg)
	cfg.Telemetry = s.export.Config
	cfg.Notify, _ = s.notify.config() // check has seen it
	defer runtime.KeepAlive(server.Headroom())
	return nameHolder(s.listen, server.Run(ctx, cfg, func(addr string) { ready(cfg.URL(addr)) }))
}

// inviteHere is the command that lets another host join, as it is typed on this
// machine: where the coordinator is in a container, through what runs that.
func inviteHere(a *console.Console) string {
	const command = "c3po invite --host NAME"
	runtime := ""
	if _, err := os.Stat("/.dockerenv"); err == nil {
		runtime = "docker"
	} else if a.Getenv("container") == "podman" {
		runtime = "podman"
	}
	// A container is called what its host name is, unless somebody gave it another.
	name, err := os.Hostname()
	if runtime == "" || err != nil {
		return command
	}
	return runtime + " exec " + name + " " + command
}

// serveSocket is where the programs of this user reach a coordinator that serve
// runs. There may be several. Without a place for it there is only the address.
func serveSocket(a *console.Console, s coordinator, log *slog.Logger) string {
	if person, err := a.Folders.Person(); s.auth == string(auth.None) && err == nil && person == nil {
		return "" // nobody has a token to keep
	}
	socket, err := a.Folders.Socket(fmt.Sprintf(reach.ServeSocketName, os.Getpid()))
	if err != nil {
		log.Warn("no socket for the programs of this user; a person's token is accepted at the address", "err", err)
		return ""
	}
	return socket
}

func Serve(a *console.Console) *cobra.Command {
	var s coordinator
	var profile string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a coordinator on your own Redis",
		Long: `Run a coordinator on your own Redis, in the foreground, until it is interrupted.
Any number of them can share one Redis. c3po up brings its own Redis; beside one
that runs, serve keeps its credentials, and refuses a Redis for which they are not
good.`,
		Example: `  c3po serve --redis redis://127.0.0.1:6379`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.redis == "" {
				return console.BadUsage("serve needs to know where Redis is", "Give --redis or set REDIS_URL; c3po up starts a Redis by itself.")
			}
			if err := s.check(a); err != nil {
				return err
			}
			s.leaveAddress(a)
			var err error
			if s.redis, err = openRedis(a, s.redis); err != nil {
				return err
			}
			if state, err := a.Folders.StateFile(""); err == nil {
				if other, err := running(cmd.Context(), a, state); err == nil && other != nil {
					s.beside = other.URL
				}
			}
			stop, err := profileInto(profile)
			if err != nil {
				return err
			}
			defer stop()
			log := s.log(a.Stderr)
			return s.run(cmd.Context(), a, serveSocket(a, s, log), log, func(url string) {
				warnOfOtherPort(a, s, url)
				// Nobody may be reading.
				_ = a.Show(map[string]string{"url": url}, func(w io.Writer) {
					fmt.Fprintf(w, "c3po listens on %s\n", url)
					if host, _, err := net.SplitHostPort(s.listen); err == nil && !auth.Loopback(host) {
						fmt.Fprintf(w, "let another host join with: %s\n", inviteHere(a))
					}
				})
			})
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&profile, "cpu-profile", "", "write into this file where the processor's time goes: for tools/bench")
	_ = cmd.Flags().MarkHidden("cpu-profile") // it fails for a flag that is not there
	return cmd
}

// profileInto profiles the processor's time until stop is called, unless no file is named.
func profileInto(name string) (stop func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		file.Close()
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		file.Close()
	}, nil
}
