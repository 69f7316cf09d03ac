package redisstore

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/c3po-dev/c3po"
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

// A slot is one key or word of a head, alone or in a table.
type slot struct{ table, name, is string }

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
					*slots = append(*slots, slot{name, f[1], f[4]})
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
		key := look(&looks, f, "KEYS[%d]", i+1)
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
		local(f.name, as(readAs, f, "ARGV[%d]", i+1))
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
		b.WriteString("A_ = A_ + 1; for i = 1, tonumber(ARGV[A_]) do ")
		row := ""
		field := func(f slot, value string) {
			if f.name == "" {
				row = value
			} else {
				row += f.name + " = " + value + ", "
			}
		}
		for i, f := range list.keys {
			field(f, look(&b, f, "KEYS[K_ + %d]", i+1))
		}
		for i, f := range list.words {
			field(f, as(readAs, f, "ARGV[A_ + %d]", i+1))
		}
		if strings.HasSuffix(row, ", ") {
			row = "{ " + row + "}"
		}
		fmt.Fprintf(&b, "%s[i] = %s; K_, A_ = K_ + %d, A_ + %d end; ", list.name, row, len(list.keys), len(list.words))
	}
	return looks.String() + b.String()
}

// bind puts what a script is given into the order of its head. It fails if
// something is missing, or if the script knows nothing of it.
func (s signature) bind(k keys, standing func(string) (string, bool), given with, texts ...plain) (keyNames, words []string, err error) {
	complain := func(what, name string) {
		if err == nil {
			err = fmt.Errorf("it is given %s %q", what, name)
		}
	}
	value := func(from with, name string, otherwise func(string) (string, bool)) string {
		var text string
		v, ok := from[name]
		if ok {
			text, ok = spelt(v)
		} else {
			text, ok = otherwise(name)
		}
		if !ok {
			complain("no", name)
		}
		return text
	}
	keyNames, words = make([]string, len(s.keys)), make([]string, len(s.words))
	found := make([]bool, len(s.words)+len(s.keys))
	for _, text := range texts {
		i, known := s.places[text.name]
		switch {
		case !known:
			complain("an unknown", text.name)
			continue
		case i < len(words):
			words[i] = text.text
		default:
			keyNames[i-len(words)] = text.text
		}
		found[i] = true
	}
	var room spelling
	for i, f := range s.keys {
		if found[len(s.words)+i] {
			continue
		}
		named, from := func(name string) (string, bool) { return room.ofSpace(k, name) }, given
		if f.table != "" {
			from = nil
			if whose, given := given[f.table].(owned); given {
				named = func(name string) (string, bool) { return room.ofAgent(whose, name) }
			}
		}
		keyNames[i] = value(from, f.name, named)
	}
	for i, f := range s.words {
		if !found[i] {
			words[i] = value(given, f.name, standing)
		}
	}
	none := func(string) (string, bool) { return "", false }
	for _, list := range s.lists {
		if texts, plain := given[list.name].([]string); plain && list.names[""] {
			words = append(words, itoa(len(texts)))
			if list.keys != nil {
				keyNames = append(keyNames, texts...)
			} else {
				words = append(words, texts...)
			}
			continue
		}
		all, found := given[list.name].([]with)
		if !found {
			complain("no list", list.name)
		}
		words = append(words, itoa(len(all)))
		for _, row := range all {
			whose, _ := row["of"].(owned)
			for _, f := range list.keys {
				keyNames = append(keyNames, value(row, f.name, whose.named))
			}
			for _, f := range list.words {
				words = append(words, value(row, f.name, none))
			}
			for name := range row {
				if name != "of" && !list.names[name] {
					complain("an unknown", list.name+"."+name)
				}
			}
		}
	}
	for _, f := range s.fixed {
		if _, twice := given[f.name]; twice {
			complain("a constant", f.name)
		}
	}
	for name := range given {
		if !s.names[name] {
			complain("an unknown", name)
		}
	}
	return keyNames, words, err
}

// spelt is a value as a script reads it.
func spelt(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return flag(v), true
	case int:
		return itoa(v), true
	case int64:
		return itoa(v), true
	}
	text := reflect.ValueOf(v)
	return text.String(), text.Kind() == reflect.String
}

// standing is what every script can have without being given it.
func (s *Store) standing(k keys) func(string) (string, bool) {
	return func(name string) (string, bool) {
		switch name {
		case "now":
			return s.nowArg(), true
		case "channel":
			return k.wake(), true
		}
		return "", false
	}
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
