package streamfmt_test

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/internal/runner/streamfmt"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

var update = flag.Bool("update", false, "write the golden files")

// still is a clock that stands: durations come from the recordings.
func still() time.Time { return time.Date(2026, 11, 15, 8, 0, 0, 0, time.UTC) }

func format(t testing.TB, stream string) (string, streamfmt.Summary) {
	t.Helper()
	var out strings.Builder
	summary, err := streamfmt.Copy(&out, strings.NewReader(stream), streamfmt.Config{Now: still})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), summary
}

// The recordings are of the real Claude Code; test/claude makes them.
func TestRecordingsOfTheRealClientAreShownToPeople(t *testing.T) {
	t.Parallel()
	recordings, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(recordings) < 7 {
		t.Fatalf("%d recordings: %v", len(recordings), err)
	}
	for _, name := range recordings {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		shown, summary := format(t, string(data))
		if summary.Unknown != 0 || summary.Records == 0 || !summary.Ended {
			t.Errorf("%s: %+v", name, summary)
		}
		golden := strings.TrimSuffix(name, ".jsonl") + ".txt"
		if *update {
			if err := os.WriteFile(golden, []byte(shown), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), shown); diff != "" {
			t.Errorf("%s (-want +got):\n%s", golden, diff)
		}
	}
}

func TestTheAccountOfARunIsHandedOn(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/tools.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	_, s := format(t, string(data))
	if s.Failed || s.Turns != 6 || s.CostUSD <= 0 || s.Took <= 0 || s.SessionID == "" || !strings.HasPrefix(s.Result, "Done: two lines.") {
		t.Errorf("%+v", s)
	}
}

func TestWhatIsNotKnownIsCountedAndLeftOut(t *testing.T) {
	t.Parallel()
	shown, s := format(t, `npm warn old lockfile
{"type":"telepathy","message":"x"}
{"type":"system","subtype":"levitation"}
{"type":"assistant","message":{"content":[{"type":"hologram"},{"type":"text","text":"Hello.","index":"seven"}]},"timestamp":"yesterday"}
{"type":"assistant","message":7}
{"type":"user","message":{"content":"a text"}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"nobody's"}]}}
{"type":"result","subtype":"success","num_turns":"one","result":"Hello."}
{"type":
`)
	if want := "npm warn old lockfile\nHello.\n✓ done in 0.0 s, 0 turns, $0.0000\n{\"type\":\n"; shown != want {
		t.Errorf("shown is\n%swant\n%s", shown, want)
	}
	if s.Unknown != 1 || s.Records != 7 || s.Failed {
		t.Errorf("%+v", s)
	}
}

func TestAStreamThatBreaksOffIsAFailure(t *testing.T) {
	t.Parallel()
	shown, s := format(t, `{"type":"system","subtype":"init","model":"m","cwd":"/w"}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"make"}}]}}
`)
	if !s.Failed || s.Ended || !strings.Contains(shown, "✗ Bash make  was not finished") || !strings.Contains(shown, "ended without a result") {
		t.Errorf("%+v:\n%s", s, shown)
	}
}

// What a task in the background brings begins another turn after the result.
func TestATurnThatBreaksOffAfterAResultIsAFailure(t *testing.T) {
	t.Parallel()
	shown, s := format(t, `{"type":"system","subtype":"init","model":"m","cwd":"/w"}
{"type":"result","subtype":"success","result":"Well."}
{"type":"system","subtype":"init","model":"m","cwd":"/w"}
`)
	if !s.Failed || s.Ended || !strings.HasSuffix(shown, "✗ ended without a result after 0.0 s\n") || strings.Count(shown, "m in /w") != 1 {
		t.Errorf("%+v:\n%s", s, shown)
	}
}

