package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// A suite is the tests of a package, compiled with all of its mutants.
type suite struct {
	folder, binary, work string
	tests                string                   // a pattern
	took                 map[string]time.Duration // each test that passes without mutants
	unsteady             []string                 // the other tests: they kill nothing
	reach                map[string][]string      // by the id of a mutant, the tests that run it
	blind                bool                     // reach is not known: every test runs for every mutant
}

var compileError = regexp.MustCompile(`(?m)(\w+\.go:\d+):\d+: `)

// prepare compiles the mutants of a package into the tests of another, or its own.
func prepare(root, folder, tester, work string) ([]mutant, *suite) {
	lua, source, tests := filepath.Base(folder) == "lua", folder, "^(Test|Fuzz|Example)"
	if lua {
		source, tester, tests = filepath.Dir(folder), filepath.Dir(folder), "^(TestRedisKeepsThePromises|TestRedisNeverDivergesFromTheModel)$"
	}
	b := &suite{folder: filepath.Join(root, tester), binary: filepath.Join(work, "tests"), work: work, tests: tests, blind: lua,
		took: map[string]time.Duration{}, reach: map[string][]string{}}
	files := strings.Fields(string(must(exec.Command("go", "list", "-C", filepath.Join(root, source), "-f", `{{.Name}} {{join .GoFiles " "}}`).Output())))
	broken := map[string]bool{}
	for {
		s := &schema{root: root, folder: folder, work: work, broken: broken, replaced: map[string]string{}}
		if lua {
			s.mutateLua(files[0])
		} else {
			for _, file := range files[1:] {
				s.mutateGo(file)
			}
			s.replace(filepath.Join(root, source, "zz_mutants.go"), fmt.Sprintf(wakeGo, files[0]))
		}
		said, err := exec.Command("go", "test", "-C", root, "-c", "-vet=off", "-trimpath", "-gcflags=./"+source+"=-e", "-overlay", s.save(), "-o", b.binary, "./"+tester).CombinedOutput()
		if err == nil {
			return s.mutants, b
		}
		known := len(broken)
		for _, found := range compileError.FindAllSubmatch(said, -1) {
			broken[string(found[1])] = true
		}
		if len(broken) == known {
			check(fmt.Errorf("%w\n%s", err, said))
		}
	}
}

// measure runs each test alone, twice, and notes what it reaches.
func (b *suite) measure(mutants []mutant) {
	var mu sync.Mutex
	sideBySide(strings.Fields(string(must(exec.Command(b.binary, "-test.list", b.tests).Output()))), func(test string) {
		hits, began := filepath.Join(b.work, "hits."+test), time.Now()
		red := b.run([]string{test}, "MUTANT_HITS="+hits, 10*time.Minute, "-test.count=2")
		mu.Lock()
		defer mu.Unlock()
		if len(red) > 0 {
			b.unsteady = append(b.unsteady, test)
			return
		}
		b.took[test] = time.Since(began) / 2
		reached, _ := os.ReadFile(hits) // no file: nothing is reached
		for _, id := range strings.Fields(string(reached)) {
			if !slices.Contains(b.reach[id], test) { // a test may start processes
				b.reach[id] = append(b.reach[id], test)
			}
		}
	})
	for i := 0; b.blind && i < len(mutants); i++ {
		b.reach[fmt.Sprint(mutants[i].id)] = slices.Collect(maps.Keys(b.took))
	}
}

// kills reports whether a test fails twice while the mutant is awake, and passes in between
// while it sleeps. Quick tests run first.
func (b *suite) kills(id string) bool {
	quick, slow := []string{}, []string{}
	for _, test := range b.reach[id] {
		if b.took[test] < time.Second {
			quick = append(quick, test)
		} else {
			slow = append(slow, test)
		}
	}
	for _, tests := range [][]string{quick, slow} {
		red := b.run(tests, "MUTANT="+id, b.patience(tests), "-test.failfast")
		if len(red) > 0 && len(b.run(red, "MUTANT=0", b.patience(red))) == 0 && len(b.run(red, "MUTANT="+id, b.patience(red))) > 0 {
			return true
		}
	}
	return false
}

// patience is far more than the tests took, so that only a mutant that hangs uses it up.
func (b *suite) patience(tests []string) time.Duration {
	patience := 20 * time.Second
	for _, test := range tests {
		patience += 5 * b.took[test]
	}
	return patience
}

var (
	notPassed = regexp.MustCompile(`(?m)^(?:--- FAIL: |\t+)(Test\w+|Fuzz\w+|Example\w*)(?:/\S*)? \(\d[\dhms.]*\)$`) // or running at the end of its time
	crashed   = regexp.MustCompile(`(?m)^(panic|fatal error): `)
)

// run returns the tests that failed, crashed or hung. A process that ended otherwise, for
// want of memory perhaps, shows nothing.
func (b *suite) run(tests []string, setting string, patience time.Duration, flags ...string) (red []string) {
	if len(tests) == 0 {
		return nil
	}
	folder := must(os.MkdirTemp("", "t")) // a short name: tests have sockets in it
	defer os.RemoveAll(folder)
	ctx, cancel := context.WithTimeout(context.Background(), patience+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 4194304; exec "$@"`, "sh", b.binary, "-test.run=^("+strings.Join(tests, "|")+")$", "-test.timeout="+patience.String())
	cmd.Args = append(cmd.Args, flags...)
	cmd.Dir, cmd.Env = b.folder, append(os.Environ(), "TMPDIR="+folder, setting)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &said, &said, 5*time.Second
	if cmd.Run() == nil {
		return nil
	}
	for _, found := range notPassed.FindAllStringSubmatch(said.String(), -1) {
		if slices.Contains(tests, found[1]) && !slices.Contains(red, found[1]) {
			red = append(red, found[1])
		}
	}
	if len(red) == 0 && crashed.Match(said.Bytes()) {
		return tests // one of them, in a goroutine
	}
	return red
}

// sideBySide calls do for each value, several at once for each processor: tests wait.
func sideBySide[T any](all []T, do func(T)) {
	var wait sync.WaitGroup
	slots := make(chan bool, 3*runtime.NumCPU())
	for _, one := range all {
		slots <- true
		wait.Go(func() {
			defer func() { <-slots }()
			do(one)
		})
	}
	wait.Wait()
}
