package redisstore

import (
	"context"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/internal/auth"
)

//go:embed lua/*.lua
var sources embed.FS

// stepTimeout bounds one step, repeats included. A caller gets an answer within two
// seconds, including the rest of its call.
const stepTimeout = 1700 * time.Millisecond

// dialTimeout bounds a connection from its beginning until it can be used. A step
// whose time is over may have to wait for one that another step has begun.
const dialTimeout = 1200 * time.Millisecond

// A scriptName is the file of a script, without its ending.
type scriptName string

type script struct {
	name string
	lua  *rueidis.Lua
	ro   bool
	head signature
}

// What a head says with FLAG. A script that makes room, or that a full store must not
// stop, may run when memory is short; the others are refused before their first command.
// A full store stops nobody from pausing an agent, starting a coordinator, or ending or
// using a token.
const (
	drains  = "allow-oom"
	noWrite = "no-writes"
)

// knownRegister is agent_register for an agent that a full store must not keep out.
const knownRegister scriptName = "agent_register_known"

// loadScripts loads every NOUN_VERB.lua. The other files are shared by those that name
// them with USES. What is fixed is written into them.
func loadScripts(fixed map[string]string, bits64 bool) map[scriptName]script {
	files, err := sources.ReadDir("lua")
	if err != nil {
		panic("redisstore: " + err.Error())
	}
	loader, all := newLoader(fixed, bits64), map[scriptName]script{}
	for _, file := range files {
		if name := strings.TrimSuffix(file.Name(), ".lua"); strings.Contains(name, "_") {
			all[scriptName(name)] = loader.load(name, loader.file(name).says("FLAG"))
		}
	}
	all[knownRegister] = loader.load("agent_register", drains)
	return all
}

// A loader puts scripts together, of what it has read of the files they share. What is
// fixed is a constant of a script and not given to it each time.
type loader struct {
	files map[string]luaFile
	fixed map[string]string
	whole string
	named string // for what its scripts are made: two loaders of one name make the same
}

func newLoader(fixed map[string]string, bits64 bool) loader {
	l := loader{files: map[string]luaFile{}, fixed: fixed, whole: "%.0f"}
	if bits64 {
		l.whole = "%d" // which takes half the time
	}
	l.named = fmt.Sprint(l.whole, fixed) // maps are written in order
	return l
}

// What never changes is made once for all stores of a process: tests open thousands.
var (
	parsed sync.Map // luaFile by its name, with nothing fixed
	made   sync.Map // text of a script, by its loader, name and flag
)

type luaFile struct {
	text   string
	head   signature
	parts  []part
	locals map[string]bool // its functions
}

func (l loader) file(name string) luaFile {
	f, known := l.files[name]
	if !known {
		f = parse(name)
		f.head = f.head.fix(l.fixed)
		l.files[name] = f
	}
	return f
}

func parse(name string) luaFile {
	if f, known := parsed.Load(name); known {
		return f.(luaFile)
	}
	f := luaFile{text: read(name), locals: map[string]bool{}}
	f.head, f.parts = signatureOf(name, f.text), partsOfFile(f.text)
	for line := range strings.Lines(f.text) {
		if function, is := strings.CutPrefix(line, "local function "); is {
			name, _, _ := strings.Cut(function, "(")
			f.locals[name] = true
		}
	}
	parsed.Store(name, f)
	return f
}

// says is what stands behind a word in a file's head; empty if nothing does.
func (f luaFile) says(word string) string {
	for line := range strings.Lines(headOfFile.FindString(f.text)) {
		if said, found := strings.CutPrefix(line, "-- "+word+"  "); found {
			return strings.TrimSpace(said)
		}
	}
	return ""
}

