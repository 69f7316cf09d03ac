package redisstore

import (
	"regexp"
	"slices"
	"strings"
)

// A part is one statement of a shared file: a function, or a constant. A script makes
// all its locals anew each time it runs, which cost more than what most of them do, so
// it is given only those parts that it uses.
type part struct {
	text  string
	names []string // the locals it makes
	uses  map[string]bool
}

var (
	luaComment = regexp.MustCompile(`(?m)--.*$`)
	luaWord    = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	luaLocal   = regexp.MustCompile(`^local (?:function )?([A-Za-z_0-9, ]+)`)
)

// partsOfFile splits a file at its lines that begin with "local".
func partsOfFile(text string) (parts []part) {
	code := luaComment.ReplaceAllString(text, "")
	at := 0
	add := func(end int) {
		if made := luaLocal.FindStringSubmatch(code[at:end]); made != nil {
			parts = append(parts, part{code[at:end], luaWord.FindAllString(made[1], -1), wordsOf(code[at:end])})
		}
		at = end
	}
	for i := 0; ; {
		next := strings.Index(code[i:], "\nlocal ")
		if next < 0 {
			add(len(code))
			return parts
		}
		i += next + 1
		add(i)
	}
}

func wordsOf(code string) map[string]bool {
	words := map[string]bool{}
	for _, word := range luaWord.FindAllString(code, -1) {
		words[word] = true
	}
	return words
}

// needed are those parts that a script uses, directly or through others. A part uses
// only what stands before it.
func needed(parts []part, script string) string {
	used := wordsOf(luaComment.ReplaceAllString(script, ""))
	var text []string
	for _, p := range slices.Backward(parts) {
		if !slices.ContainsFunc(p.names, func(name string) bool { return used[name] }) {
			continue
		}
		text = append(text, p.text)
		for word := range p.uses {
			used[word] = true
		}
	}
	slices.Reverse(text)
	return strings.Join(text, "")
}
