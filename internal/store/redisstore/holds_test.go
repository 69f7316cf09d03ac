package redisstore

import (
	"strings"
	"testing"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
)

// Holds reads every key of a space: the fields of a hash, the members of a sorted
// set, the numbers of a stream's entries.
func Holds(t testing.TB, s *Store, space c3po.Space) map[string][]string {
	t.Helper()
	names := keysIn(t, s, space)
	types := make([]rueidis.Completed, len(names))
	for i, name := range names {
		types[i] = s.commands.B().Type().Key(name).Build()
	}
	reads := make([]rueidis.Completed, len(names))
	streams := map[int]bool{}
	for i, answer := range s.commands.DoMulti(t.Context(), types...) {
		switch is, err := answer.ToString(); is {
		case "hash":
			reads[i] = s.commands.B().Hkeys().Key(names[i]).Build()
		case "zset":
			reads[i] = s.commands.B().Zrange().Key(names[i]).Min("0").Max("-1").Build()
		case "stream":
			streams[i], reads[i] = true, s.commands.B().Xrange().Key(names[i]).Start("-").End("+").Build()
		default:
			t.Fatalf("%s is a %s, %v", names[i], is, err)
		}
	}
	out := map[string][]string{}
	for i, answer := range s.commands.DoMulti(t.Context(), reads...) {
		name := strings.TrimPrefix(names[i], string(keysOf(space)))
		var fields []string
		var err error
		if streams[i] {
			var entries []rueidis.XRangeEntry
			entries, err = answer.AsXRange()
			for _, entry := range entries {
				number, _, _ := strings.Cut(entry.ID, "-")
				fields = append(fields, number)
			}
		} else {
			fields, err = answer.AsStrSlice()
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = fields
	}
	return out
}

// Drop removes every key of a space.
func Drop(t testing.TB, s *Store, space c3po.Space) {
	t.Helper()
	if names := keysIn(t, s, space); len(names) > 0 {
		if err := s.commands.Do(t.Context(), s.commands.B().Unlink().Key(names...).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
}

func keysIn(t testing.TB, s *Store, space c3po.Space) []string {
	t.Helper()
	names, err := s.commands.Do(t.Context(), s.commands.B().Keys().Pattern(string(keysOf(space))+"*").Build()).AsStrSlice()
	if err != nil {
		t.Fatal(err)
	}
	return names
}