func TestNothingOfTheStreamMovesTheTerminal(t *testing.T) {
	t.Parallel()
	const evil = `\u001b]0;owned\u0007\u001b[2J\u202e\r`
	shown, _ := format(t, "plain \x1b[31m\x07 text\n"+
		`{"type":"system","subtype":"init","model":"`+evil+`","cwd":"`+evil+`"}`+"\n"+
		`{"type":"system","subtype":"hook_response","hook_name":"`+evil+`","exit_code":1,"stderr":"`+evil+`"}`+"\n"+
		`{"type":"system","subtype":"permission_denied","tool_name":"`+evil+`"}`+"\n"+
		`{"type":"assistant","message":{"content":[{"type":"text","text":"`+evil+`"},{"type":"tool_use","id":"1","name":"`+evil+`","input":{"command":"`+evil+`"}},{"type":"tool_use","id":"2","name":"mcp__`+evil+`__x","input":["`+evil+`"]}]}}`+"\n"+
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","is_error":true,"content":[{"type":"text","text":"`+evil+`"}]}]}}`+"\n"+
		`{"type":"result","subtype":"`+evil+`","is_error":true,"errors":["`+evil+`"]}`+"\n")
	if i := strings.IndexFunc(strings.ReplaceAll(shown, "\n", ""), sanitise.Hidden); i >= 0 {
		t.Errorf("a hidden character is shown:\n%q", shown)
	}
	if strings.Count(shown, "owned") < 9 {
		t.Errorf("something was left out:\n%s", shown)
	}
}

func TestColourIsOursAlone(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if _, err := streamfmt.Copy(&out, strings.NewReader(`{"type":"result","subtype":"success","num_turns":1}`), streamfmt.Config{Colour: true}); err != nil {
		t.Fatal(err)
	}
	if want := "\x1b[32m✓ done in 0.0 s, 1 turn, $0.0000\x1b[0m\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestALongSilenceSaysWhatGoesOnAndForHowLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, feed := io.Pipe()
		var out strings.Builder
		done := make(chan streamfmt.Summary)
		go func() {
			s, _ := streamfmt.Copy(&out, src, streamfmt.Config{})
			done <- s
		}()
		write := func(text string) {
			if _, err := io.WriteString(feed, text+"\n"); err != nil {
				t.Error(err)
			}
		}
		pass := func(d time.Duration) { <-time.After(d); synctest.Wait() }
		pass(11 * time.Second)
		write(`{"type":"system","subtype":"init","model":"m","cwd":"/w"}`)
		pass(11 * time.Second)
		write(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"make"}},{"type":"tool_use","id":"2","name":"Read","input":{"file_path":"/w/a"}}]}}`)
		pass(5 * time.Second)
		write(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"2"}]}}`)
		pass(35 * time.Second)
		write(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1"}]}}`)
		write(`{"type":"result","subtype":"success","num_turns":2,"duration_ms":61000}`)
		pass(time.Minute) // nothing goes on
		_ = feed.Close()
		<-done
		want := `… starting for 10 s
m in /w
… waiting for the model for 10 s
• Read a  5.0 s
… Bash make for 15 s
… Bash make for 35 s
• Bash make  40 s
✓ done in 1 min 01 s, 2 turns, $0.0000
`
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("nobody looks") }

func TestTheStreamIsReadToItsEndThoughNobodyLooks(t *testing.T) {
	t.Parallel()
	src := strings.NewReader(strings.Repeat("a line\n", 1000) + `{"type":"result","subtype":"success","result":"Well."}`)
	s, err := streamfmt.Copy(broken{}, src, streamfmt.Config{})
	if err == nil || src.Len() != 0 || s.Result != "Well." {
		t.Errorf("%d bytes are left, %+v, %v", src.Len(), s, err)
	}
}

func FuzzStream(f *testing.F) {
	recordings, _ := filepath.Glob("testdata/*.jsonl")
	for _, name := range recordings {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if len(line) < 4<<10 { // a whole run is too much to try all of
				f.Add(line)
			}
		}
	}
	f.Add(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":1,"name":{},"input":[]}]}}`)
	f.Add(`{"type":"user","message":{"content":[{"type":"tool_result","content":{"content":[null]}}]}}`)
	f.Fuzz(func(t *testing.T, stream string) {
		shown, _ := format(t, stream)
		if strings.ContainsFunc(strings.NewReplacer("\n", "", "\t", "").Replace(shown), sanitise.Hidden) {
			t.Errorf("%q shows %q", stream, shown)
		}
	})
}
