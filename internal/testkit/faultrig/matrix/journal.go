package matrix

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// A Journal is a file that keeps what has run of one commit, so that a run that was
// interrupted goes on where it stopped. It is lines of JSON: one for each time that
// somebody began, and what `go test -json` and commands said since. Several may add
// to it at once.
type Journal struct {
	adding  sync.Mutex
	file    *os.File
	commit  string
	began   time.Time // the first time
	pieces  int
	results *Results
}

// A piece is the line of a beginning.
type piece struct {
	Commit string    `json:"commit"`
	Began  time.Time `json:"began"`
}

// Open reads what the file has of the commit into the results, and goes on with it.
// What it has of another commit is dropped.
func Open(name, commit string, now time.Time, results *Results) (*Journal, error) {
	j := &Journal{commit: commit, began: now, pieces: 1, results: results}
	mode := os.O_CREATE | os.O_APPEND | os.O_WRONLY
	switch known, err := j.read(name); {
	case err != nil:
		return nil, err
	case !known:
		mode |= os.O_TRUNC
	}
	var err error
	if j.file, err = os.OpenFile(name, mode, 0o600); err != nil {
		return nil, err
	}
	text, err := json.Marshal(piece{commit, now})
	if err == nil {
		_, err = fmt.Fprintf(j.file, "\n%s\n", text) // a line may have been cut off
	}
	return j, err
}

func (j *Journal) read(name string) (known bool, err error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var p piece
		if json.Unmarshal(lines.Bytes(), &p) == nil && p.Commit != "" {
			if p.Commit != j.commit {
				return false, nil
			}
			if !known {
				known, j.began = true, p.Began
			}
			j.pieces++
			continue
		}
		j.results.Add(lines.Text())
	}
	return known, lines.Err()
}

// Add is that of the results, kept.
func (j *Journal) Add(line string) (test string, ended *Result, err error) {
	j.adding.Lock()
	defer j.adding.Unlock()
	test, ended = j.results.Add(line)
	_, err = j.file.WriteString(line)
	return test, ended, err
}

// AddCommand takes how a command ended.
func (j *Journal) AddCommand(command string, failed bool, took time.Duration) error {
	e := event{Action: "pass", Command: command, Elapsed: took.Seconds()}
	if failed {
		e.Action = "fail"
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, _, err = j.Add(string(line) + "\n")
	}
	return err
}

// Close ends it; the file stays.
func (j *Journal) Close() error { return j.file.Close() }

// String says of which commit the results are, since when, and in how many pieces.
func (j *Journal) String() string {
	pieces := "in one go"
	if j.pieces > 1 {
		pieces = fmt.Sprintf("in %d pieces", j.pieces)
	}
	return fmt.Sprintf("commit %s, begun %s, %s of tests %s", j.commit, j.began.UTC().Format(time.DateTime), j.results.took().Round(time.Second), pieces)
}
