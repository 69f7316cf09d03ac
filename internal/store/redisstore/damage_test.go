package redisstore

import (
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/rueidis"
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

// Whole reports whether the store is tried whole: on a cluster too, and with damage to every
// call. The gate does so when the store has changed, and .ci/run all.
func Whole() bool { return os.Getenv("C3PO_WHOLE") == "1" || os.Getenv("C3PO_TORTURE") != "" }

// damagesEach is how many of them each value is given, others with each script, key
// and field; C3PO_TORTURE=1 gives it all.
func damagesEach() int {
	if os.Getenv("C3PO_TORTURE") != "" {
		return len(damages())
	}
	return 2
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
	t      *testing.T
	store  *Store
	prefix string   // of its keys
	dumps  []string // names and contents, in turn
}

func (st *stage) eval(text string, args ...string) []string {
	st.t.Helper()
	out, err := st.store.commands.Do(st.t.Context(), st.store.commands.B().Eval().Script(text).Numkeys(0).Arg(append([]string{st.prefix + "*"}, args...)...).Build()).AsStrSlice()
	if err != nil {
		st.t.Fatal(err)
	}
	return out
}

// damaged puts the space back, does the damage and takes the step. It reports
// whether the step failed.
func (st *stage) damaged(name string, do func() error, how, key, field, value string) (failed bool) {
	st.t.Helper()
	args := append([]string{itoa(len(st.dumps) / 2)}, st.dumps...)
	before := st.eval(remake, append(args, how, key, field, value)...)
	err := do()
	if err == nil {
		return false
	}
	if diff := cmp.Diff(before, st.eval(seenNow)); diff != "" {
		st.t.Errorf("%s with %s %q in %s %q failed (%v) and changed:\n%s", name, how, value, key, field, err, diff)
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

// damageEach does what a value may suffer to each key in turn. It counts the damage and
// how often the step was refused for it; mistyped hears of each key of another type.
func (st *stage) damageEach(name string, keys []string, do func() error, mistyped func(key string, refused bool)) (tried, refused int) {
	hurt := func(how, key, field, value string) bool {
		tried++
		failed := st.damaged(name, do, how, key, field, value)
		if failed {
			refused++
		}
		return failed
	}
	for _, key := range keys {
		mistyped(key, hurt("type", key, "", ""))
		st.eval(remake, append(append([]string{itoa(len(st.dumps) / 2)}, st.dumps...), "", "", "", "")...)
		for _, field := range st.fields(key) {
			for _, value := range chosen(name, key[len(st.prefix):], field) {
				hurt("field", key, field, value)
			}
		}
		if strings.Contains(key, ":room:") {
			for _, value := range chosen(name, key) {
				hurt("stream", key, "", value)
			}
		}
	}
	return tried, refused
}
