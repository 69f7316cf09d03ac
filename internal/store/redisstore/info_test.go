package redisstore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestWhatRedisSaysOfItselfIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		info string
		want c3po.Engine
	}{
		"healthy": {
			"# Server\r\nredis_version:7.0.15\r\n\r\n# Memory\r\nused_memory:1024\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\naof_last_write_status:ok\r\nloading:0\r\n",
			c3po.Engine{Name: "redis", Version: "7.0.15", Eviction: "noeviction", Problems: []string{}, MemoryUsed: 1024},
		},
		"valkey with a full disk": {
			"redis_version:7.2.4\r\nvalkey_version:8.1.0\r\nmaxmemory:4096\r\nmaxmemory_policy:allkeys-lru\r\naof_last_write_status:err\r\n",
			c3po.Engine{Name: "valkey", Version: "8.1.0", Eviction: "allkeys-lru", Problems: []string{"its last write to the log failed"}, MaxMemory: 4096},
		},
	} {
		if diff := cmp.Diff(c.want, engineOf(c.info)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if !engineOf("aof_rewrite_in_progress:1\r\n").Rewriting {
		t.Error("it is not told that the log is being rewritten")
	}
	sick, full := c3po.Engine{Problems: []string{"x"}}, c3po.Engine{MemoryUsed: 9, MaxMemory: 10}
	if !worse(sick, full) || worse(full, sick) || !worse(full, c3po.Engine{}) {
		t.Error("the node that is worst off is not the one that is told")
	}
}

func TestTheFreeDiskOfARedisOfThisMachineIsKnown(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "c3r") // short, for the socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "redis.sock")
	url := redistest.Start(t, "--unixsocket", socket)
	var asked string
	free := func(folder string) (int64, bool) {
		asked = folder
		return 42, true
	}
	for address, want := range map[string]*int64{"unix://" + socket: new(int64(42)), url: nil} {
		s, err := Open(t.Context(), Config{URL: address, Free: free})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		engine, err := s.Engine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, engine.Disk); diff != "" {
			t.Errorf("%s (-want +got):\n%s", address, diff)
		}
	}
	if _, err := os.Stat(filepath.Join(asked, "appendonlydir")); err != nil {
		t.Errorf("asked about %q, where Redis keeps nothing: %v", asked, err)
	}
}
