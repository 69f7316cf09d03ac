package redisstore

import (
	"context"
	"crypto/sha1" // #nosec G505 -- Redis names scripts by it
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/rueidis"
)

// unpromised are the scripts that no promise of a store runs: tokens, invitations and
// the audit are auth's, and the others prepare or tidy up.
var unpromised = []string{
	"audit_append", "authority_propose", "floor_raise", "grant_put", "grant_revoke", "grant_touch", "invite_spend", "passkey_put", "record_claim", "record_put", "run_note",
	"agent_forget", "import_drop", "message_relist", "schema_record", "space_begin", "space_leave", "space_vacate",
}

// Calls are the calls of scripts that changed a space, with the space as each found it:
// one for each outcome of each script and each set of keys that it changed. They are
// taken from a store that keeps its promises, so a new script is among them as soon as
// it has one.
type Calls struct {
	mu    sync.Mutex
	taken map[string]*scriptRun
	about string            // the situation that is prepared, of which all calls are kept
	names map[string]string // of scripts, by what Redis calls them: they differ with the limits
}

type scriptRun struct {
	sha          string
	prefix       string // of the keys of its space
	words, dumps []string
}

// Watch records the calls of a store.
func (c *Calls) Watch(s *Store) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.names == nil {
		c.names = map[string]string{}
	}
	maps.Copy(c.names, namesOfScripts(s))
	s.commands = &watched{Client: s.commands, calls: c}
}

type watched struct {
	rueidis.Client
	calls *Calls
}

func (w *watched) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	words := slices.Clone(cmd.Commands()) // the client uses them again for another command
	if words[0] == "EVAL" {               // Redis did not know it yet
		words[0], words[1] = "EVALSHA", shaOf(words[1])
	}
	end := -1
	if words[0] == "EVALSHA" && words[2] != "0" {
		end = strings.Index(words[3], "}:")
	}
	if end < 0 {
		return w.Client.Do(ctx, cmd)
	}
	run := &scriptRun{sha: words[1], prefix: words[3][:end+2], words: words}
	run.dumps = dumpsOf(ctx, w.Client, run.prefix)
	result := w.Client.Do(ctx, cmd)
	if result.Error() != nil {
		return result
	}
	outcome := ""
	if answer, err := result.ToArray(); err == nil && len(answer) > 0 {
		outcome = word(answer[0])
	}
	if changes := changed(run.prefix, run.dumps, dumpsOf(ctx, w.Client, run.prefix)); changes != "" {
		w.calls.add(outcome+" "+changes, run)
	}
	return result
}

func (c *Calls) add(sort string, run *scriptRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taken == nil {
		c.taken = map[string]*scriptRun{}
	}
	if sort = c.names[run.sha] + " " + c.about + " " + sort; c.taken[sort] == nil {
		c.taken[sort] = run
	}
}

// dumpsOf are names and contents of the keys that begin so, in turn.
func dumpsOf(ctx context.Context, c rueidis.Client, prefix string) (dumps []string) {
	names, err := c.Do(ctx, c.B().Keys().Pattern(prefix+"*").Build()).AsStrSlice()
	if err != nil {
		return nil
	}
	slices.Sort(names)
	for _, name := range names {
		if dump, err := c.Do(ctx, c.B().Dump().Key(name).Build()).ToString(); err == nil {
			dumps = append(dumps, name, dump)
		}
	}
	return dumps
}

// changed names the kinds of keys that differ.
func changed(prefix string, before, after []string) string {
	kinds := map[string]bool{}
	differ := func(one, other []string) {
		for pair := range slices.Chunk(one, 2) {
			if at := slices.Index(other, pair[0]); at < 0 || other[at+1] != pair[1] {
				kinds[kindOf(prefix, pair[0])] = true
			}
		}
	}
	differ(before, after)
	differ(after, before)
	return strings.Join(slices.Sorted(maps.Keys(kinds)), " ")
}

