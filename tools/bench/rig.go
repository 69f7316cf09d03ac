package bench

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
)

const (
	// startTimeout is how long a process may take to be ready.
	startTimeout = 20 * time.Second
	pollEvery    = 10 * time.Millisecond
	// eraseTimeout is how long it may take to remove what was measured with.
	eraseTimeout = 30 * time.Second
)

// A setup is a Redis to measure, and what it takes to put coordinators on it.
type setup struct {
	cfg      Config
	dir      string
	redis    *child // nil if it is not ours
	redisURL string
	store    *redisstore.Store
}

func newSetup(ctx context.Context, cfg Config) (*setup, error) {
	dir, err := os.MkdirTemp("", "c3po-bench-")
	if err != nil {
		return nil, err
	}
	r := &setup{cfg: cfg, dir: dir, redisURL: cfg.RedisURL}
	if r.redisURL == "" {
		err = r.startRedis()
	}
	if err == nil {
		r.store, err = r.openStore(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// close ends what was started and removes its files.
func (r *setup) close() error {
	if r.store != nil {
		r.store.Close()
	}
	if r.redis != nil {
		// Nobody wants what is in it.
		r.redis.kill()
	}
	return os.RemoveAll(r.dir)
}

// startRedis starts one that keeps its word as that of `c3po up` does, and is
// forgotten afterwards.
func (r *setup) startRedis() error {
	program, err := engine.Program()
	if err != nil {
		return err
	}
	socket := filepath.Join(r.dir, "redis.sock")
	r.redisURL = "unix://" + socket
	r.redis, err = startChild(exec.Command(program, "--port", "0", "--unixsocket", socket, "--dir", r.dir, "--daemonize", "no",
		"--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction", "--save", "",
		// A rewrite would fall on one door and not on another.
		"--auto-aof-rewrite-percentage", "0", "--logfile", filepath.Join(r.dir, "redis.log")))
	return err
}

// openStore waits for a Redis that was just started.
func (r *setup) openStore(ctx context.Context) (*redisstore.Store, error) {
	for deadline := time.Now().Add(startTimeout); ; {
		store, err := redisstore.Open(ctx, redisstore.Config{URL: r.redisURL, Limits: c3po.DefaultLimits().Unbudgeted()})
		if err == nil || r.redis == nil || r.redis.hasEnded() || time.Now().After(deadline) {
			return store, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

// round measures one door once, in a space of its own.
func (r *setup) round(ctx context.Context, cfg Config, door string, number int) (s sample, err error) {
	space := c3po.Space("bench-" + strings.ToLower(rand.Text()[:12]))
	defer func() { err = errors.Join(err, r.clear(ctx, space)) }()
	st := stage{cfg: cfg}
	for _, part := range st.parts() {
		if err := r.register(ctx, space, scenarioOf(part.cfg.Scenario).cast(part)); err != nil {
			return sample{}, err
		}
	}
	// What was opened for this round is closed with it.
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	processes := map[string]int{ProcessBench: os.Getpid()}
	if r.redis != nil {
		processes[ProcessRedis] = r.redis.pid()
	}
	m := measurement{length: cfg.slice(), most: maxRoundBytes / cfg.Size, processes: processes}
	profile := ""
	if cfg.Profile != "" {
		profile = filepath.Join(cfg.Profile, fmt.Sprintf("%s-%s-%d", cfg.Scenario, door, number))
		m.watch = func() (func(int) error, error) { return r.watchRedis(ctx, profile) }
	}
	if door == Redis {
		durability, err := r.store.Durability(ctx)
		if err != nil {
			return sample{}, err
		}
		b := newBare(r.store, space, durability)
		if err := b.listen(ctx); err != nil {
			return sample{}, err
		}
		st.open = b.open
	} else {
		c, err := r.startCoordinator(ctx, profile)
		if err != nil {
			return sample{}, err
		}
		defer c.stop()
		processes[ProcessCoordinator] = c.pid()
		_, address, _ := strings.Cut(c.url, "://")
		way := &web{address: address, space: space, mcp: door == MCP}
		st.open = way.open
		if cfg.Scenario == Waiters {
			if m.settle, st.begin, err = sleepers(ctx, way, cfg.Concurrency, processes[ProcessCoordinator]); err != nil {
				return sample{}, err
			}
		}
	}
	for _, part := range st.parts() {
		loops, err := scenarioOf(part.cfg.Scenario).loops(ctx, part)
		if err != nil {
			return sample{}, err
		}
		m.groups = append(m.groups, group{part.cfg.Scenario, loops})
	}
	return m.measure(ctx, cut)
}

func (r *setup) register(ctx context.Context, space c3po.Space, ids []c3po.AgentID) error {
	const atOnce = 256
	return inParallel(atOnce, len(ids), func(i int) error {
		return insist(ctx, func() error {
			_, err := r.store.Register(ctx, space, store.RegisterStep{Want: ids[i]})
			return err
		})
	})
}

// clear removes a space.
func (r *setup) clear(ctx context.Context, space c3po.Space) error {
	if r.redis != nil && (ctx.Err() != nil || r.redis.hasEnded()) {
		return nil // it goes with its Redis
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), eraseTimeout)
	defer cancel()
	return r.store.Erase(ctx, space)
}

// A coordinator is a `c3po serve` of its own process.
type coordinator struct {
	*child
	url string
}

// startCoordinator starts one, which writes a profile if there is a name for it.
func (r *setup) startCoordinator(ctx context.Context, profile string) (*coordinator, error) {
	log, err := os.OpenFile(filepath.Join(r.dir, "coordinator.log"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	said, stdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer said.Close()
	cmd := exec.Command(r.cfg.Program, "serve")
	if profile != "" {
		cmd.Args = append(cmd.Args, "--cpu-profile", profile+".pprof")
	}
	// Not arguments: the address of a Redis can hold its password.
	cmd.Env = append(foreignEnvironment(), "HOME="+r.dir, "REDIS_URL="+r.redisURL,
		"C3PO_LISTEN=127.0.0.1:0", "C3PO_AUTH=none", "C3PO_SENDS_PER_MINUTE=0", "C3PO_BUDGETS=off")
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.dir, stdout, log
	c := &coordinator{}
	c.child, err = startChild(cmd)
	stdout.Close()
	if err != nil {
		return nil, err
	}
	if c.url, err = listensOn(ctx, said); err != nil {
		c.kill()
		text, _ := os.ReadFile(log.Name())
		return nil, c3po.Because(err, c3po.Internal, "the coordinator to measure did not start: "+lastLine(string(text)))
	}
	return c, nil
}

// foreignEnvironment is ours without what configures a c3po, whose settings and
// files are not those of the measurement.
func foreignEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, "C3PO_") || strings.HasPrefix(name, "XDG_") || name == "REDIS_URL" || name == "HOME"
	})
}

// listensOn reads the line in which a coordinator says where it is.
func listensOn(ctx context.Context, from *os.File) (string, error) {
	if err := from.SetReadDeadline(time.Now().Add(startTimeout)); err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() { from.Close() })
	defer stop()
	line, err := bufio.NewReader(from).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	_, url, found := strings.Cut(strings.TrimSpace(line), "listens on ")
	if !found {
		return "", errors.New("it ended before it was ready")
	}
	return url, nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
