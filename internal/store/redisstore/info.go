package redisstore

import (
	"context"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
)

// Engine implements store.Store. Of several nodes it is the first with a problem,
// else the one with the least memory left.
func (s *Store) Engine(ctx context.Context) (*c3po.Engine, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	var worst *c3po.Engine
	for _, node := range s.commands.Nodes() {
		text, err := node.Do(ctx, node.B().Info().Build()).ToString()
		if _, refused := rueidis.IsRedisErr(err); refused {
			return nil, nil // it may be forbidden to us, which is no fault of a caller
		}
		if err != nil {
			return nil, s.failure(ctx, "read the engine", err)
		}
		e := engineOf(text)
		if s.free != nil && s.socket {
			e.Disk = s.freeDisk(ctx, node)
		}
		if worst == nil || worse(e, *worst) {
			worst = &e
		}
	}
	return worst, nil
}

// freeDisk is what is free where a Redis of this machine keeps its data.
func (s *Store) freeDisk(ctx context.Context, node rueidis.Client) *int64 {
	said, err := node.Do(ctx, node.B().ConfigGet().Parameter("dir").Build()).AsStrMap()
	if err != nil || said["dir"] == "" {
		return nil // it may be forbidden to us
	}
	free, ok := s.free(said["dir"])
	if !ok {
		return nil
	}
	return &free
}

func worse(e, than c3po.Engine) bool {
	if len(e.Problems) > 0 || len(than.Problems) > 0 {
		return len(than.Problems) == 0
	}
	return e.MaxMemory > 0 && (than.MaxMemory == 0 || e.MaxMemory-e.MemoryUsed < than.MaxMemory-than.MemoryUsed)
}

// engineOf reads what INFO answers.
func engineOf(text string) c3po.Engine {
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	e := c3po.Engine{Name: "redis", Version: info["redis_version"], Eviction: info["maxmemory_policy"], Problems: []string{}}
	if valkey := info["valkey_version"]; valkey != "" {
		e.Name, e.Version = "valkey", valkey // the other is the one it is compatible with
	}
	e.MemoryUsed, _ = strconv.ParseInt(info["used_memory"], 10, 64)
	e.MaxMemory, _ = strconv.ParseInt(info["maxmemory"], 10, 64)
	e.Rewriting = info["aof_rewrite_in_progress"] == "1"
	for _, p := range []struct{ field, bad, words string }{
		{"aof_last_write_status", "err", "its last write to the log failed"},
		{"aof_last_bgrewrite_status", "err", "its log could not be rewritten"},
		{"rdb_last_bgsave_status", "err", "its last snapshot failed"},
		{"loading", "1", "it is still loading its data"},
	} {
		if info[p.field] == p.bad {
			e.Problems = append(e.Problems, p.words)
		}
	}
	return e
}
