package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// brief is long enough for messages to get through.
const brief = 200 * time.Millisecond

// command is a measurement in a process and a temporary folder of its own.
func command(t *testing.T, scenario string, args ...string) (cmd *exec.Cmd, folder string) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("redis-server is not installed")
	}
	// Short: the path of a socket may not be long.
	folder, err := os.MkdirTemp("", "b")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(program, append(append([]string{"-json", "-program", faultrig.Binary(t)}, args...), scenario)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+folder, "HOME="+folder, commandVariable+"=1")
	return cmd, folder
}

// measured runs a measurement as people do, prints it and wants nothing left.
func measured(t *testing.T, scenario string, args ...string) Report {
	t.Helper()
	cmd, folder := command(t, scenario, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("bench %s %v: %v\n%s", scenario, args, err, stderr.String())
	}
	var reports []Report
	if err := json.Unmarshal(stdout.Bytes(), &reports); err != nil || len(reports) != 1 {
		t.Fatalf("it printed %q (%v)", stdout.String(), err)
	}
	for _, f := range reports[0].Doors {
		t.Logf("%s over %-5s: %6.0f a second (%.2f of Redis), p50 %.1f ms, p99 %.1f ms, processor µs: bench %.0f, coordinator %.0f, Redis %.0f",
			scenario, f.Door, f.Rate, f.OfRedis, f.P50, f.P99, f.CPU[ProcessBench], f.CPU[ProcessCoordinator], f.CPU[ProcessRedis])
	}
	if left := remains(t, folder); left != "" {
		t.Errorf("it left behind: %s", left)
	}
	return reports[0]
}

// remains is what is left of a measurement: files, and on Linux processes.
func remains(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "c3po-bench-*"))
	if err != nil {
		t.Fatal(err)
	}
	if debug := filepath.Join(folder, ".debug"); exists(debug) {
		files = append(files, debug) // what perf keeps of the programs it saw
	}
	return strings.Join(append(files, processesIn(folder)...), ", ")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func processesIn(folder string) []string {
	var found []string
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if cwd, err := os.Readlink(link); err == nil && strings.HasPrefix(cwd, folder) {
			found = append(found, filepath.Dir(link))
		}
	}
	return found
}

func TestAWaitIsMeasuredThroughEveryDoor(t *testing.T) {
	whole(t, measured(t, Wait, "-seconds", "1", "-concurrency", "16"))
}

// whole says that a report tells all there is to tell.
func whole(t *testing.T, report Report) {
	t.Helper()
	if report.Durability != c3po.OnDisk {
		t.Errorf("%s: what is accepted is worth %q, and should be on disk", report.Scenario, report.Durability)
	}
	for _, door := range []string{Redis, REST, MCP} {
		f := report.Of(door)
		if f.Operations == 0 || f.Rate <= 0 || f.OfRedis <= 0 || f.P50 <= 0 || f.P99 < f.P50 {
			t.Errorf("%s over %s: %+v", report.Scenario, door, f)
		}
		want := map[string]bool{ProcessBench: true, ProcessRedis: true, ProcessCoordinator: door != Redis}
		if runtime.GOOS != "linux" {
			want = map[string]bool{}
		}
		for _, process := range []string{ProcessBench, ProcessRedis, ProcessCoordinator} {
			if _, told := f.CPU[process]; told != want[process] {
				t.Errorf("%s over %s: the processor time of %s is told: %t", report.Scenario, door, process, told)
			}
		}
	}
}

func TestWhatHappensBetweenManyIsMeasuredThroughEveryDoor(t *testing.T) {
	for scenario, concurrency := range map[string]int{Deliver: 8, Rooms: 20, Waiters: 100, Mixed: 8} {
		var missing []string
		// A machine that does much else may need longer for one operation of each kind.
		for length := 2 * brief; length < 20*brief; length *= 3 {
			report, err := Run(t.Context(), Config{Scenario: scenario, Length: length, Concurrency: concurrency, Program: faultrig.Binary(t)})
			if err != nil {
				t.Fatalf("%s: %v", scenario, err)
			}
			if missing = missingIn(report); len(missing) == 0 {
				break
			}
		}
		if len(missing) > 0 {
			t.Errorf("%s: %s", scenario, strings.Join(missing, "; "))
		}
	}
}

