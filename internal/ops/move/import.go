package move

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/ops/backup"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
)

// ImportConfig says into which Redis, and how.
type ImportConfig struct {
	RedisURL string
	Version  string // of this c3po
	Host     string // whose agents they are; that of the export if empty
	DryRun   bool   // only say what would be done
}

// Imported says what was done, or would be.
type Imported struct {
	From   Header  `json:"from"`
	Host   string  `json:"host"`
	DryRun bool    `json:"dry_run,omitempty"`
	Spaces []Space `json:"spaces"`
}

// Import takes in what Export wrote. Coordinators may run meanwhile: each thing is
// one step, and who waits for mail is woken by it. What an earlier import brought
// is left as it is, so the same file can be imported again, after a failure too.
// At the end every message is looked for, and the books are gone through.
func Import(ctx context.Context, cfg ImportConfig, in io.Reader) (Imported, error) {
	f, err := read(in)
	if err != nil {
		return Imported{}, err
	}
	done := Imported{From: f.header, Host: cmp.Or(cfg.Host, f.header.Host), DryRun: cfg.DryRun, Spaces: []Space{}}
	if id, err := c3po.ParseAgentID(done.Host); err != nil || id.Host() != "" || id.Poses() {
		return done, c3po.Errorf(c3po.InvalidRequest, "%q cannot be the name of a host", done.Host).
			Suggest("Say with --as-host what the machine is called that the agents come from, for example laptop.")
	}
	redis, err := redisstore.Open(ctx, redisstore.Config{URL: cfg.RedisURL})
	if err != nil {
		return done, err
	}
	defer redis.Close()
	var plans []*plan
	for _, space := range f.spaces {
		p, err := makePlan(ctx, redis, space, f.things[space], done.Host)
		if err != nil {
			return done, err
		}
		plans = append(plans, p)
		done.Spaces = append(done.Spaces, p.summary)
	}
	if cfg.DryRun {
		return done, nil
	}
	// Before it is done: what came in halfway is asked about too.
	if err := redis.RecordImport(ctx, fmt.Sprintf("a file of %s as host %s", done.From.Host, done.Host)); err != nil {
		return done, err
	}
	h := hub.New(hub.Config{Store: redis, Limits: c3po.DefaultLimits(), Version: cfg.Version})
	for _, p := range plans {
		stored, err := p.carryOut(ctx, redis)
		if err != nil {
			return done, err
		}
		if err := verify(ctx, redis, h, p.space, stored); err != nil {
			return done, err
		}
	}
	return done, nil
}

// verify looks for every message that was stored, and goes through the books.
func verify(ctx context.Context, redis *redisstore.Store, h *hub.Hub, space c3po.Space, stored []c3po.MessageID) error {
	for _, id := range stored {
		e, err := redis.Message(ctx, space, id)
		if err != nil {
			return err
		}
		if e == nil || e.Corrupt {
			return c3po.Errorf(c3po.Internal, "%s was imported into space %s and is not there", id, space).
				Suggest("Keep the export, and run `c3po fsck --space %s`.", space)
		}
	}
	_, err := backup.Balance(ctx, h, space, fmt.Sprintf("after the import the books of space %s do not balance", space), fmt.Sprintf("Keep the export, and run `c3po fsck --space %s`.", space))
	return err
}
