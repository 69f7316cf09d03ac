// Package bench measures how fast messages are carried on this machine:
// straight into Redis, by the scripts the coordinator runs, and through a
// coordinator's two doors, REST and MCP. The three are measured in turns
// within one run, so that what they are compared by is the same machine in the
// same minute; and what an operation costs in processor time is told beside
// how many there were, because it says more on a machine that does other work.
package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// The scenarios.
const (
	// Send is one message sent.
	Send = "send"
	// Deliver is one message sent, waited for and acked.
	Deliver = "deliver"
	// Exchange is a question sent, waited for, answered, its answer waited for
	// and acked.
	Exchange = "exchange"
	// Wait is the way from a send to the wait it wakes.
	Wait = "wait"
	// Rooms is the way from a post to each member of the room, all of whom wait
	// for it.
	Rooms = "rooms"
	// Waiters is Wait among many that sleep, and what each of them holds of memory.
	Waiters = "waiters"
	// Mixed is Send, Exchange, Rooms and Wait at once, a quarter each.
	Mixed = "mixed"
)

// Scenarios are all of them, in the order they are measured in.
func Scenarios() []string { return []string{Send, Deliver, Exchange, Wait, Rooms, Waiters, Mixed} }

// The doors a message goes in by.
const (
	Redis = "redis" // the store itself, without a coordinator
	REST  = "rest"
	MCP   = "mcp"
)

const (
	// maxRounds is how many turns the doors take, if there is time. A ratio is the
	// median of its rounds: one disturbance does not decide it.
	maxRounds = 5

	maxLength      = time.Minute
	maxConcurrency = 10_000
	maxRate        = 100_000
	// maxTextBytes keeps a text within what a message may have.
	maxTextBytes = 50_000
)

// Config says what to measure. The zero value of every field but Program works.
type Config struct {
	Scenario    string        // Send if empty
	Length      time.Duration // that each door is measured; 5 s if zero, 1 min at the most
	Concurrency int           // operations under way at once, in Wait the waits, in Rooms the members; 64 if zero, in Waiters 1000
	Rate        int           // messages a second: in Send as many as go if zero; in Wait and Waiters 1000, in Mixed 100 of those that wake
	Size        int           // characters of a message; 1024 if zero

	// RedisURL is the Redis to measure. If empty one is started for the
	// measurement, whose writes reach the disk before they are acknowledged.
	RedisURL string
	// Program is the c3po that is started as coordinator.
	Program string
	// Peers are measured too, in Deliver; what is told as the coordinator's is theirs.
	Peers []Peer
	// Profile is the folder for profiles of what is started for the measurement,
	// and for the commands that Redis ran. Nothing is profiled if it is empty.
	Profile string
}

// A Report is what was measured of one scenario.
type Report struct {
	Scenario    string          `json:"scenario"`
	Concurrency int             `json:"concurrency"`
	Size        int             `json:"size"`
	Rate        int             `json:"rate,omitempty"` // messages a second, where they are counted
	Seconds     float64         `json:"seconds"`
	Durability  c3po.Durability `json:"durability"`
	Doors       []Figures       `json:"doors"`
}

// Figures are those of one door.
type Figures struct {
	Door       string    `json:"door"`
	Operations int       `json:"operations"`
	Rates      []float64 `json:"rates"`    // a second, of each round
	Rate       float64   `json:"rate"`     // their median
	OfRedis    float64   `json:"of_redis"` // as a part of that of Redis in the same round, the median
	P50        float64   `json:"p50_ms"`
	P99        float64   `json:"p99_ms"`
	// CPU is what an operation costs each process, in microseconds. A process
	// that is not ours, or of a system that does not tell, is left out.
	CPU map[string]float64 `json:"cpu_us"`
	// Memory is what a wait that sleeps holds of each process's, in bytes. It is
	// told of Waiters only.
	Memory map[string]float64 `json:"memory_bytes,omitempty"`
	// Parts are the figures of the scenarios that Mixed has in it.
	Parts []Part `json:"parts,omitempty"`
}

// A Part is a scenario that is measured together with others.
type Part struct {
	Scenario   string  `json:"scenario"`
	Operations int     `json:"operations"`
	Rate       float64 `json:"rate"` // a second, over all rounds
	P50        float64 `json:"p50_ms"`
	P99        float64 `json:"p99_ms"`
}

// The processes whose time is told.
const (
	ProcessBench       = "bench"
	ProcessCoordinator = "coordinator"
	ProcessRedis       = "redis"
)

// Processes are all of them, from who asks to who keeps.
func Processes() []string { return []string{ProcessBench, ProcessCoordinator, ProcessRedis} }

// Of gives the figures of a door.
func (r Report) Of(door string) Figures {
	i := slices.IndexFunc(r.Doors, func(f Figures) bool { return f.Door == door })
	if i < 0 {
		return Figures{Door: door}
	}
	return r.Doors[i]
}