// missingIn says what a report does not tell, and should.
func missingIn(report Report) []string {
	var missing []string
	for _, door := range []string{Redis, REST, MCP} {
		f := report.Of(door)
		if f.Operations == 0 || f.P50 <= 0 || f.P99 < f.P50 {
			missing = append(missing, fmt.Sprintf("over %s: %+v", door, f))
		}
		if memory := f.Memory[ProcessCoordinator]; report.Scenario == Waiters && door != Redis && runtime.GOOS == "linux" && memory <= 0 {
			missing = append(missing, fmt.Sprintf("a wait over %s holds %v bytes", door, memory))
		}
		if report.Scenario == Mixed && len(f.Parts) != 4 {
			missing = append(missing, fmt.Sprintf("over %s the parts are %+v", door, f.Parts))
		}
		for _, part := range f.Parts {
			if part.Operations == 0 {
				missing = append(missing, fmt.Sprintf("over %s nothing of %s was done", door, part.Scenario))
			}
		}
	}
	return missing
}

func TestMessagesComeAtTheRateThatIsAskedFor(t *testing.T) {
	report, err := Run(t.Context(), Config{Length: 2 * brief, Concurrency: 4, Rate: 50, Program: faultrig.Binary(t)})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Doors {
		// A busy machine may be late, never early; turns may be left over from the warming up.
		if most := 50*2*brief.Seconds() + wakers; float64(f.Operations) > most {
			t.Errorf("%s: %d messages, and at most %v were to come", f.Door, f.Operations, most)
		}
	}
}

func TestAKilledMeasurementLeavesNoProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere children outlive who was killed")
	}
	cmd, folder := command(t, Send, "-seconds", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it has begun", func() bool { return len(processesIn(folder)) > 0 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "its processes are gone", func() bool { return len(processesIn(folder)) == 0 })
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("it never came to this: %s", what)
		}
	}
}

func TestARedisOfYoursIsLeftAsItWas(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	if _, err := redistest.Do(redis, "SET", "yours", "kept"); err != nil {
		t.Fatal(err)
	}
	report, err := Run(t.Context(), Config{Length: brief, Concurrency: 4, RedisURL: redis, Program: faultrig.Binary(t)})
	if err != nil {
		t.Fatal(err)
	}
	if report.Durability != c3po.InMemory {
		t.Errorf("a Redis that does not sync is reported as %+v", report)
	}
	keys, err := redistest.Do(redis, "KEYS", "*")
	if err != nil {
		t.Fatal(err)
	}
	// The coordinators leave what every coordinator needs, which is of no space.
	for _, key := range keys.([]any) {
		if name := key.(string); name != "yours" && !strings.HasPrefix(name, "c3po:1:{_}:") {
			t.Errorf("%s was left", name)
		}
	}
	spaces, err := redistest.Do(redis, "SMEMBERS", "c3po:1:{_}:spaces")
	if err != nil || fmt.Sprint(spaces) != "[]" {
		t.Errorf("the spaces are now %v (%v)", spaces, err)
	}
}

func TestOnlyWhatCanBeMeasuredIs(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{
		"an unknown scenario":          {Scenario: "dance"},
		"more than a minute":           {Length: time.Minute + 1},
		"less than no time":            {Length: -1},
		"too much at once":             {Concurrency: 10_001},
		"faster than anything":         {Rate: 100_001},
		"less than never":              {Rate: -1},
		"a rate of what has none":      {Scenario: Deliver, Rate: 5},
		"longer than a message may be": {Size: 50_001},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Run(t.Context(), cfg)
			if refused, ok := errors.AsType[*c3po.Error](err); !ok || refused.Code != c3po.InvalidRequest || refused.Suggestion == "" {
				t.Errorf("answered %v", err)
			}
		})
	}
}

