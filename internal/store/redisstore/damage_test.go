package redisstore

import (
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// damages are what a value may have become: none of them is what any script
// expects, but for a number or a name where one was.
func damages() []string {
	return []string{
		"", "x", "-", "1", "1.5", "-7", "99999999999999999999", "{}", "[]", "null", `{"q":1,"z":1,"f":"ana","t":"x"`,
		`{"q":"x","z":"x","f":1,"t":1}`, `{"q":1,"z":1,"f":"ana","t":"x","sv":[1],"an":[1],"cl":1,"nt":{"ntfy":1},"l":"x","x":"x"}`,
		`{"q":1,"z":1,"f":"ana","t":"x","sv":7,"an":"x","cl":{},"nt":7,"e":"x","k":7,"d":7}`, `{"m":"x","q":"x","o":"x","n":"x","b":"x"}`, "a b c d e f",
	}
}

// damagesEach is how many of them each value is given, others with each script, key
// and field; C3PO_TORTURE=1 gives it all.
func damagesEach() int {
	if os.Getenv("C3PO_TORTURE") != "" {
		return len(damages())
	}
	return 3
}

// The scripts of the test. remake puts the keys of a space back as they were, and
// does damage to one; seen is a fingerprint of them all.
const (
	canonical = `
local function seen(pattern)
  local names, out = redis.call('KEYS', pattern), {}
  table.sort(names)
  for _, name in ipairs(names) do
    local text
    if redis.call('TYPE', name).ok == 'hash' then
      local all, rows = redis.call('HGETALL', name), {}
      for i = 1, #all, 2 do rows[#rows + 1] = all[i] .. '=' .. all[i + 1] end
      table.sort(rows)
      text = table.concat(rows, '\0')
    else
      text = redis.call('DUMP', name)
    end
    out[#out + 1] = name .. ':' .. redis.sha1hex(text)
  end
  return out
end
`
	remake = canonical + `
for _, name in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', name) end
local n = tonumber(ARGV[2])
for i = 1, n do redis.call('RESTORE', ARGV[1 + i * 2], 0, ARGV[2 + i * 2]) end
local how, key, field, value = ARGV[n * 2 + 3], ARGV[n * 2 + 4], ARGV[n * 2 + 5], ARGV[n * 2 + 6]
if how == 'type' then
  redis.call('DEL', key)
  redis.call('SET', key, 'wrong')
elseif how == 'field' then
  redis.call('HSET', key, field, value)
elseif how == 'stream' then
  local entries = redis.call('XRANGE', key, '-', '+')
  redis.call('DEL', key)
  for _, e in ipairs(entries) do redis.call('XADD', key, e[1], 'f', value, 'b', value) end
end
return seen(ARGV[1])`
	seenNow = canonical + `return seen(ARGV[1])`
)

// A stage is a prepared space that can be put back.
type stage struct {
	t     *testing.T
	store *Store
	space c3po.Space
	at    situation
	dumps []string // names and contents, in turn
}

func newStage(t *testing.T, s *Store, space c3po.Space) *stage {
	t.Helper()
	st := &stage{t: t, store: s, space: space, at: prepare(t, s, space)}
	for _, name := range st.names() {
		dump, err := s.commands.Do(t.Context(), s.commands.B().Dump().Key(name).Build()).ToString()
		if err != nil {
			t.Fatal(err)
		}
		st.dumps = append(st.dumps, name, dump)
	}
	return st
}

func (st *stage) pattern() string { return string(keysOf(st.space)) + "*" }

func (st *stage) names() []string {
	names, err := st.store.commands.Do(st.t.Context(), st.store.commands.B().Keys().Pattern(st.pattern()).Build()).AsStrSlice()
	if err != nil {
		st.t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func (st *stage) eval(text string, args ...string) []string {
	st.t.Helper()
	out, err := st.store.commands.Do(st.t.Context(), st.store.commands.B().Eval().Script(text).Numkeys(0).Arg(append([]string{st.pattern()}, args...)...).Build()).AsStrSlice()
	if err != nil {
		st.t.Fatal(err)
	}
	return out
}

// damaged puts the space back, does the damage and takes the step. It reports
// whether the step failed.
func (st *stage) damaged(step step, how, key, field, value string) (failed bool) {
	st.t.Helper()
	args := append([]string{itoa(len(st.dumps) / 2)}, st.dumps...)
	before := st.eval(remake, append(args, how, key, field, value)...)
	err := step.do(st.t.Context(), st.store, st.space, st.at)
	if err == nil {
		return false
	}
	if diff := cmp.Diff(before, st.eval(seenNow)); diff != "" {
		st.t.Errorf("%s with %s %q in %s %q failed (%v) and changed:\n%s", step.name, how, value, key, field, err, diff)
	}
	return true
}

// fields are those of a hash; none of another type.
func (st *stage) fields(key string) []string {
	names, err := st.store.commands.Do(st.t.Context(), st.store.commands.B().Hkeys().Key(key).Build()).AsStrSlice()
	if _, wrong := rueidis.IsRedisErr(err); wrong {
		return nil
	}
	if err != nil {
		st.t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// chosen are the damages that one value is given.
func chosen(about ...string) []string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.Join(about, "\x00")))
	all := damages()
	var out []string
	each := damagesEach()
	for i := range each {
		out = append(out, all[(int(h.Sum32()%uint32(len(all)))+i*len(all)/each)%len(all)])
	}
	return out
}

// Whatever is damaged in whichever key of a step, of another type or with another
// value: if the step fails, nothing has changed.
func TestAnErrorMeansNothingChanged(t *testing.T) {
	t.Parallel()
	const lanes = 4
	url := redistest.Shared(t)
	work := make(chan int, len(steps))
	for i := range steps {
		work <- i
	}
	close(work)
	var types, values, failures atomic.Int64
	var all sync.WaitGroup
	for range lanes {
		s, err := Open(t.Context(), Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		seen := &recorder{Client: s.commands}
		s.commands = seen
		all.Go(func() {
			defer s.Close()
			for i := range work {
				st := newStage(t, s, c3po.Space(fmt.Sprintf("atomic-%d", i)))
				// What follows a renaming fails on its own, and is repeated by a reaper.
				seen.keys, seen.once = nil, steps[i].name == "rename"
				if err := steps[i].do(t.Context(), s, st.space, st.at); err != nil {
					t.Errorf("%s: %v", steps[i].name, err)
					continue
				}
				keys := slices.Clone(seen.keys)
				slices.Sort(keys)
				for _, key := range slices.Compact(keys) {
					types.Add(1)
					if !st.damaged(steps[i], "type", key, "", "") {
						t.Errorf("%s with a wrong type in %s did not fail", steps[i].name, key)
					}
					st.eval(remake, append(append([]string{itoa(len(st.dumps) / 2)}, st.dumps...), "", "", "", "")...)
					for _, field := range st.fields(key) {
						for _, value := range chosen(steps[i].name, key[len(keysOf(st.space)):], field) {
							values.Add(1)
							if st.damaged(steps[i], "field", key, field, value) {
								failures.Add(1)
							}
						}
					}
					if strings.Contains(key, ":room:") {
						for _, value := range chosen(steps[i].name, key) {
							values.Add(1)
							if st.damaged(steps[i], "stream", key, "", value) {
								failures.Add(1)
							}
						}
					}
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d wrong types, %d wrong values, %d of which were refused", types.Load(), values.Load(), failures.Load())
	if values.Load() < 1000 || failures.Load() < 100 {
		t.Error("hardly anything was damaged")
	}
}
