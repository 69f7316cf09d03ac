package quickstart_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// A block is what somebody types in one terminal, and what they see there:
//
//	```console [laptop] waits
//	$ c3po wait --as api
//	web::api::fd6d300d  message from web, just now, expects an answer
//	```
//
// The name in brackets says which terminal. One that waits goes on while the
// next block is run.
type block struct {
	line     int
	terminal string
	waits    bool
	steps    []step
}

// A step is a command, and the lines it prints.
type step struct {
	line    int
	command string
	prints  []string
}

var fence = regexp.MustCompile("^```(\\S*)(?: \\[(\\S+)\\])?( waits)?$")

// parsePage finds the blocks of a page. All code of such a page can be run: any
// other kind of block is refused.
func parsePage(text string) ([]block, error) {
	var blocks []block
	inside := false
	for n, line := range strings.Split(text, "\n") {
		opening := fence.FindStringSubmatch(line)
		switch {
		case inside && line == "```":
			inside = false
		case inside:
			if err := blocks[len(blocks)-1].add(n+1, line); err != nil {
				return nil, err
			}
		case opening != nil && opening[1] == "console":
			inside = true
			blocks = append(blocks, block{line: n + 1, terminal: opening[2], waits: opening[3] != ""})
		case opening != nil || strings.HasPrefix(line, "    ") && !strings.HasPrefix(strings.TrimSpace(line), "-"):
			return nil, fmt.Errorf("line %d: a quick start has console blocks only, so that all of them are run", n+1)
		}
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("there is nothing to run")
	}
	return blocks, nil
}

func (b *block) add(n int, line string) error {
	last := len(b.steps) - 1
	command, isCommand := strings.CutPrefix(line, "$ ")
	switch {
	case isCommand:
		b.steps = append(b.steps, step{line: n, command: command})
	case last < 0:
		return fmt.Errorf("line %d: output of no command", n)
	case strings.HasSuffix(b.steps[last].command, "\\") && len(b.steps[last].prints) == 0:
		b.steps[last].command += "\n" + line
	default:
		b.steps[last].prints = append(b.steps[last].prints, line)
	}
	return nil
}

// names is what was seen so far of that which differs each time: the ids,
// invitations and keys of the page, and those of this run.
type names struct {
	mu   sync.Mutex
	real map[string]string
}

