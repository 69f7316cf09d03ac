package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/ops/backup"
)

func Backup(a *console.Console) *cobra.Command {
	var flags writeFlags
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Keep everything the coordinator knows in one file",
		Long: `Keep everything the coordinator knows in one file: mail, agents, rooms, tokens.
Nobody is held up, and a coordinator may run. The file is loaded into a throw-away
Redis and its books are gone through before it is called verified. - is standard
output. A file that is there already stays as it is unless --force is given.

Whoever has the file can read the mail and pass for the coordinator: keep it where
nobody else can read it.`,
		Example: `  c3po backup mail.c3po`,
		RunE: writeFile(a, &flags, false, "backing up", func(ctx context.Context, url string, out io.Writer) (backup.Manifest, bool, error) {
			made, err := backup.Make(ctx, backupConfig(a, url), out)
			return made, made.Verified && len(made.Spaces) == 0, err
		}, printBackup),
	}
	flags.add(cmd)
	return cmd
}

func Restore(a *console.Console) *cobra.Command {
	var redis string
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup into an empty Redis",
		Long: `Restore a backup into a Redis without c3po data: this machine's while the
coordinator is down, or yours (--redis). The tokens and the certificate come back
too, so hosts that had joined need not join again.

What was sent after the backup was made is lost. Every space begins a new epoch, so
that agents look anew and no number is given twice. - is standard input.`,
		Example: `  c3po restore mail.c3po --redis redis://127.0.0.1:6379`,
		RunE: readFile(a, &redis, true, "backup", "restoring", func(ctx context.Context, url string, in io.Reader) (backup.Restored, error) {
			return backup.Restore(ctx, backupConfig(a, url), in)
		}, func(w io.Writer, done backup.Restored) {
			fmt.Fprintf(w, "restored what was kept at %s\n", done.Manifest.Made.Local().Format(time.DateTime))
			printSpaces(w, done.Spaces)
		}),
	}
	redisFlag(cmd, &redis)
	return cmd
}

// writeFlags are those of a command that writes what a Redis holds into a file.
type writeFlags struct {
	redis string
	force bool
}

func (f *writeFlags) add(cmd *cobra.Command) {
	redisFlag(cmd, &f.redis)
	cmd.Flags().BoolVar(&f.force, "force", false, "replace the file if it is there already")
}

// writeFile is a command that writes what a Redis holds into the file it is given; quiet
// says that no coordinator of this user may run meanwhile.
func writeFile[Out any](a *console.Console, flags *writeFlags, quiet bool, activity string, write func(context.Context, string, io.Writer) (done Out, empty bool, err error), print func(io.Writer, string, Out)) console.Doing {
	return func(cmd *cobra.Command, args []string) error {
		if _, err := os.Lstat(args[0]); err == nil && args[0] != "-" && !flags.force {
			return alreadyThere(args[0])
		}
		return withQuietRedis(cmd.Context(), a, flags.redis, quiet, func(url string) error {
			stop := a.Waiting(activity)
			defer stop()
			var done Out
			err := into(a, args[0], flags.force, func(out io.Writer) error {
				written, empty, err := write(cmd.Context(), url, out)
				if err == nil && empty {
					err = c3po.Errorf(c3po.InvalidRequest, "this Redis holds nothing of c3po").Suggest("Say with --redis which one does.")
				}
				done = written
				return err
			})
			stop()
			if err != nil {
				return err
			}
			if args[0] == "-" { // standard output is taken
				print(a.Stderr, args[0], done)
				return nil
			}
			return a.Show(done, func(w io.Writer) { print(w, args[0], done) })
		})
	}
}

// readFile is a command that puts into a Redis what another command wrote.
func readFile[Out any](a *console.Console, redis *string, quiet bool, writer, activity string, read func(context.Context, string, io.Reader) (Out, error), print func(io.Writer, Out)) console.Doing {
	return func(cmd *cobra.Command, args []string) error {
		return withQuietRedis(cmd.Context(), a, *redis, quiet, func(url string) error {
			in, err := outOf(a, args[0], writer)
			if err != nil {
				return err
			}
			defer in.Close()
			stop := a.Waiting(activity)
			done, err := read(cmd.Context(), url, in)
			stop()
			if err != nil {
				return err
			}
			return a.Show(done, func(w io.Writer) { print(w, done) })
		})
	}
}

// withQuietRedis is withRedis; a private one may be wanted without its coordinator.
func withQuietRedis(ctx context.Context, a *console.Console, named string, quiet bool, do func(url string) error) error {
	if quiet && named == "" {
		release, err := lockOutCoordinators(ctx, a)
		if err != nil {
			return err
		}
		defer release()
	}
	return withRedis(ctx, a, named, do)
}