// aSample is a second in which so many operations of each scenario took 2 ms.
func aSample(operations map[string]int) sample {
	s := sample{elapsed: time.Second}
	for _, scenario := range Scenarios() {
		if n := operations[scenario]; n > 0 {
			took := slices.Repeat([]time.Duration{2 * time.Millisecond}, n)
			s.took = append(s.took, took...)
			s.parts = append(s.parts, part{scenario, took})
		}
	}
	return s
}

func TestFiguresAreMediansOfTheRounds(t *testing.T) {
	t.Parallel()
	round := func(operations int, took time.Duration) sample {
		s := sample{elapsed: time.Second, cpu: map[string]time.Duration{ProcessRedis: 10 * time.Millisecond}}
		for range operations {
			s.took = append(s.took, took)
		}
		return s
	}
	redis := []sample{round(100, time.Millisecond), round(200, time.Millisecond), round(1000, time.Millisecond)}
	got := figures(REST, []sample{round(50, 2*time.Millisecond), round(150, 3*time.Millisecond), round(100, 8*time.Millisecond)}, redis)
	want := Figures{Door: REST, Operations: 300, Rates: []float64{50, 150, 100}, Rate: 100, OfRedis: 0.5, P50: 3, P99: 8, CPU: map[string]float64{ProcessRedis: 100}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := figures(REST, []sample{{elapsed: time.Second}}, redis); got.Rate != 0 || got.Operations != 0 {
		t.Errorf("a door through which nothing went has %+v", got)
	}
}

func TestIDsAndCursorsAreFoundInBothKindsOfAnswer(t *testing.T) {
	t.Parallel()
	for _, form := range []struct {
		answer string
		mcp    bool
	}{
		{`{"id":"asker-1::helper-2::0a1b2c3d","seq":41,"unacked":1,"seq":42}`, false},
		{"c3po: one message.\\nasker-1::helper-2::0a1b2c3d from asker-1\\nc3po: to wait for later mail only: wait_for_message(after=42).", true},
	} {
		id, err := messageID([]byte(form.answer), "::helper-2::")
		if err != nil || id != "asker-1::helper-2::0a1b2c3d" {
			t.Errorf("in %s the id is %q (%v)", form.answer, id, err)
		}
		if got := cursor([]byte(form.answer), form.mcp); got != 42 {
			t.Errorf("in %s the cursor is %d", form.answer, got)
		}
	}
	if id, err := messageID([]byte(`{"status":"timeout"}`), "::helper-2::"); err == nil {
		t.Errorf("an answer without a message has id %q", id)
	}
}

func TestWhatAMachineWasTooBusyForIsDoneAgain(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		`{"code":"UNKNOWN_OUTCOME","error":"the answer of Redis was lost","suggestion":"Repeat it."}`,
		`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"c3po: REDIS_UNAVAILABLE: Redis cannot be reached"}],"isError":true}}`,
	} {
		tries := 0
		err := insist(t.Context(), func() error {
			if tries++; tries == 3 {
				return nil
			}
			return refusal(http.StatusBadGateway, []byte(answer))
		})
		if err != nil || tries != 3 {
			t.Errorf("after %d tries: %v", tries, err)
		}
	}
	tries := 0
	if err := insist(t.Context(), func() error { tries++; return c3po.Errorf(c3po.InboxFull, "full") }); !errors.Is(err, c3po.InboxFull) || tries != 1 {
		t.Errorf("what is refused for good was tried %d times: %v", tries, err)
	}
}

func TestAMeasurementReadsTheTimeOfItsOwnProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	before, ok := cpuTime(os.Getpid())
	if !ok {
		t.Fatal("our own time is not told")
	}
	eventually(t, "our own time grows", func() bool {
		now, _ := cpuTime(os.Getpid())
		for range 1_000_000 { // something to do
		}
		return now > before
	})
}
