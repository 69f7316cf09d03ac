package redisstore

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// A CommandStat is how often Redis ran a command since it was started, and for
// how long it was busy with it. Commands that scripts run count as well.
type CommandStat struct {
	Calls int64
	Took  time.Duration
}

// CommandStats gives them by name, over all nodes.
func (s *Store) CommandStats(ctx context.Context) (map[string]CommandStat, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	stats := map[string]CommandStat{}
	for _, node := range s.commands.Nodes() {
		text, err := node.Do(ctx, node.B().Info().Section("commandstats").Build()).ToString()
		if err != nil {
			return nil, s.failure(ctx, "read the commands", err)
		}
		addCommandStats(stats, text)
	}
	return stats, nil
}

// addCommandStats reads lines such as «cmdstat_hget:calls=3,usec=12,usec_per_call=4.00».
func addCommandStats(stats map[string]CommandStat, text string) {
	for line := range strings.Lines(text) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "cmdstat_")
		if !ok {
			continue
		}
		name, values, _ := strings.Cut(line, ":")
		stat := stats[name]
		for value := range strings.SplitSeq(values, ",") {
			key, number, _ := strings.Cut(value, "=")
			n, _ := strconv.ParseInt(number, 10, 64)
			switch key {
			case "calls":
				stat.Calls += n
			case "usec":
				stat.Took += time.Duration(n) * time.Microsecond
			}
		}
		stats[name] = stat
	}
}