// outOf opens what the command wrote; - is standard input.
func outOf(a *console.Console, name, command string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.Stdin), nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, c3po.Errorf(c3po.InvalidRequest, "cannot read the %s: %w", command, err).Suggest("Name the file that c3po %s wrote.", command)
	}
	return file, nil
}

func redisFlag(cmd *cobra.Command, redis *string) {
	cmd.Flags().StringVar(redis, "redis", "", "address of the Redis; default: the one that c3po up starts here")
	console.Setting(cmd.Flags(), "redis", "REDIS_URL", "redis")
}

func backupConfig(a *console.Console, url string) backup.Config {
	return backup.Config{RedisURL: url, Version: a.Version, Now: clock(a)}
}

func clock(a *console.Console) func() time.Time {
	if a.Now == nil {
		return time.Now
	}
	return a.Now
}

func printBackup(w io.Writer, file string, made backup.Manifest) {
	if !made.Verified {
		fmt.Fprintf(w, "wrote %s, but could not verify it: neither redis-server nor valkey-server is installed here\n", console.Inline(file))
		return
	}
	fmt.Fprintf(w, "wrote %s, and verified it\n", console.Inline(file))
	printSpaces(w, made.Spaces)
}

func printSpaces(w io.Writer, spaces []backup.Space) {
	for _, s := range spaces {
		fmt.Fprintf(w, "space %s: %s, %s, %d of them open\n", console.Inline(string(s.Space)), console.CountOf(int(s.Agents), "agent"), console.CountOf(int(s.Sent), "message"), s.Pending)
	}
}

// lockOutCoordinators makes sure that no coordinator of this user runs, and that none starts.
func lockOutCoordinators(ctx context.Context, a *console.Console) (release func() error, err error) {
	state, err := a.Folders.State()
	if err != nil {
		return nil, err
	}
	lock, other, err := claim(ctx, a, state)
	if err != nil {
		return nil, err
	}
	if other != nil {
		return nil, c3po.Errorf(c3po.InvalidRequest, "c3po is running at %s", other.URL).Suggest("Run `c3po down` first.")
	}
	return lock.Release, nil
}

// withRedis hands over the Redis that was named, or the private one of this
// user, which ends again if it did not run before.
func withRedis(ctx context.Context, a *console.Console, named string, do func(url string) error) (err error) {
	if named != "" {
		if named, err = openRedis(a, named); err != nil {
			return err
		}
		return do(named)
	}
	state, err := a.Folders.State()
	if err != nil {
		return err
	}
	if note, err := running(ctx, a, state); err != nil {
		return err
	} else if note != nil && note.RedisSocket == "" {
		return c3po.Errorf(c3po.InvalidRequest, "the coordinator that runs here uses your own Redis").Suggest("Say which with --redis.")
	}
	agents, person, err := a.Elsewhere()
	if err != nil {
		return err
	}
	if at := cmp.Or(agents, person); at != "" && !agentside.IsThere(filepath.Join(state, "redis")) {
		return c3po.Errorf(c3po.InvalidRequest, "the coordinator is at %s, and so is its Redis", at).
			Suggest("Run the command there, or say with --redis which Redis you mean.")
	}
	cfg, err := engineConfig(a, state, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	private, err := engine.Start(ctx, cfg)
	if err != nil {
		return err
	}
	if private.New {
		defer func() {
			_, stopped := engine.Stop(context.WithoutCancel(ctx), cfg)
			err = errors.Join(err, stopped)
		}()
	}
	return do(private.URL())
}

func alreadyThere(name string) error {
	return c3po.Errorf(c3po.InvalidRequest, "%s is there already, and nothing was written", name).Suggest("Name another file, or replace it with --force.")
}

// into writes a file that is whole or not there, readable by its owner alone. It
// replaces one that is there only if it is told to.
func into(a *console.Console, name string, replace bool, write func(io.Writer) error) (err error) {
	if name == "-" {
		return write(a.Stdout)
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".c3po-*") // 0600
	if err != nil {
		return c3po.Errorf(c3po.InvalidRequest, "cannot write %s: %w", name, err).Suggest("Name a file in a folder you may write to.")
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	if err := errors.Join(write(file), file.Sync(), file.Close()); err != nil {
		return err
	}
	if replace {
		return os.Rename(file.Name(), name)
	}
	// A link, unlike a new name, replaces nothing that has come meanwhile.
	switch err := os.Link(file.Name(), name); {
	case err == nil:
		return os.Remove(file.Name())
	case errors.Is(err, fs.ErrExist):
		return alreadyThere(name)
	default: // a file system without links
		return os.Rename(file.Name(), name)
	}
}
