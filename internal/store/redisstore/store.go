package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
)

// Config says where Redis is and which numbers hold.
type Config struct {
	// URL is redis://, rediss:// or unix://; several addresses separated by
	// commas (or ?addr=) are the seeds of a Cluster.
	URL    string
	Limits c3po.Limits
	Node   string // the coordinator events are said to come from
	Log    *slog.Logger
	Meter  Meter // nobody counts if nil
	// Free is how many bytes are free in a folder of this machine; unknown if nil.
	Free func(folder string) (bytes int64, known bool)
	Now  func() time.Time // a clock for tests; nil reads Redis TIME in the script
	// Writer is the version of the coordinator that will write here. The data is signed
	// with it, unless a later version has signed it. Empty for a program that only reads.
	Writer string
}

// Store is a store.Store in Redis.
type Store struct {
	commands rueidis.Client
	// wakes is a separate client: a subscription shares its connection's reader, and a
	// slow wake must never hold up a command.
	wakes   rueidis.Client
	scripts map[scriptName]script
	limits  c3po.Limits
	bounds  map[string]string // those of them that scripts know by name, and have in them
	node    string
	log     *slog.Logger
	meter   Meter
	now     func() time.Time
	free    func(folder string) (int64, bool)
	socket  bool     // Redis is reached by one, so it is on this machine
	known   sync.Map // spaces this process has entered, and when it looked
	looks   int      // maxLooked, but in tests
	bits64  bool     // the engine has integers of 64 bits

	dials dials

	engine engineCache
	relief relief

	auditing sync.Mutex // held while an entry finds its place in the audit
}

// Open connects. It fails if Redis cannot be reached or is too old, and if a
// later version wrote what is in it, in a way that this one does not understand.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s := &Store{looks: maxLooked, limits: cfg.Limits, node: cfg.Node, log: cfg.Log, meter: cfg.Meter, now: cfg.Now, free: cfg.Free}
	if s.limits == (c3po.Limits{}) {
		s.limits = c3po.DefaultLimits()
	}
	s.bounds = boundsOf(s.limits)
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.meter == nil {
		s.meter = unmetered{}
	}
	options, err := clientOptions(cfg.URL)
	if err != nil {
		return nil, err
	}
	s.socket = strings.HasPrefix(cfg.URL, "unix://") || strings.HasPrefix(cfg.URL, "/")
	s.dials.join(&options)
	if s.commands, err = rueidis.NewClient(options); err != nil {
		return nil, notReached(err)
	}
	if s.wakes, err = rueidis.NewClient(options); err != nil {
		s.commands.Close()
		return nil, notReached(err)
	}
	if err := s.checkVersion(ctx); err != nil {
		s.Close()
		return nil, err
	}
	if err := s.sign(ctx, cfg.Writer); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends both connections.
func (s *Store) Close() {
	s.relief.end()
	s.commands.Close()
	s.wakes.Close()
}

// CheckURL refuses what is no address of a Redis.
func CheckURL(address string) error {
	_, err := clientOptions(address)
	return err
}

func clientOptions(address string) (rueidis.ClientOption, error) {
	first, more, _ := strings.Cut(address, ",")
	if strings.HasPrefix(first, "/") {
		first = "unix://" + first
	}
	options, err := rueidis.ParseURL(first)
	if !strings.Contains(first, "://") {
		err = errors.New("it does not begin with redis://, rediss:// or unix://")
	}
	if err != nil {
		// The URL may hold a password: say what is wrong without repeating it.
		if parsed, ok := errors.AsType[*url.Error](err); ok {
			err = parsed.Err
		}
		return options, c3po.Errorf(c3po.InvalidRequest, "the Redis URL cannot be read: %v", err).
			Suggest("Use redis://HOST:PORT, rediss://HOST:PORT, unix:///PATH, or several addresses separated by commas for a Cluster.")
	}
	for _, other := range strings.FieldsFunc(more, func(r rune) bool { return r == ',' }) {
		other = strings.TrimPrefix(strings.TrimPrefix(other, "redis://"), "rediss://")
		options.InitAddress = append(options.InitAddress, other)
	}
	options.DisableCache = true
	// Redis runs one step after another, so more than one connection only splits what could be
	// written and read at once.
	options.PipelineMultiplex = -1
	options.Dialer = net.Dialer{Timeout: dialTimeout}
	options.ConnWriteTimeout = 5 * time.Second
	options.ClusterOption.ShardsRefreshInterval = 5 * time.Second
	return options, nil
}

// checkVersion loads the scripts for an engine that is new enough.
func (s *Store) checkVersion(ctx context.Context) error {
	info, err := s.commands.Do(ctx, s.commands.B().Info().Section("server").Build()).ToString()
	if err != nil {
		return notReached(err)
	}
	for line := range strings.Lines(info) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), ":"); {
		case name == "redis_version" && majorOf(value) < 7:
			return c3po.Errorf(c3po.RedisUnavailable, "Redis %s is too old", value).Suggest("c3po needs Redis 7.0 or later, or Valkey.")
		case name == "arch_bits":
			s.bits64 = value == "64"
		}
	}
	s.scripts = loadScripts(s.bounds, s.bits64)
	return nil
}

func majorOf(version string) int {
	var major int
	if _, err := fmt.Sscanf(version, "%d.", &major); err != nil {
		return 0
	}
	return major
}