// load puts a script together: what all share, what it shares with some, its locals
// by the names in its head, itself.
func (l loader) load(name, flag string) script {
	text, head := l.text(name, flag), l.file(name).head
	if flag == noWrite {
		return script{name: name, lua: rueidis.NewLuaScriptReadOnly(text), ro: true, head: head}
	}
	return script{name: name, lua: rueidis.NewLuaScript(text), head: head}
}

func (l loader) text(name, flag string) string {
	key := strings.Join([]string{l.named, name, flag}, "\x00")
	if text, known := made.Load(key); known {
		return text.(string)
	}
	text := l.compose(name, flag)
	made.Store(key, text)
	return text
}

func (l loader) compose(name, flag string) string {
	self := l.file(name)
	set := map[string]bool{}
	shared := []part{{text: "local WHOLE = " + strconv.Quote(l.whole) + "\n", names: []string{"WHOLE"}}}
	for _, from := range append([]string{"lib", "rooms"}, strings.Fields(self.says("USES"))...) {
		file := l.file(from)
		maps.Copy(set, file.head.names)
		shared = append(shared, file.parts...)
		for local := range self.head.names {
			if file.locals[local] {
				panic("redisstore: what " + name + ".lua declares as " + local + " is something else in " + from + ".lua")
			}
		}
	}
	first := "#!lua\n"
	switch flag {
	case "":
	case drains, noWrite:
		first = "#!lua flags=" + flag + "\n"
	default:
		panic("redisstore: " + name + ".lua has the flag " + flag + ", which means nothing here")
	}
	script := self.head.prelude(set) + "\n" + self.text
	return first + "local " + strings.Join(slices.Sorted(maps.Keys(set)), ", ") + "\n" + needed(shared, script) + script
}

func read(name string) string {
	text, err := sources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic("redisstore: a script is missing from the binary: " + name)
	}
	return string(text)
}

// run executes a script and gives its answer, whose first element is always a
// word for the outcome (message_read.lua, a plain read, aside).
func (s *Store) run(ctx context.Context, name scriptName, k keys, given with, texts ...plain) ([]rueidis.RedisMessage, error) {
	sc, known := s.scripts[name]
	if !known {
		return nil, fmt.Errorf("there is no script %s.lua", name)
	}
	keys, args, err := sc.head.bind(k, s.standing(k), given, texts...)
	if err != nil {
		return nil, fmt.Errorf("run %s.lua: %w", sc.name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	done, err := auth.TakeTurn(ctx)
	if err != nil {
		return nil, s.failure(ctx, sc.name, err)
	}
	defer done()
	defer s.took(sc.name, time.Now())
	if sc.ro {
		answer, err := sc.lua.Exec(ctx, s.commands, keys, args).ToArray()
		if err != nil {
			return nil, s.failure(ctx, sc.name, err)
		}
		return answer, nil
	}
	var answer []rueidis.RedisMessage
	err = s.write(ctx, sc.name, func() (err error) {
		answer, err = sc.lua.Exec(ctx, s.commands, keys, args).ToArray()
		return err
	})
	return answer, err
}

func word(m rueidis.RedisMessage) string {
	text, _ := m.ToString()
	return text
}

func integer(m rueidis.RedisMessage) int64 {
	if m.IsArray() {
		return 0 // without an error made for it
	}
	if n, err := m.AsInt64(); err == nil {
		return n
	}
	return 0
}

func list(m rueidis.RedisMessage) []rueidis.RedisMessage {
	rows, _ := m.ToArray()
	return rows
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func flag(set bool) string {
	if set {
		return "1"
	}
	return ""
}

func itoa[N int | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

func seconds(d time.Duration) string { return itoa(int64(d / time.Second)) }

func millis(d time.Duration) string { return itoa(d.Milliseconds()) }

// nowArg is what clock in lib.lua is given: which coordinator takes the step,
// and when. In production it does not say when: scripts read Redis TIME.
func (s *Store) nowArg() string {
	if s.now == nil {
		return s.node + "@"
	}
	return s.node + "@" + itoa(s.now().UnixMilli())
}
