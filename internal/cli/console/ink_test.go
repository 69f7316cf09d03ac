package console

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestColoursAreForTerminalsWhoseOwnerWantsThem(t *testing.T) {
	t.Parallel()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal to be had: %v", err)
	}
	defer terminal.Close()
	_, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	with := func(values map[string]string) func(string) string {
		return func(name string) string { return values[name] }
	}
	xterm := with(map[string]string{"TERM": "xterm"})
	if !InkFor(terminal, xterm) {
		t.Error("a terminal has no colours")
	}
	for what, got := range map[string]Ink{
		"a pipe": InkFor(pipe, xterm), "a buffer": InkFor(&bytes.Buffer{}, xterm),
		"NO_COLOR":        InkFor(terminal, with(map[string]string{"TERM": "xterm", "NO_COLOR": "1"})),
		"a dumb terminal": InkFor(terminal, with(map[string]string{"TERM": "dumb"})),
	} {
		if got {
			t.Errorf("%s has colours", what)
		}
	}
}

func TestColumnsLineUpWithAndWithoutColours(t *testing.T) {
	t.Parallel()
	lines := func(in Ink) string {
		var out bytes.Buffer
		Table(&out, func(row func(...string)) {
			row(in.Bold("A"), in.Bold("B"), "C")
			row("grün", in.Good("x"), "last")
			row("alone, and longer than all")
			row("a", "", "")
		})
		return out.String()
	}
	plain := lines(false)
	if diff := cmp.Diff("A     B  C\ngrün  x  last\nalone, and longer than all\na\n", plain); diff != "" {
		t.Error(diff)
	}
	coloured := lines(true)
	if coloured == plain {
		t.Error("there are no colours")
	}
	if diff := cmp.Diff(plain, paint.ReplaceAllString(coloured, "")); diff != "" {
		t.Error(diff)
	}
}
