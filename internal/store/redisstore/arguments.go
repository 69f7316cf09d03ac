package redisstore

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// with is what a script is given, by the names that its head declares:
//
//	-- KEYS  meta:hash mail{inbox:zset fact} notes[mark:hash]
//	-- ARGV  now:clock owner bytes:number notes[reader seq:number] given[]
//
// Each name is a local of the script. NAME{…} is a table of keys, in Go owned keys;
// NAME[…] a list of rows, in Go []with, whose keys may be owned too ("of"); NAME[] a
// list of words, in Go []string. A list that is declared twice is one, whose rows
// have keys and words. What a key is to hold is looked at before the script starts;
// a word is a text, unless it is a :number, a :flag, the :clock or, if it is a constant, a
// :literal of Lua.
//
// Keys of the space itself, now and channel need not be given, and the limits are
// constants of the scripts. What a
// file shares with scripts it can declare too, without types: it is set then in
// those that declare it.
type with map[string]any

// A plain is a word or a key that is a text. What the busiest steps give is plain: a map
// of them would cost them more than most of what they do.
type plain struct{ name, text string }

// A slot is one key or word of a head, alone or in a table. Of a key it is also known
// whether a space, or each agent, has one of its name.
type slot struct {
	table, name, is  string
	ofSpace, ofAgent bool
}

// rows are a list: what each of its rows has among keys and words. That of a list of
// words has no name.
type rows struct {
	name        string
	keys, words []slot
	names       map[string]bool
}

type signature struct {
	keys, words []slot
	lists       []*rows
	fixed       []constant
	names       map[string]bool // the locals that it makes
	places      map[string]int  // where in words a word stands, and behind those a key
}

// A constant is a word that is the same each time.
type constant struct {
	slot
	value string
}

// fix makes constants of those words that are fixed: a script reads them in no time.
func (s signature) fix(fixed map[string]string) signature {
	given := s.words
	s.words = nil
	for _, f := range given {
		if value, is := fixed[f.name]; is && f.table == "" {
			s.fixed = append(s.fixed, constant{f, value})
		} else {
			s.words = append(s.words, f)
		}
	}
	return s.placed()
}

// placed finds the places of those keys and words that stand alone.
func (s signature) placed() signature {
	s.places = map[string]int{}
	for i, f := range slices.Concat(s.words, s.keys) {
		if f.table == "" {
			s.places[f.name] = i
		}
	}
	return s
}

var (
	headOfFile = regexp.MustCompile(`^(?:--.*\n)*`)
	declared   = regexp.MustCompile(`(?m)^-- (KEYS|ARGV)  (.*(?:\n--       .*)*)`)
	parted     = regexp.MustCompile(`^([a-z_]+)(?:\{([^{}]+)\}|(\[[^\[\]]*\]))?(?::([a-z]+))?(?:\s+|$)`)
	lookedAs   = map[string]string{
		"hash": "redis.call('HLEN', %s); ", "zset": "redis.call('ZCARD', %s); ", "stream": "redis.call('XLEN', %s); ",
		"string": "redis.call('STRLEN', %s); ", "set": "redis.call('SCARD', %s); ",
	}
	readAs = map[string]string{"": "%s", "literal": "%s", "number": "tonumber(%s)", "flag": "%s == '1'", "clock": "clock(%s)"}
)

// signatureOf reads the head of a file of Lua. It panics if the head makes no
// sense: nothing could run.
func signatureOf(file, text string) signature {
	s := signature{names: map[string]bool{}}
	lists := map[string]*rows{}
	for _, found := range declared.FindAllStringSubmatch(headOfFile.FindString(text), -1) {
		slots := &s.words
		if found[1] == "KEYS" {
			slots = &s.keys
		}
		for _, m := range partsOf(file, strings.ReplaceAll(found[2], "\n--", " ")) {
			name, table, row, is := m[1], m[2], m[3], m[4]
			list := lists[name]
			if s.names[name] && (row == "" || list == nil) {
				panic("redisstore: " + file + ".lua declares " + name + " twice")
			}
			s.names[name] = true
			switch {
			case row == "" && table == "":
				*slots = append(*slots, slot{name: name, is: is})
				continue
			case row == "":
				for _, f := range partsOf(file, table) {
					*slots = append(*slots, slot{table: name, name: f[1], is: f[4]})
				}
				continue
			case list == nil:
				list = &rows{name: name, names: map[string]bool{}}
				lists[name], s.lists = list, append(s.lists, list)
			}
			fields := &list.words
			if slots == &s.keys {
				fields = &list.keys
			}
			if row == "[]" {
				*fields, list.names[""] = []slot{{is: is}}, true
			}
			for _, f := range partsOf(file, strings.Trim(row, "[]")) {
				*fields, list.names[f[1]] = append(*fields, slot{name: f[1], is: f[4]}), true
			}
		}
	}
	for i, f := range s.keys {
		s.keys[i].ofSpace, s.keys[i].ofAgent = slices.Contains(spaceNames, f.name), slices.Contains(agentNames, f.name)
	}
	return s.placed()
}