// kindOf is the first word of a key.
func kindOf(prefix, key string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(key, prefix), ":")
	return kind
}

// typeChecks knows of each script and kind of key whether any call was refused because
// the key had another type.
type typeChecks struct {
	mu      sync.Mutex
	refused map[string]bool
}

func (c *typeChecks) note(what string, refused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused == nil {
		c.refused = map[string]bool{}
	}
	c.refused[what] = c.refused[what] || refused
}

func (c *typeChecks) neverRefused() (all []string) {
	for _, what := range slices.Sorted(maps.Keys(c.refused)) {
		if !c.refused[what] {
			all = append(all, what)
		}
	}
	return all
}

// Damage repeats each call in its space, with each of its keys damaged in turn: of another
// type, or with another value. If the script fails then, nothing may have changed.
func (c *Calls) Damage(t *testing.T, s *Store) {
	t.Helper()
	const lanes = 4
	names := c.names
	work := make(chan *scriptRun, len(c.taken))
	seen := map[string]bool{}
	for n, sort := range slices.Sorted(maps.Keys(c.taken)) {
		if Whole() || n%8 == 0 {
			work <- c.taken[sort]
		}
		seen[names[c.taken[sort].sha]] = true
	}
	close(work)
	for _, name := range slices.Compact(slices.Sorted(maps.Values(names))) {
		if !seen[name] && !slices.Contains(unpromised, name) {
			t.Errorf("no promise runs %s.lua, so nobody knows what it does to damaged keys", name)
		}
	}
	var types, values, failures atomic.Int64
	var mistyped typeChecks
	var spaces sync.Map // two calls of one space take turns
	var all sync.WaitGroup
	for range lanes {
		all.Go(func() {
			for run := range work {
				turn, _ := spaces.LoadOrStore(run.prefix, &sync.Mutex{})
				turn.(*sync.Mutex).Lock()
				st := &stage{t: t, store: s, prefix: run.prefix, dumps: run.dumps}
				do := func() error {
					return s.commands.Do(t.Context(), s.commands.B().Arbitrary(run.words...).Build()).Error()
				}
				tried, refused := st.damageEach(names[run.sha], run.keys(), do, func(key string, refused bool) {
					mistyped.note(names[run.sha]+" "+kindOf(run.prefix, key), refused)
				})
				types.Add(int64(len(run.keys())))
				values.Add(int64(tried))
				failures.Add(int64(refused))
				turn.(*sync.Mutex).Unlock()
			}
		})
	}
	all.Wait()
	t.Logf("of %d calls: %d wrong types, %d wrong values, %d of them refused", len(c.taken), types.Load(), values.Load(), failures.Load())
	least := int64(100)
	if Whole() {
		least = 1000
		for _, unseen := range mistyped.neverRefused() {
			t.Errorf("no call is refused for a wrong type of %s", unseen)
		}
	}
	if types.Load() < least || values.Load() < least || failures.Load() < least {
		t.Error("hardly anything was damaged")
	}
}

func (r *scriptRun) keys() []string {
	n, err := strconv.Atoi(r.words[2])
	if err != nil {
		panic(err)
	}
	keys := slices.Clone(r.words[3 : 3+n])
	slices.Sort(keys)
	return slices.Compact(keys)
}

// namesOfScripts are those of the scripts that write, by what Redis calls them.
func namesOfScripts(s *Store) map[string]string {
	names, loader := map[string]string{}, newLoader(s.bounds, s.bits64)
	for _, sc := range s.scripts {
		for _, flag := range []string{loader.file(sc.name).says("FLAG"), drains} {
			if !sc.ro {
				names[shaOf(loader.text(sc.name, flag))] = sc.name
			}
		}
	}
	return names
}

func shaOf(text string) string {
	sum := sha1.Sum([]byte(text)) // #nosec G401 -- Redis names scripts by it
	return hex.EncodeToString(sum[:])
}
