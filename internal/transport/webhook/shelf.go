package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

const (
	// maxKept is how much mail is kept: at ten a minute, what an hour and a half takes.
	maxKept = 1000
	// limitPause is how long mail waits that came too soon: the limit is of the last minute.
	limitPause = 5 * time.Second
	// minPause and maxPause are how long it waits for a coordinator that is away.
	minPause = time.Second
	maxPause = time.Minute
)

// A parcel is mail that the coordinator did not take when its post came.
type parcel struct {
	Host  string         `json:"host"`
	Until time.Time      `json:"until"` // what its post tells of is too old then
	Send  c3po.SendInput `json:"send"`

	file string
}

// A shelf keeps parcels, in a folder too: whoever posted was told that they are taken, and
// does not post again. A key is mailed once, so sending a parcel a second time does no harm.
type shelf struct {
	folder string
	came   chan struct{} // there is something to mail

	mu      sync.Mutex
	parcels []parcel // in the order they came
	last    int64
}

// openShelf finds what was kept before.
func openShelf(folder string, log *slog.Logger) (*shelf, error) {
	s := &shelf{folder: folder, came: make(chan struct{}, 1)}
	entries, err := os.ReadDir(folder) // sorted by name, that is by when they came
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") || strings.HasPrefix(e.Name(), ".") {
			continue // of a write that was cut short
		}
		p := parcel{file: filepath.Join(folder, e.Name())}
		data, err := os.ReadFile(p.file)
		if err == nil {
			err = json.Unmarshal(data, &p)
		}
		if err != nil {
			log.Error("a kept post cannot be read, and stays where it is", "file", p.file, "why", err)
			continue
		}
		s.parcels = append(s.parcels, p)
	}
	return s, nil
}

// keep puts a parcel on the shelf, for good.
func (s *shelf) keep(p parcel) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.parcels, func(other parcel) bool { return other.Send.ClientKey == p.Send.ClientKey }) {
		return nil
	}
	if len(s.parcels) >= maxKept {
		return fmt.Errorf("%d messages are kept already", maxKept)
	}
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	s.last = max(s.last+1, time.Now().UnixNano())
	p.file = filepath.Join(s.folder, fmt.Sprintf("%020d.json", s.last))
	if err := paths.WriteFile(p.file, data); err != nil {
		return err
	}
	syncFolder(s.folder)
	s.parcels = append(s.parcels, p)
	select {
	case s.came <- struct{}{}:
	default:
	}
	return nil
}

// syncFolder has a new name outlive a power cut, where a system can do that.
func syncFolder(name string) {
	if folder, err := os.Open(name); err == nil {
		_ = folder.Sync()
		_ = folder.Close()
	}
}

// holds says that there is mail for a target: what comes later waits behind it.
func (s *shelf) holds(target string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.parcels, func(p parcel) bool { return p.Send.Target == target })
}

func (s *shelf) all() []parcel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.parcels)
}

func (s *shelf) drop(p parcel) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parcels = slices.DeleteFunc(s.parcels, func(other parcel) bool { return other.file == p.file })
	return os.Remove(p.file)
}

// Run mails what is kept, until ctx ends.
func (d *Receiver) Run(ctx context.Context) {
	pace := attempt.Backoff{Min: minPause, Max: maxPause}
	for {
		var wait time.Duration
		switch left, limited := d.mailKept(ctx); {
		case ctx.Err() != nil:
			return
		case limited:
			wait = cmp.Or(d.LimitPause, limitPause)
		case left:
			wait = pace.Step()
		default:
			pace.Reset()
			select {
			case <-ctx.Done():
				return
			case <-d.shelf.came:
			}
			continue
		}
		attempt.Sleep(ctx, wait)
	}
}

// mailKept mails what is kept, as far as the coordinator takes it: for each target in the
// order it came.
func (d *Receiver) mailKept(ctx context.Context) (left, limited bool) {
	full := map[string]bool{}
	for _, p := range d.shelf.all() {
		if full[p.Send.Target] {
			continue
		}
		if d.Now().After(p.Until) {
			d.Log.ErrorContext(ctx, "a kept post is given up: it happened more than 12 hours ago", "host", p.Host, "target", p.Send.Target)
			d.forget(ctx, p)
			continue
		}
		switch err := d.send(ctx, p.Host, p.Send); {
		case err == nil || isFinal(err):
			d.forget(ctx, p)
		case ctx.Err() != nil, errors.Is(err, c3po.RateLimited):
			return true, true
		case errors.Is(err, c3po.InboxFull):
			left, full[p.Send.Target] = true, true
		default:
			return true, false // it is the coordinator's, and so of all targets
		}
	}
	return left, false
}

func (d *Receiver) forget(ctx context.Context, p parcel) {
	if err := d.shelf.drop(p); err != nil {
		d.Log.ErrorContext(ctx, "what was kept cannot be removed; it is tried once more after the next start", "file", p.file, "why", err)
	}
}
