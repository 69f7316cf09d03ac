// Command mutate changes packages in many small ways, one at a time, and counts the changes
// that their tests notice:
//
//	go run ./tools/mutate [-n 200] [-seed N] [-since REV] [-record FILE] internal/hub internal/node=internal/hub …
//
// After = stands the package whose tests must notice, if it is another. All mutants of a package
// are compiled into one binary, in which an environment variable wakes one. In a folder called
// lua each condition of a script is negated. A survivor fails nothing: read it, and write the
// test that it shows to be missing.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	n := flag.Int("n", 200, "how many mutants to wake, over all packages")
	seed := flag.Uint64("seed", uint64(time.Now().Unix()), "the `number` that chooses the mutants")
	since := flag.String("since", "", "only mutants in lines that have changed since this `revision`")
	record := flag.String("record", "", "the `file` that keeps the score of each package")
	flag.Parse()
	fmt.Println("seed", *seed)
	root := strings.TrimSpace(string(must(exec.Command("git", "rev-parse", "--show-toplevel").Output())))
	for _, argument := range flag.Args() {
		folder, tester, found := strings.Cut(argument, "=")
		if !found {
			tester = folder
		}
		work := must(os.MkdirTemp("", "mutate"))
		row := try(root, folder, tester, work, *since, *seed, max(1, *n/flag.NArg()))
		check(os.RemoveAll(work))
		if *record != "" && *since == "" {
			keep(filepath.Join(root, *record), row)
		}
	}
}

// try wakes n random mutants of a package, prints which survive, and returns the score.
func try(root, folder, tester, work, since string, seed uint64, n int) string {
	mutants, tests := prepare(root, folder, tester, work)
	if since != "" {
		changed := changedLines(root, since, folder)
		mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return !changed[m.at] })
	}
	if len(mutants) > 0 {
		tests.measure(mutants)
	}
	var reached []mutant
	for _, m := range mutants {
		if len(tests.reach[fmt.Sprint(m.id)]) > 0 {
			reached = append(reached, m)
		} else if since != "" {
			fmt.Println("  not reached", m.at, m.what)
		}
	}
	random := rand.New(rand.NewPCG(seed, 0)) // #nosec G404 -- a seeded choice that can be repeated
	random.Shuffle(len(reached), func(i, j int) { reached[i], reached[j] = reached[j], reached[i] })
	woken := reached[:min(n, len(reached))]
	var mu sync.Mutex
	survived := 0
	sideBySide(woken, func(m mutant) {
		if !tests.kills(fmt.Sprint(m.id)) {
			mu.Lock()
			defer mu.Unlock()
			survived++
			fmt.Println("  survived", m.at, m.what)
		}
	})
	if len(tests.unsteady) > 0 {
		fmt.Println("  left out, red without mutants:", strings.Join(tests.unsteady, " "))
	}
	killed, share, count := len(woken)-survived, "?", "-"
	if !tests.blind {
		share, count = fmt.Sprint(100*len(reached)/max(1, len(mutants))), fmt.Sprint(len(reached))
	}
	fmt.Printf("%s: %d mutants, %s %% reached; %d run, %d %% killed\n", folder, len(mutants), share, len(woken), 100*killed/max(1, len(woken)))
	return fmt.Sprintf("%-33s %s %7d %7s %5d %6d", folder, time.Now().Format(time.DateOnly), len(mutants), count, len(woken), killed)
}

var hunk = regexp.MustCompile(`^@@ -\S+ \+(\d+)(,\d+)? @@`)

// changedLines are the lines below folder that differ from a revision: "internal/hub/waits.go:12".
func changedLines(root, since, folder string) map[string]bool {
	diff := must(exec.Command("git", "-C", root, "diff", "--unified=0", "--no-ext-diff", "--dst-prefix=b/", since, "--", folder).Output())
	lines, file := map[string]bool{}, ""
	for line := range strings.Lines(string(diff)) {
		if name, found := strings.CutPrefix(line, "+++ b/"); found {
			file = strings.TrimSpace(name)
		}
		if found := hunk.FindStringSubmatch(line); found != nil {
			from, count := 0, 1
			fmt.Sscan(found[1], &from)
			fmt.Sscanf(found[2], ",%d", &count)
			for i := range count {
				lines[fmt.Sprintf("%s:%d", file, from+i)] = true
			}
		}
	}
	return lines
}

// keep writes the score of a package over its last one.
func keep(file, row string) {
	lines := strings.Split(strings.TrimSpace(string(must(os.ReadFile(file)))), "\n")
	folder, _, _ := strings.Cut(row, " ")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, folder+" ") })
	check(os.WriteFile(file, []byte(strings.Join(append(lines, row), "\n")+"\n"), 0o600))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}
