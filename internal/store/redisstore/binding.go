package redisstore

import (
	"fmt"
	"reflect"
)

// bind puts what a script is given into the order of its head. It fails if
// something is missing, or if the script knows nothing of it.
func (s signature) bind(k keys, standing func(string) (string, bool), given with, texts ...plain) (keyNames, words []string, err error) {
	b := binding{signature: s, given: given, words: make([]string, len(s.words)), keys: make([]string, len(s.keys))}
	found := make([]bool, len(s.words)+len(s.keys))
	for _, text := range texts {
		i, known := s.places[text.name]
		switch {
		case !known:
			b.complain("an unknown", text.name)
			continue
		case i < len(b.words):
			b.words[i] = text.text
		default:
			b.keys[i-len(b.words)] = text.text
		}
		found[i] = true
	}
	for i, f := range s.keys {
		if !found[len(s.words)+i] {
			b.keys[i] = b.key(k, f)
		}
	}
	for i, f := range s.words {
		if found[i] {
			continue
		}
		text, is := b.take(f.name)
		if !is {
			text, is = standing(f.name)
		}
		if b.words[i] = text; !is {
			b.complain("no", f.name)
		}
	}
	for _, list := range s.lists {
		b.list(list)
	}
	if b.used != len(given) {
		b.complainOfRest()
	}
	return b.keys, b.words, b.err
}

// A binding is what a script is given while it is put into order.
type binding struct {
	signature
	given       with
	used        int // of given; if all are, none is unknown
	keys, words []string
	room        spelling
	table       string // whose keys were spelt last, which stand together in a head
	whose       owned
	err         error
}

func (b *binding) complain(what, name string) {
	if b.err == nil {
		b.err = fmt.Errorf("it is given %s %q", what, name)
	}
}

// take is what was given by a name.
func (b *binding) take(name string) (text string, is bool) {
	v, given := b.given[name]
	if !given {
		return "", false
	}
	b.used++
	return spelt(v)
}

// key is a key of the space or of an agent, unless it was given.
func (b *binding) key(k keys, f slot) (key string) {
	is := f.ofSpace
	if f.table == "" {
		if text, given := b.take(f.name); given {
			return text
		}
		key = b.room.spell(string(k), f.name)
	} else {
		if f.table != b.table {
			v, given := b.given[f.table]
			if given {
				b.used++
			}
			b.table = f.table
			b.whose, _ = v.(owned)
		}
		if is = f.ofAgent && b.whose.keys != ""; b.whose.keys == "" {
			is = f.ofSpace
			key = b.room.spell(string(k), f.name)
		} else {
			key = b.room.spell(string(b.whose.keys), f.name, ":", string(b.whose.id))
		}
	}
	if !is {
		b.complain("no", f.name)
	}
	return key
}

// list appends the rows of a list, or its words.
func (b *binding) list(list *rows) {
	v, given := b.given[list.name]
	if given {
		b.used++
	}
	if texts, plain := v.([]string); plain && list.names[""] {
		b.words = append(b.words, itoa(len(texts)))
		if list.keys != nil {
			b.keys = append(b.keys, texts...)
		} else {
			b.words = append(b.words, texts...)
		}
		return
	}
	all, is := v.([]with)
	if !is {
		b.complain("no list", list.name)
	}
	b.words = append(b.words, itoa(len(all)))
	for _, row := range all {
		whose, _ := row["of"].(owned)
		take := func(name string) (text string, is bool) {
			if v, given := row[name]; given {
				return spelt(v)
			}
			return "", false
		}
		for _, f := range list.keys {
			text, is := take(f.name)
			if !is {
				text, is = whose.named(f.name)
			}
			if b.keys = append(b.keys, text); !is {
				b.complain("no", f.name)
			}
		}
		for _, f := range list.words {
			text, is := take(f.name)
			if b.words = append(b.words, text); !is {
				b.complain("no", f.name)
			}
		}
		for name := range row {
			if name != "of" && !list.names[name] {
				b.complain("an unknown", list.name+"."+name)
			}
		}
	}
}

// complainOfRest names what was given and not used.
func (b *binding) complainOfRest() {
	for _, f := range b.fixed {
		if _, twice := b.given[f.name]; twice {
			b.complain("a constant", f.name)
		}
	}
	for name := range b.given {
		if !b.names[name] {
			b.complain("an unknown", name)
		}
	}
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