func partsOf(file, text string) (parts [][]string) {
	for rest := strings.TrimSpace(text); rest != ""; {
		m := parted.FindStringSubmatch(rest)
		if m == nil {
			panic("redisstore: the head of " + file + ".lua cannot be read at " + rest)
		}
		parts, rest = append(parts, m), rest[len(m[0]):]
	}
	return parts
}

// prelude is the Lua that makes the locals of a script out of KEYS and ARGV. It is
// one line, so that those of the script keep their numbers. Those that are shared are
// set instead.
func (s signature) prelude(shared map[string]bool) string {
	var looks, b strings.Builder
	local := func(name, value string) {
		if !shared[name] {
			b.WriteString("local ")
		}
		b.WriteString(name + " = " + value + "; ")
	}
	as := func(how map[string]string, f slot, format string, n int) string {
		if how[f.is] == "" {
			panic("redisstore: " + f.name + " cannot be a " + f.is)
		}
		return fmt.Sprintf(how[f.is], fmt.Sprintf(format, n))
	}
	look := func(b *strings.Builder, f slot, format string, n int) string {
		if f.is != "" {
			b.WriteString(as(lookedAs, f, format, n))
		}
		return fmt.Sprintf(format, n)
	}
	tables, order := map[string]string{}, []string{}
	for i, f := range s.keys {
		key := look(&looks, f, "K[%d]", i+1)
		if f.table == "" {
			local(f.name, key)
			continue
		}
		if tables[f.table] == "" {
			order = append(order, f.table)
		}
		tables[f.table] += f.name + " = " + key + ", "
	}
	for _, table := range order {
		local(table, "{ "+tables[table]+"}")
	}
	for i, f := range s.words {
		local(f.name, as(readAs, f, "A[%d]", i+1))
	}
	for _, f := range s.fixed {
		if f.is == "number" || f.is == "literal" {
			local(f.name, f.value)
		} else {
			local(f.name, strconv.Quote(f.value))
		}
	}
	if len(s.lists) > 0 {
		fmt.Fprintf(&b, "local K_, A_ = %d, %d; ", len(s.keys), len(s.words))
	}
	for _, list := range s.lists {
		local(list.name, "{}")
		b.WriteString("A_ = A_ + 1; for i = 1, tonumber(A[A_]) do ")
		row := ""
		field := func(f slot, value string) {
			if f.name == "" {
				row = value
			} else {
				row += f.name + " = " + value + ", "
			}
		}
		for i, f := range list.keys {
			field(f, look(&b, f, "K[K_ + %d]", i+1))
		}
		for i, f := range list.words {
			field(f, as(readAs, f, "A[A_ + %d]", i+1))
		}
		if strings.HasSuffix(row, ", ") {
			row = "{ " + row + "}"
		}
		fmt.Fprintf(&b, "%s[i] = %s; K_, A_ = K_ + %d, A_ + %d end; ", list.name, row, len(list.keys), len(list.words))
	}
	// A global is looked up each time, in two tables.
	return "local K, A = KEYS, ARGV; " + looks.String() + b.String()
}

// boundsOf spells the limits that scripts know by name.
func boundsOf(l c3po.Limits) map[string]string {
	return map[string]string{
		"max_events": itoa(l.EventEntries), "online_window": millis(l.OnlineWindow), "ended_life": seconds(l.EndedLife), "ended_bytes": itoa(l.EndedBytes),
		"message_life": seconds(l.MessageLife), "dead_life": seconds(l.DeadLife), "key_life": seconds(l.KeyLife), "name_life": seconds(l.NameLife),
		"space_bytes": itoa(l.SpaceBytes), "caps": capsOf(l),
		"file_life": seconds(l.FileLife), "upload_life": seconds(min(l.FileLife, c3po.UploadLife)), "space_files": itoa(l.SpaceFileBytes),
	}
}
