package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/store/redisstore"
)

func TestAProfileSaysWhereTheTimeOfEachDoorGoes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	measured(t, Send, "-seconds", "1", "-concurrency", "8", "-profile", folder)
	// What is under way when the time begins or is over makes it more or less than one.
	for _, door := range []string{Redis, REST, MCP} {
		if scripts := scriptsOfASend(t, filepath.Join(folder, "send-"+door+"-1.commands.txt")); scripts < 0.5 || scripts > 3 {
			t.Errorf("over %s a send ran %v scripts, and should run one", door, scripts)
		}
	}
	for _, door := range []string{REST, MCP} {
		profile, err := os.ReadFile(filepath.Join(folder, "send-"+door+"-1.pprof"))
		if err != nil || !bytes.HasPrefix(profile, []byte{0x1f, 0x8b}) {
			t.Errorf("the profile of a coordinator over %s has %d bytes, and is not one that pprof reads (%v)", door, len(profile), err)
		}
	}
}

// scriptsOfASend reads how many scripts that write Redis ran for each operation.
func scriptsOfASend(t *testing.T, file string) float64 {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if columns := strings.Fields(line); len(columns) == 3 && columns[0] == "evalsha" {
			scripts, err := strconv.ParseFloat(columns[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			return scripts
		}
	}
	t.Fatalf("%s names no script:\n%s", file, text)
	return 0
}

func TestATableOfCommandsHasTheDearestFirstAndNoneThatDidNotRun(t *testing.T) {
	ran := func(calls, microseconds int64) redisstore.CommandStat {
		return redisstore.CommandStat{Calls: calls, Took: time.Duration(microseconds) * time.Microsecond}
	}
	before := map[string]redisstore.CommandStat{"hget": ran(100, 50), "info": ran(1, 90), "zadd": ran(7, 7)}
	after := map[string]redisstore.CommandStat{"hget": ran(120, 60), "info": ran(1, 90), "zadd": ran(17, 107), "xadd": ran(20, 10)}
	want := "10 operations\n\n" +
		"command                   per operation      µs of one\n" +
		"zadd                               1.00           10.0\n" +
		"hget                               2.00            1.0\n" +
		"xadd                               2.00            1.0\n"
	if got := commandTable(before, after, 10); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
