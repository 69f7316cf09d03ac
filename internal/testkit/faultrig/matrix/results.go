package matrix

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// The ways an entry ends.
const (
	Passed  = "holds"
	Failed  = "FAILED"
	Skipped = "SKIPPED"
	Missing = "DID NOT RUN"
)

// A Result is how one test or command ended.
type Result struct {
	End      string
	Took     time.Duration
	Verdicts []faultrig.Verdict // that the test recorded, if any
	Output   []string           // of a test that failed or was skipped, its last lines
}

// Results collects them. The zero value is ready.
type Results struct {
	tests    map[testKey]*Result
	commands map[string]*Result
}

type testKey struct{ folder, test string }

// An event is a line of `go test -json`, or of how a command ended.
type event struct {
	Action  string
	Package string `json:",omitempty"`
	Test    string `json:",omitempty"`
	Command string `json:",omitempty"`
	Output  string `json:",omitempty"`
	Elapsed float64
}

// Add takes one line of `go test -json`. It reports the end of a test, for who
// watches; of a test within a test, nothing. What is no such line is passed over.
func (r *Results) Add(line string) (test string, ended *Result) {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil || e.Test == "" && e.Command == "" {
		return "", nil
	}
	end := map[string]string{"pass": Passed, "fail": Failed, "skip": Skipped}[e.Action]
	if e.Command != "" {
		r.addCommand(e.Command, Result{End: end, Took: e.took()})
		return "", nil
	}
	outer, _, within := strings.Cut(e.Test, "/")
	result := r.of(testKey{e.Package, outer})
	switch {
	case e.Action == "run" && !within: // anew, if it was interrupted or has failed
		*result = Result{}
	case e.Action == "output":
		result.take(e.Output)
	case end != "" && !within:
		result.End, result.Took = end, e.took()
		if end == Passed {
			result.Output = nil
		}
		return outer, result
	case end == Skipped:
		result.take(e.Test + " was skipped\n")
	}
	return "", nil
}

func (r *Results) addCommand(command string, result Result) {
	if r.commands == nil {
		r.commands = map[string]*Result{}
	}
	r.commands[command] = &result
}

// took is how long all of it took, whatever ran beside it.
func (r *Results) took() (all time.Duration) {
	for _, result := range r.tests {
		all += result.Took
	}
	for _, result := range r.commands {
		all += result.Took
	}
	return all
}

func (e event) took() time.Duration { return time.Duration(e.Elapsed * float64(time.Second)) }

// Of is how an entry ended. Only what was seen to pass holds.
func (r *Results) Of(e Entry) Result {
	var found *Result
	if e.Command != "" {
		found = r.commands[e.Command]
	} else {
		found = r.tests[testKey{ImportPath(e.Package), e.Test}]
	}
	if found == nil || found.End == "" {
		return Result{End: Missing}
	}
	return *found
}

const module = "github.com/c3po-dev/c3po"

func ImportPath(folder string) string { return module + strings.TrimPrefix(folder, ".") }

func (r *Results) of(key testKey) *Result {
	if r.tests == nil {
		r.tests = map[testKey]*Result{}
	}
	if r.tests[key] == nil {
		r.tests[key] = &Result{}
	}
	return r.tests[key]
}

func (r *Result) take(output string) {
	const most = 60
	r.Output = append(r.Output, output)
	r.Output = r.Output[max(0, len(r.Output)-most):]
	_, said, found := strings.Cut(output, faultrig.VerdictMark)
	var verdict faultrig.Verdict
	if found && json.Unmarshal([]byte(said), &verdict) == nil {
		r.Verdicts = append(r.Verdicts, verdict)
	}
}
