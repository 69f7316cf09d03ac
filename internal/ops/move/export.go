package move

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
)

// ExportConfig says of which Redis, and by whom.
type ExportConfig struct {
	RedisURL string
	Version  string
	Host     string // the name of this machine
	Now      func() time.Time
}

// Exported says what is in the file.
type Exported struct {
	Header
	Counts
}

// Export writes everything that another coordinator can take. Nobody should write
// to the Redis meanwhile, and what is written later is not in the file.
func Export(ctx context.Context, cfg ExportConfig, out io.Writer) (Exported, error) {
	redis, err := redisstore.Open(ctx, redisstore.Config{URL: cfg.RedisURL})
	if err != nil {
		return Exported{}, err
	}
	defer redis.Close()
	spaces, err := redis.Spaces(ctx)
	if err != nil {
		return Exported{}, err
	}
	buffered := bufio.NewWriter(out)
	lines := json.NewEncoder(buffered)
	lines.SetEscapeHTML(false)
	done := Exported{Header: Header{Format: Format, Made: cfg.Now().UTC().Truncate(time.Second), Version: cfg.Version, Host: cfg.Host}}
	if err := lines.Encode(line{Header: &done.Header}); err != nil {
		return done, err
	}
	for _, space := range spaces {
		damaged, err := redis.Export(ctx, space, func(m store.Moved) error {
			done.add(m)
			return lines.Encode(line{Space: space, Moved: m})
		})
		if err != nil {
			return done, err
		}
		done.Damaged += damaged
	}
	if err := lines.Encode(line{End: &done.Counts}); err != nil {
		return done, err
	}
	return done, buffered.Flush()
}
