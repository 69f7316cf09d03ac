package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/server"
)

// settings are those of a coordinator.
type settings struct {
	listen   string
	redis    string
	sends    int
	logLevel string
}

func (s *settings) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.listen, "listen", server.DefaultListen, "address to listen on; the next free port if it is taken")
	flags.StringVar(&s.redis, "redis", "", "redis://, rediss:// or unix:// address; several, separated by commas, for a Cluster")
	flags.IntVar(&s.sends, "sends-per-minute", c3po.DefaultLimits().SendsPerMinute, "how many messages an agent may send; 0 for any number")
	flags.StringVar(&s.logLevel, "log-level", "info", "debug, info, warn or error")
	variable(flags, "listen", "C3PO_LISTEN")
	variable(flags, "redis", "REDIS_URL")
	variable(flags, "sends-per-minute", "C3PO_SENDS_PER_MINUTE")
	variable(flags, "log-level", "C3PO_LOG_LEVEL")
}

// variables hands the settings to a process that is about to start. They are
// not arguments: the address of a Redis can hold its password, and everybody
// can read the arguments of a process.
func (s *settings) variables() []string {
	return []string{
		"C3PO_LISTEN=" + s.listen,
		"REDIS_URL=" + s.redis,
		"C3PO_SENDS_PER_MINUTE=" + strconv.Itoa(s.sends),
		"C3PO_LOG_LEVEL=" + s.logLevel,
	}
}

func (s *settings) check() error {
	if s.sends < 0 {
		return &usageError{fmt.Sprintf("--sends-per-minute %d is less than none", s.sends), "Give a number from 0; 0 is no limit."}
	}
	if err := new(slog.Level).UnmarshalText([]byte(s.logLevel)); err != nil {
		return &usageError{fmt.Sprintf("there is no log level %q", s.logLevel), "Use debug, info, warn or error."}
	}
	return nil
}

// log writes JSON lines. check has seen the level.
func (s *settings) log(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.logLevel))
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
}

// run is the coordinator itself.
func (s *settings) run(ctx context.Context, a *app, log *slog.Logger, ready func(url string)) error {
	limits := c3po.DefaultLimits()
	limits.SendsPerMinute = s.sends
	return server.Run(ctx, server.Config{
		Listen: s.listen, RedisURL: s.redis, Limits: limits, Version: a.Version, Commit: a.Commit, Log: log,
	}, func(addr string) { ready("http://" + addr) })
}

func (a *app) serve() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a coordinator on a Redis of yours",
		Long: `Run a coordinator on a Redis of yours, in the foreground, until it is interrupted.
Any number of them can share one Redis. c3po up needs no Redis of yours.`,
		Example: `  c3po serve --redis redis://127.0.0.1:6379`,
		Args:    arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.redis == "" {
				return &usageError{"serve needs to know where Redis is", "Give --redis or set REDIS_URL; c3po up starts a Redis by itself."}
			}
			if err := s.check(); err != nil {
				return err
			}
			return s.run(cmd.Context(), a, s.log(a.Stderr), func(url string) {
				fmt.Fprintf(a.Stdout, "c3po listens on %s\n", url)
			})
		},
	}
	s.flags(cmd)
	return cmd
}
