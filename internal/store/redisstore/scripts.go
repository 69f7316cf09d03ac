package redisstore

import (
	"context"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

//go:embed lua/*.lua
var sources embed.FS

// stepTimeout bounds one step, repeats included. Whoever calls is told within two
// seconds, with what else a call has to do.
const stepTimeout = 1700 * time.Millisecond

// dialTimeout bounds a connection from its beginning until it can be used. A step
// whose time is over may have to wait for one that another step has begun.
const dialTimeout = 1200 * time.Millisecond

type script struct {
	name string
	lua  *rueidis.Lua
	ro   bool
	head signature
}

// A script that makes room, or that a full store must not stop, is allowed to
// run out of memory; the others are refused before their first command then.
const (
	writes  = "#!lua\n"
	drains  = "#!lua flags=allow-oom\n"
	noWrite = "#!lua flags=no-writes\n"
)

type scripts struct {
	send, reply, ack, received           script
	claim, ackClaimed                    script
	told, goOn, trimFlow                 script
	register, registerKnown, unregister  script
	status, pause                        script
	attach, detach, lease, notes         script
	tick, bury, trim, trimDead, trimKeys script
	reaper, swept                        script
	drop, dropRole, dropImports          script
	vacate, leaving, floor, begin        script
	inbox, next, entries, cards, online  script
	rollback                             script
	cancel, lapse, keyed, die, silent    script
	noticeClaim, noticeSent              script
	retire, trimRetired, revive, rename  script
	reindex, reclaim, reRooms, relist    script
	join, leave, invite, roomSet, post   script
	endRoom, dieDeclared                 script
	ackPosts, heard, roomMail, posts     script
	grantPut, grantRevoke, grantTouch    script
	changes, invitePut, inviteSpend      script
	authority, audit, runNote, sign      script
	importAgent, importMail, importRoom  script
	importPost, importMember             script
}

func loadScripts() scripts {
	load := loader{}.load
	return scripts{
		send: load("send", writes, "keys", "flow"), reply: load("reply", writes, "keys", "flow"), ack: load("ack", drains), received: load("received", drains),
		claim: load("claim", drains), ackClaimed: load("ackclaimed", drains),
		told: load("told", writes), goOn: load("goon", drains), trimFlow: load("trimflow", drains),
		register: load("register", writes), unregister: load("unregister", drains), status: load("status", writes),
		attach: load("attach", drains), detach: load("detach", drains), lease: load("lease", drains), notes: load("notes", drains, "marks"),
		tick: load("tick", drains), bury: load("bury", drains), trim: load("trim", drains), trimDead: load("trimdead", drains), trimKeys: load("trimkeys", drains),
		reaper: load("reaper", drains), swept: load("swept", drains),
		drop: load("drop", drains), dropRole: load("droprole", drains), dropImports: load("dropimports", drains),
		vacate: load("vacate", drains), leaving: load("leaving", drains), floor: load("floor", drains), begin: load("begin", drains),
		inbox: load("inbox", noWrite), next: load("next", noWrite, "marks"), entries: load("entries", noWrite), cards: load("cards", noWrite), online: load("online", noWrite),
		rollback: load("rollback", drains),
		cancel:   load("cancel", drains), lapse: load("lapse", drains), keyed: load("keyed", noWrite, "keys"),
		noticeClaim: load("noticeclaim", drains), noticeSent: load("noticesent", drains),
		retire: load("retire", drains), trimRetired: load("trimretired", drains), revive: load("revive", writes), rename: load("rename", drains),
		reindex: load("reindex", drains), reclaim: load("reclaim", drains), reRooms: load("rerooms", drains), relist: load("relist", drains),
		join: load("join", writes), leave: load("leave", drains), endRoom: load("endroom", drains), invite: load("invite", writes), roomSet: load("roomset", writes), post: load("post", writes, "keys"),
		ackPosts: load("ackposts", drains), heard: load("heard", writes), roomMail: load("roommail", noWrite), posts: load("posts", noWrite),
		importAgent: load("importagent", writes), importMail: load("importmail", writes), importRoom: load("importroom", writes),
		importPost: load("importpost", writes), importMember: load("importmember", writes),
		silent: load("silent", drains),
		die:    load("die", drains), dieDeclared: load("diedeclared", drains), sign: load("sign", drains),
		// A full store must not keep a known agent out, a person from pausing it, a
		// coordinator from starting, or anybody from ending or using a token.
		registerKnown: load("register", drains),
		pause:         load("pause", drains),
		authority:     load("authority", drains),
		grantPut:      load("grantput", writes), grantRevoke: load("grantrevoke", drains), grantTouch: load("granttouch", drains),
		changes: load("changes", noWrite), invitePut: load("inviteput", writes), inviteSpend: load("invitespend", drains),
		audit: load("audit", drains), runNote: load("runnote", writes),
	}
}

// A loader puts scripts together, of what it has read of the files they share.
type loader map[string]luaFile

type luaFile struct {
	text   string
	head   signature
	locals map[string]bool // its functions
}

func (l loader) file(name string) luaFile {
	f, known := l[name]
	if !known {
		f.text, f.locals = read(name), map[string]bool{}
		f.head = signatureOf(name, f.text)
		for line := range strings.Lines(f.text) {
			if function, is := strings.CutPrefix(line, "local function "); is {
				name, _, _ := strings.Cut(function, "(")
				f.locals[name] = true
			}
		}
		l[name] = f
	}
	return f
}

// load puts a script together: what all share, what it shares with some, its locals
// by the names in its head, itself.
func (l loader) load(name, flags string, shared ...string) script {
	self := l.file(name)
	before := ""
	set := map[string]bool{}
	for _, part := range append([]string{"lib"}, shared...) {
		file := l.file(part)
		maps.Copy(set, file.head.names)
		before += file.text
		for local := range self.head.names {
			if file.locals[local] {
				panic("redisstore: what " + name + ".lua declares as " + local + " is something else in " + part + ".lua")
			}
		}
	}
	text := flags + "local " + strings.Join(slices.Sorted(maps.Keys(set)), ", ") + "\n" + before + self.head.prelude(set) + "\n" + self.text
	if flags == noWrite {
		return script{name: name, lua: rueidis.NewLuaScriptReadOnly(text), ro: true, head: self.head}
	}
	return script{name: name, lua: rueidis.NewLuaScript(text), head: self.head}
}

func read(name string) string {
	text, err := sources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic("redisstore: a script is missing from the binary: " + name)
	}
	return string(text)
}

// run executes a script and gives its answer, whose first element is always a
// word for the outcome (entries.lua, a plain read, aside).
func (s *Store) run(ctx context.Context, sc script, k keys, given with) ([]rueidis.RedisMessage, error) {
	defer s.took(sc.name, time.Now())
	keys, args, err := sc.head.bind(k, s.standing(k), given)
	if err != nil {
		return nil, fmt.Errorf("run %s.lua: %w", sc.name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
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
