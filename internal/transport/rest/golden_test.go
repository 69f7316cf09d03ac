package rest_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A scenario is a row of exchanges over one store.
type scenario struct {
	title     string
	mode      string // "", "faked time" or "redis down"
	exchanges []exchange
}

// An exchange is a request and the answer as it is printed.
type exchange struct {
	title   string
	ask     question
	status  int
	printed string
}

func TestEveryExchangeOfTheDocumentsIsAnsweredAsPrinted(t *testing.T) {
	t.Parallel()
	ours := readOurFields(t)
	scenarios := slices.Concat(readGolden(t, "001.golden"), readGolden(t, "000.golden"), readGolden(t, "002.golden"))
	var played atomic.Int64
	t.Cleanup(func() {
		if int(played.Load()) == len(scenarios) {
			ours.wantAllNeeded(t)
		}
	})
	for _, s := range scenarios {
		t.Run(s.title, func(t *testing.T) {
			t.Parallel()
			switch s.mode {
			case "faked time":
				synctest.Test(t, func(t *testing.T) { s.play(t, onModel(t), ours) })
			case "redis down":
				redis := redistest.New(t)
				stack := onRedis(t, redis.URL())
				redis.Kill()
				s.play(t, stack, ours)
			default:
				s.play(t, onRedis(t, redistest.Start(t)), ours)
			}
			played.Add(1)
		})
	}
}

func (s scenario) play(t *testing.T, stack *testServer, ours *fieldList) {
	ids := map[string]string{} // printed id → the one that was given out
	for _, e := range s.exchanges {
		q := e.ask
		for printed, real := range ids {
			q.body = strings.ReplaceAll(q.body, printed, real)
			q.path = strings.ReplaceAll(q.path, url.PathEscape(printed), url.PathEscape(real))
		}
		got := stack.ask(t, q)
		if got.status != e.status {
			t.Errorf("%s: status %d, want %d: %s", e.title, got.status, e.status, got.body)
			continue
		}
		if e.printed == "" {
			if len(got.body) > 0 {
				t.Errorf("%s: answered %s, want nothing", e.title, got.body)
			}
			continue
		}
		var printed, answered any
		if err := json.Unmarshal([]byte(e.printed), &printed); err != nil {
			t.Fatalf("%s: %v in %s", e.title, err, e.printed)
		}
		got.into(t, &answered)
		c := comparison{route: e.route(), ids: ids, ours: ours}
		c.compare("", printed, answered)
		for _, problem := range c.problems {
			t.Errorf("%s: %s\n%s", e.title, problem, got.body)
		}
	}
}

// A comparison holds what is answered against what is printed.
type comparison struct {
	route    string
	ids      map[string]string
	ours     *fieldList
	problems []string
}

func (c *comparison) say(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *comparison) compare(path string, printed, answered any) {
	switch printed := printed.(type) {
	case map[string]any:
		answered, ok := answered.(map[string]any)
		if !ok {
			c.say("%s is not an object", path)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(printed)) {
			value, there := answered[name]
			if !there {
				c.say("%s.%s is missing", path, name)
				continue
			}
			c.compare(path+"."+name, printed[name], value)
		}
		for _, name := range slices.Sorted(maps.Keys(answered)) {
			if _, there := printed[name]; !there && !c.ours.has(c.route, name) {
				c.say("%s.%s is neither printed nor listed for %s in our-fields.txt", path, name, c.route)
			}
		}
	case []any:
		answered, ok := answered.([]any)
		if !ok || len(answered) != len(printed) {
			c.say("%s is not an array of %d", path, len(printed))
			return
		}
		for i := range printed {
			c.compare(fmt.Sprintf("%s[%d]", path, i), printed[i], answered[i])
		}
	case string:
		answered, ok := answered.(string)
		if !ok || !c.sameText(printed, answered) {
			c.say("%s is %q, printed is %q", path, answered, printed)
		}
	case float64:
		// How long something took is different each time.
		if took, ok := answered.(float64); strings.HasSuffix(path, ".latencyMs") && ok && took >= 0 {
			return
		}
		if printed != answered {
			c.say("%s is %v, printed is %v", path, answered, printed)
		}
	default:
		if printed != answered {
			c.say("%s is %v, printed is %v", path, answered, printed)
		}
	}
}

var messageIDForm = regexp.MustCompile(`^([^:]+::[^:]+::)[0-9a-f]{8}$`)

