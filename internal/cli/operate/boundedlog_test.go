package operate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRefusalsDoNotFillTheDiskWithTheCoordinatorsLog(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "coordinator.log")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const most = 4 << 10
	log := boundLog(file, name, most)
	for i := range 1000 {
		fmt.Fprintf(log, "refused %04d %s\n", i, strings.Repeat("x", 40))
	}
	if _, err := file.WriteString("panic: as the runtime writes it\n"); err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(name + ".1")
	if err != nil {
		t.Fatal(err)
	}
	if len(now) > most+100 || len(before) > most || len(before) < most/2 {
		t.Errorf("%d bytes and %d before them, at most %d each", len(now), len(before), most)
	}
	if !strings.Contains(string(now), "refused 0999 ") || !strings.HasSuffix(string(now), "panic: as the runtime writes it\n") || strings.ContainsRune(string(now), 0) {
		t.Errorf("the end is %q", now[max(0, len(now)-100):])
	}
	var last, first int
	lines := strings.Split(strings.TrimSpace(string(before)), "\n")
	if _, err := fmt.Sscanf(lines[len(lines)-1], "refused %d", &last); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(string(now), "refused %d", &first); err != nil || first != last+1 {
		t.Errorf("after line %d comes %d, %v", last, first, err)
	}
	if info, err := os.Stat(name + ".1"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("what is kept: %v, %v", info, err)
	}
	if boundLog(os.Stdout, name, most) != os.Stdout {
		t.Error("a terminal is taken for the log")
	}
}