// Run measures. Whatever it started has ended when it returns.
func Run(ctx context.Context, cfg Config) (report Report, err error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return Report{}, err
	}
	if cfg.Profile != "" {
		// Absolute, since a coordinator works in another folder.
		if cfg.Profile, err = filepath.Abs(cfg.Profile); err != nil {
			return Report{}, err
		}
		if err := os.MkdirAll(cfg.Profile, 0o755); err != nil {
			return Report{}, err
		}
	}
	// Whatever fails once it is interrupted fails because of that.
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = ctx.Err()
		}
	}()
	r, err := newSetup(ctx, cfg)
	if err != nil {
		return Report{}, err
	}
	defer func() {
		if cause := r.close(); err == nil {
			err = cause
		}
	}()
	report = Report{Scenario: cfg.Scenario, Concurrency: cfg.Concurrency, Size: cfg.Size, Seconds: cfg.Length.Seconds(), Rate: cfg.Rate}
	if cfg.Scenario == Wait || cfg.Scenario == Waiters {
		report.Rate = cfg.pace()
	}
	if report.Durability, err = r.store.Durability(ctx); err != nil {
		return Report{}, err
	}
	doors := []string{Redis, REST, MCP}
	rounds := []func(number int) (sample, error){}
	for _, door := range doors {
		rounds = append(rounds, func(number int) (sample, error) { return r.round(ctx, cfg, door, number) })
	}
	for _, peer := range cfg.Peers {
		doors = append(doors, peer.Name)
		rounds = append(rounds, func(int) (sample, error) { return cfg.peerRound(ctx, peer) })
	}
	samples := make([][]sample, len(doors))
	for number := range cfg.rounds() {
		for i, round := range rounds {
			one, err := round(number + 1)
			if err != nil {
				return Report{}, fmt.Errorf("%s: %w", doors[i], err)
			}
			samples[i] = append(samples[i], one)
		}
	}
	for i, door := range doors {
		report.Doors = append(report.Doors, figures(door, samples[i], samples[0]))
	}
	return report, nil
}

func (cfg Config) withDefaults() Config {
	if cfg.Scenario == "" {
		cfg.Scenario = Send
	}
	if cfg.Length == 0 {
		cfg.Length = 5 * time.Second
	}
	if cfg.Concurrency == 0 {
		cfg.Concurrency = 64
		if cfg.Scenario == Waiters {
			cfg.Concurrency = 1000
		}
	}
	if cfg.Size == 0 {
		cfg.Size = 1024
	}
	return cfg
}

func (cfg Config) check() error {
	if !slices.Contains(Scenarios(), cfg.Scenario) {
		return c3po.Errorf(c3po.InvalidRequest, "there is no scenario %q", cfg.Scenario).Suggest("Use one of %s.", strings.Join(Scenarios(), ", "))
	}
	if cfg.Length < 0 || cfg.Length > maxLength {
		return c3po.Errorf(c3po.InvalidRequest, "a measurement cannot take %v", cfg.Length).Suggest("Give at most %v.", maxLength)
	}
	for _, setting := range []struct {
		name        string
		value, most int
	}{
		{"concurrency", cfg.Concurrency, maxConcurrency},
		{"size", cfg.Size, maxTextBytes},
		{"rate", cfg.pace(), maxRate},
	} {
		if setting.value < 1 || setting.value > setting.most {
			return c3po.Errorf(c3po.InvalidRequest, "%s is %d", setting.name, setting.value).
				Suggest("Give a number between 1 and %d.", setting.most)
		}
	}
	if cfg.Rate != 0 && !Paced(cfg.Scenario) {
		return c3po.Errorf(c3po.InvalidRequest, "%s is measured as fast as it goes, and has no rate", cfg.Scenario).
			Suggest("Leave the rate out, or use %s.", strings.Join(slices.DeleteFunc(Scenarios(), func(s string) bool { return !Paced(s) }), ", "))
	}
	if len(cfg.Peers) > 0 && cfg.Scenario != Deliver {
		return c3po.Errorf(c3po.InvalidRequest, "peers are not measured with %s", cfg.Scenario).Suggest("Use %s.", Deliver)
	}
	return nil
}

// Paced says whether the messages of a scenario can come at a rate.
func Paced(scenario string) bool {
	return slices.Contains([]string{Send, Wait, Waiters, Mixed}, scenario)
}

// pace is how many messages a second wake waits: without a rate few enough that
// the way of one is measured and not the queue before it.
func (cfg Config) pace() int {
	switch {
	case cfg.Rate != 0:
		return cfg.Rate
	case cfg.Scenario == Mixed:
		return 100
	default:
		return 1000
	}
}

func (cfg Config) rounds() int { return min(max(1, int(cfg.Length/time.Second)), maxRounds) }

// slice is how long one round of a door is measured.
func (cfg Config) slice() time.Duration { return cfg.Length / time.Duration(cfg.rounds()) }

// text is a message of the size that was asked for, unlike any other.
func (cfg Config) text(worker, number int) string {
	text := fmt.Sprintf("message %d of %d ", number, worker)
	if len(text) >= cfg.Size {
		return text[:cfg.Size]
	}
	return text + strings.Repeat("x", cfg.Size-len(text))
}
