package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/store/redisstore"
)

// perfRate is how often a second perf looks at Redis: often enough for a few
// seconds, and not in step with what Redis does at every tick.
const perfRate = 499

// watchRedis begins to record what Redis does, and gives what ends that and
// writes it into files of that name.
func (r *setup) watchRedis(ctx context.Context, name string) (end func(operations int) error, err error) {
	stop := func() {}
	if program, err := exec.LookPath("perf"); err == nil && r.redis != nil {
		file := name + ".perf"
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err // it would be kept as .perf.old
		}
		// Where perf may not look it ends and leaves no file.
		perf, err := startChild(exec.Command(program, "record", "--quiet", "-g", "-F", strconv.Itoa(perfRate),
			"--no-buildid-cache", // which is in the home folder, and stays there
			"-p", strconv.Itoa(r.redis.pid()), "-o", file))
		if err != nil {
			return nil, err
		}
		stop = perf.stop
	}
	before, err := r.store.CommandStats(ctx)
	if err != nil {
		stop()
		return nil, err
	}
	return func(operations int) error {
		after, err := r.store.CommandStats(ctx)
		stop()
		if err != nil {
			return err
		}
		return os.WriteFile(name+".commands.txt", []byte(commandTable(before, after, operations)), 0o644)
	}, nil
}

// commandTable says what each command cost an operation, the dearest first. A
// script's time includes its commands.
func commandTable(before, after map[string]redisstore.CommandStat, operations int) string {
	type row struct {
		name        string
		calls, took float64
	}
	var rows []row
	for name, now := range after {
		was := before[name]
		if now.Calls == was.Calls {
			continue
		}
		each := float64(max(1, operations))
		rows = append(rows, row{name, float64(now.Calls-was.Calls) / each, float64((now.Took-was.Took)/time.Microsecond) / each})
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.took, a.took), strings.Compare(a.name, b.name))
	})
	var text strings.Builder
	fmt.Fprintf(&text, "%d operations\n\n%-24s %14s %14s\n", operations, "command", "per operation", "µs of one")
	for _, row := range rows {
		fmt.Fprintf(&text, "%-24s %14.2f %14.1f\n", row.name, row.calls, row.took)
	}
	return text.String()
}
