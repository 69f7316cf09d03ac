package faultrig

import (
	"encoding/json"
	"testing"
	"time"
)

// An Invariant is a promise that no fault may break. docs/explain/guarantees.md says
// each of them in full.
type Invariant string

// The invariants.
const (
	NothingStoredIsLost  Invariant = "I1" // a send whose receipt says on disk is never lost
	AckIsFinal           Invariant = "I2" // what was acked, as its reader was told, never comes again
	OneMessageAKey       Invariant = "I3" // one message for one sender and key, however often it is sent
	OrderIsKept          Invariant = "I4" // from one sender to one recipient, at one priority, in the order of sending
	BooksBalance         Invariant = "I5" // sent = pending + acked + cancelled + dead, and the bytes as counted
	NobodyActsForAnother Invariant = "I6" // no reading, acking or answering outside one's token
	NoWakeIsLost         Invariant = "I7" // who waits hears of what is stored, whatever pub/sub loses
	UnknownIsSaid        Invariant = "I8" // what may have happened is called unknown, never failed or done
	HooksNeverBlock      Invariant = "I9" // an agent's turn goes on, whatever the coordinator does
)

// VerdictMark begins the line of a test's output that holds its Verdict as JSON.
const VerdictMark = "verdict: "

// A Verdict is what a test under faults did and found: one row of the table that
// `make torture` ends with.
type Verdict struct {
	Row      string        `json:"row"` // of the matrix in testdata/matrix.txt: "B1"
	Holds    []Invariant   `json:"holds"`
	Size     string        `json:"size"`   // what was done: "200,000 sends"
	Faults   string        `json:"faults"` // what was done to it: "100 kills of a coordinator"
	Lost     int           `json:"lost"`
	Doubled  int           `json:"doubled"`
	Recovery time.Duration `json:"recovery,omitempty"` // the longest; zero where nothing had to recover
}

// Record writes the verdict into the output of the test. Whether the row holds
// is whether the test passes.
func (v Verdict) Record(t *testing.T) {
	t.Helper()
	line, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(VerdictMark + string(line))
}
