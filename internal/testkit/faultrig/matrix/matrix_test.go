package matrix_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig/matrix"
)

func TestALineIsATestOrACommandOfARow(t *testing.T) {
	t.Parallel()
	got, err := matrix.Parse("# what shows it\n\nA3 $ make fuzz\nB1 ./internal/testkit/faultrig TestIt\nI2s ./internal/server TestGate\nI10s alone ./x TestStorm\nJ alone $ a  b\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []matrix.Entry{
		{Row: "A3", Command: "make fuzz"},
		{Row: "B1", Package: "./internal/testkit/faultrig", Test: "TestIt"},
		{Row: "I2s", Package: "./internal/server", Test: "TestGate"},
		{Row: "I10s", Package: "./x", Test: "TestStorm", Alone: true},
		{Row: "J", Command: "a b", Alone: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestALineThatSaysNeitherIsRefusedWithItsNumber(t *testing.T) {
	t.Parallel()
	for text, said := range map[string]string{
		"B1 TestIt\n": "line 1: ",
		"# it\nB1 internal/testkit/faultrig TestIt\n": "line 2: ",
		"B1 ./x FuzzIt\n":                      "neither",
		"A3 $\n":                               "neither",
		"A3 alone\n":                           "neither",
		"B2 ./x TestIt\nB1 ./x TestIt\n":       "row B1 stands after row B2",
		"B1 ./x TestIt\nB1 ./x TestIt\n":       "twice",
		"B1 ./x TestIt\nB1 alone ./x TestIt\n": "twice",
	} {
		if _, err := matrix.Parse(text); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%q: %v, want %q", text, err, said)
		}
	}
}

const log = `not JSON
{"Action":"run","Package":"github.com/c3po-dev/c3po/x","Test":"TestKills"}
{"Action":"output","Package":"github.com/c3po-dev/c3po/x","Test":"TestKills","Output":"    kills_test.go:9: verdict: {\"row\":\"B1\",\"holds\":[\"I1\"],\"size\":\"200 sends\",\"faults\":\"3 kills|cuts\",\"lost\":0,\"doubled\":1,\"recovery\":1234567890}\n"}
{"Action":"output","Package":"github.com/c3po-dev/c3po/x","Test":"TestKills","Output":"    kills_test.go:9: verdict: {\"row\":\"B2\",\"size\":\"100 sends\"}\n"}
{"Action":"pass","Package":"github.com/c3po-dev/c3po/x","Test":"TestKills/one","Elapsed":1}
{"Action":"pass","Package":"github.com/c3po-dev/c3po/x","Test":"TestKills","Elapsed":2.5}
{"Action":"output","Package":"github.com/c3po-dev/c3po/x","Test":"TestBroken","Output":"    it broke\n"}
{"Action":"fail","Package":"github.com/c3po-dev/c3po/x","Test":"TestBroken","Elapsed":0.1}
{"Action":"skip","Package":"github.com/c3po-dev/c3po/x","Test":"TestAbsent","Elapsed":0}
{"Action":"run","Package":"github.com/c3po-dev/c3po/x","Test":"TestCutOff"}
{"Action":"pass","Package":"github.com/c3po-dev/c3po/y","Test":"TestNever","Elapsed":0}
{"Action":"pass","Command":"make fuzz","Elapsed":3}
{"Action":"fail","Command":"make lint","Elapsed":1}
`

func TestTheTableHasALineForEveryEntryAndHoldsOnlyIfAllPassed(t *testing.T) {
	t.Parallel()
	var results matrix.Results
	for line := range strings.Lines(log) {
		if test, ended := results.Add(line); test == "TestBroken" && (ended.End != matrix.Failed || len(ended.Output) != 1) {
			t.Errorf("the end of a test that failed is %+v", ended)
		}
	}
	const head = "| row | test | size | faults | lost | doubled | recovery | verdict |\n|---|---|---|---|--:|--:|--:|---|\n"
	for _, c := range []struct {
		text, row string
		holds     bool
	}{
		{"B1 ./x TestKills", "| B1 | `TestKills` | 200 sends | 3 kills/cuts | 0 | 1 | 1.235s | holds, 2.5 s |", true},
		{"B2 ./x TestKills", "| B2 | `TestKills` | 100 sends |  | 0 | 0 |  | holds, 2.5 s |", true},
		{"B3 ./x TestKills", "| B3 | `TestKills` | | | | | | holds, 2.5 s |", true},
		{"B1 ./x TestBroken", "| B1 | `TestBroken` | | | | | | FAILED, 0.1 s |", false},
		{"B1 ./x TestAbsent", "| B1 | `TestAbsent` | | | | | | SKIPPED, 0.0 s |", false},
		{"B1 ./x TestCutOff", "| B1 | `TestCutOff` | | | | | | DID NOT RUN |", false},
		{"B1 ./x TestNever", "| B1 | `TestNever` | | | | | | DID NOT RUN |", false},
		{"A3 $ make fuzz", "| A3 | `make fuzz` | | | | | | holds, 3.0 s |", true},
		{"J $ make lint", "| J | `make lint` | | | | | | FAILED, 1.0 s |", false},
		{"J $ make vet", "| J | `make vet` | | | | | | DID NOT RUN |", false},
	} {
		entries, err := matrix.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		got, holds := matrix.Table(entries, &results)
		if diff := cmp.Diff(head+c.row+"\n", got); diff != "" {
			t.Error(diff)
		}
		if holds != c.holds {
			t.Errorf("%s: holds is %v", c.text, holds)
		}
	}
	if _, holds := matrix.Table(nil, &results); holds {
		t.Error("a table of nothing holds")
	}
}