// sameText lets a printed time stand for any time, and a printed id for one
// and only one id of the same two agents.
func (c *comparison) sameText(printed, answered string) bool {
	if _, err := time.Parse(time.RFC3339, printed); err == nil {
		_, err := time.Parse(time.RFC3339, answered)
		return err == nil && strings.HasSuffix(answered, "Z")
	}
	if before, id, ok := strings.Cut(printed, "/replies/"); ok && before == "" {
		// Where to wait has the id of the ticket in it.
		printed, answered = unescaped(id), unescaped(strings.TrimPrefix(answered, "/replies/"))
		printed, answered = strings.TrimSuffix(printed, "/stream"), strings.TrimSuffix(answered, "/stream")
	}
	form := messageIDForm.FindStringSubmatch(printed)
	if form == nil {
		return printed == answered
	}
	if real, known := c.ids[printed]; known {
		return answered == real
	}
	if other := messageIDForm.FindStringSubmatch(answered); other == nil || other[1] != form[1] {
		return false
	}
	c.ids[printed] = answered
	return true
}

func unescaped(path string) string {
	plain, err := url.PathUnescape(path)
	if err != nil {
		return path
	}
	return plain
}

// route is how our-fields.txt calls what answered: by its last name, and every
// refusal alike.
func (e exchange) route() string {
	if e.status >= 400 {
		return "error"
	}
	path, _, _ := strings.Cut(e.ask.path, "?")
	if strings.HasPrefix(path, "/replies/") {
		return "replies" // its last name is a ticket
	}
	return path[strings.LastIndex(path, "/")+1:]
}

// A fieldList is our-fields.txt: what we answer beside what is printed.
type fieldList struct {
	mu    sync.Mutex
	known map[field]bool // was it ever needed
}

type field struct{ route, name string }

func (l *fieldList) has(route, name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.known[field{route, name}]; !ok {
		return false
	}
	l.known[field{route, name}] = true
	return true
}

// wantAllNeeded fails for a field that no scenario needed.
func (l *fieldList) wantAllNeeded(t *testing.T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for f, needed := range l.known {
		if !needed {
			t.Errorf("our-fields.txt lists %s for %s, which never answers it", f.name, f.route)
		}
	}
}

func readOurFields(t *testing.T) *fieldList {
	t.Helper()
	list := &fieldList{known: map[field]bool{}}
	for _, line := range readLines(t, "our-fields.txt") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Fields(line)
		if len(parts) < 3 {
			t.Fatalf("our-fields.txt: %q is not a name, its routes and a reason", line)
		}
		for route := range strings.SplitSeq(parts[1], ",") {
			list.known[field{route, parts[0]}] = false
		}
	}
	return list
}

func readLines(t *testing.T, file string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	for scanner := bufio.NewScanner(f); scanner.Scan(); {
		lines = append(lines, scanner.Text())
	}
	return lines
}

var (
	titleForm   = regexp.MustCompile(`^=== (.*?)(?: \[(.*)\])?$`)
	requestForm = regexp.MustCompile(`^(GET|POST) (/\S+)$`)
	statusForm  = regexp.MustCompile(`^[1-5][0-9][0-9]$`)
)

// readGolden reads the form that 001.golden describes.
func readGolden(t *testing.T, file string) []scenario {
	t.Helper()
	var all []scenario
	var e *exchange
	for n, line := range readLines(t, file) {
		title := titleForm.FindStringSubmatch(line)
		request := requestForm.FindStringSubmatch(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case title != nil:
			all = append(all, scenario{title: title[1], mode: title[2]})
		case strings.HasPrefix(line, "--- "):
			s := &all[len(all)-1]
			s.exchanges = append(s.exchanges, exchange{title: line[4:]})
			e = &s.exchanges[len(s.exchanges)-1]
		case strings.HasPrefix(line, "as "):
			e.ask.as = line[3:]
		case strings.HasPrefix(line, "session "):
			e.ask.header = map[string]string{"X-Session-ID": line[8:]}
		case request != nil:
			e.ask.method, e.ask.path = request[1], request[2]
		case statusForm.MatchString(line) && e.status == 0:
			e.status, _ = strconv.Atoi(line)
		case e.status != 0:
			e.printed += line + "\n"
		case e.ask.path != "":
			e.ask.body += line
		default:
			t.Fatalf("%s:%d: %q stands where nothing was expected", file, n+1, line)
		}
	}
	return all
}