var (
	// differs is what no two runs have in common: ids of messages, invitations,
	// keys of a coordinator, ids of containers.
	differs = regexp.MustCompile(`[\w./-]+::[\w./-]+::[0-9a-f]{8}|c3po://\S+|sha256//[^']+|\b[0-9a-f]{12}\b`)
	// varies is what may be anything: moments, durations, ages, places in the file system, the rest.
	varies = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}|\b\d\d:\d\d\b|[\d.]+ m?s\b|just now|\d+ \w+ ago|/(?:home|usr|tmp)/\S+|…`)
	token  = regexp.MustCompile(differs.String() + "|" + varies.String())
)

// command is one of the page, as it is typed this time.
func (n *names) command(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return differs.ReplaceAllStringFunc(text, func(name string) string {
		if real, known := n.real[name]; known {
			return real
		}
		return name
	})
}

// compare says how what was printed differs from the page. A line … on the page
// stands for any number of lines.
func (n *names) compare(page, printed []string) error {
	for len(page) > 0 {
		if page[0] == "…" {
			if len(page) == 1 {
				return nil
			}
			for len(printed) > 0 && !n.same(page[1], printed[0]) {
				printed = printed[1:]
			}
			page = page[1:]
			continue
		}
		if len(printed) == 0 {
			return fmt.Errorf("%q is on the page, and was not printed", page[0])
		}
		if !n.same(page[0], printed[0]) {
			return fmt.Errorf("%q is on the page, %q was printed", page[0], printed[0])
		}
		page, printed = page[1:], printed[1:]
	}
	if len(printed) > 0 {
		return fmt.Errorf("%q was printed, and is not on the page", printed[0])
	}
	return nil
}

// same compares two lines, and keeps the names of a line that is the same.
func (n *names) same(page, printed string) bool {
	// When somebody will read it depends on whether they wait already.
	if sent, _, found := strings.Cut(page, "; "); found && strings.HasPrefix(page, "sent ") {
		page = sent
		printed, _, _ = strings.Cut(printed, "; ")
	}
	var form strings.Builder
	var held []string
	rest := page
	for at := token.FindStringIndex(rest); at != nil; at = token.FindStringIndex(rest) {
		form.WriteString(regexp.QuoteMeta(rest[:at[0]]))
		word := rest[at[0]:at[1]]
		switch {
		case word == "…":
			form.WriteString(`.*`)
		case !differs.MatchString(word) && strings.HasPrefix(word, "/"):
			form.WriteString(`/\S+`)
		case !differs.MatchString(word):
			form.WriteString(`(?:` + varies.String() + `)`)
		default:
			form.WriteString(`(` + differs.String() + `)`)
			held = append(held, word)
		}
		rest = rest[at[1]:]
	}
	form.WriteString(regexp.QuoteMeta(rest))
	match := regexp.MustCompile("^" + form.String() + "$").FindStringSubmatch(printed)
	if match == nil {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, name := range held {
		if real, known := n.real[name]; known && real != match[i+1] {
			return false
		}
	}
	for i, name := range held {
		n.real[name] = match[i+1]
	}
	return true
}

func TestAPageThatDivergesFromItsProgramIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page, printed string
		same          bool
	}{
		"the same":                     {"a\nb", "a\nb", true},
		"another id":                   {"sent a::b::00000001, on disk\nagain a::b::00000001", "sent a::b::fd6d300d, on disk\nagain a::b::fd6d300d", true},
		"two ids where the page has 1": {"sent a::b::00000001, on disk\nagain a::b::00000001", "sent a::b::fd6d300d, on disk\nagain a::b::76f41509", false},
		"another time":                 {"at 2026-11-15 11:18:26.370, in 104.1 ms, just now", "at 2027-01-01 00:00:00.000, in 2 s, 3 minutes ago", true},
		"another word":                 {"accepted, just now", "refused, just now", false},
		"a line more":                  {"a", "a\nb", false},
		"a line less":                  {"a\nb", "a", false},
		"lines left out":               {"…\nc", "a\nb\nc", true},
		"lines left out at the end":    {"a\n…", "a\nb\nc", true},
		"lines left out, and another":  {"…\nc", "a\nb\nd", false},
		"another place":                {"it is in /home/you/bin/c3po", "it is in /tmp/x/bin/c3po", true},
		"read another time":            {"sent a::b::00000001, on disk; b wakes now", "sent a::b::00000002, on disk; b is offline", true},
	} {
		seen := &names{real: map[string]string{}}
		if err := seen.compare(strings.Split(c.page, "\n"), strings.Split(c.printed, "\n")); (err == nil) != c.same {
			t.Errorf("%s: %v", name, err)
		}
	}
	seen := &names{real: map[string]string{}}
	if err := seen.compare([]string{"echo c3po://nas/9f2c…-k3v7… | c3po join -"}, []string{"echo c3po://nas/abc-def | c3po join -"}); err != nil {
		t.Error(err)
	}
	if got := seen.command("echo c3po://nas/9f2c…-k3v7… | c3po join - --yes"); got != "echo c3po://nas/abc-def | c3po join - --yes" {
		t.Errorf("it is typed as %q", got)
	}
}

func TestCodeThatCannotBeRunIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"# no code", "```sh\nc3po up\n```", "```\nc3po up\n```", "Like so:\n\n    c3po up\n", "```console\nout\n$ c3po up\n```"} {
		if blocks, err := parsePage(text); err == nil {
			t.Errorf("%q gives %v", text, blocks)
		}
	}
	blocks, err := parsePage("```console [nas] waits\n$ a \\\n  b\nout\n$ c\n```\n")
	if err != nil || len(blocks) != 1 || blocks[0].terminal != "nas" || !blocks[0].waits || len(blocks[0].steps) != 2 ||
		blocks[0].steps[0].command != "a \\\n  b" || len(blocks[0].steps[0].prints) != 1 {
		t.Errorf("%+v, %v", blocks, err)
	}
}
