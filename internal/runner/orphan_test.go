package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/runner/container"
)

// engine plays a program that runs containers: a folder has a file for each.
const engine = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
case "$1" in
--version) echo "podman version 4.3.1" ;;
ps) ls | grep -v -e podman -e stopped ;;
inspect) cat "$2" ;;
stop) echo "$4" >>stopped ;;
rm) rm -f "$3" ;;
esac
`

// A number of a process is given again, after a restart of the host at once.
func TestAContainerIsLeftBehindWhenItsRunnersProcessNumberIsAnothersNow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("podman", engine, 0o700)
	for name, process := range map[string]string{
		"kept":      "7:100", // its runner lives
		"dead":      "8:100",
		"reused":    "9:100",
		"unstarted": "7:0", // a runner that did not know when it began
		"nameless":  "",
	} {
		write(name, fmt.Sprintf(`[{"Id":"f00","Name":"/%s","State":{"Status":"running"},"Config":{"Labels":{"c3po.process":%q}}}]`, name, process), 0o600)
	}
	cli, err := container.Find(t.Context(), container.Config{
		Runtime: filepath.Join(dir, "podman"), Environ: []string{"PATH=" + os.Getenv("PATH")},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := New(Config{Containers: cli, Started: func(pid int) int64 { return map[int]int64{7: 100, 9: 200}[pid] }})
	if err := r.clear(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	left, err := r.Containers(t.Context())
	if err != nil || len(left) != 1 || left[0].Name != "kept" {
		t.Errorf("left are %v, %v", left, err)
	}
	stopped, err := os.ReadFile(filepath.Join(dir, "stopped"))
	ended := strings.Fields(string(stopped))
	slices.Sort(ended)
	if want := []string{"dead", "nameless", "reused", "unstarted"}; err != nil || !slices.Equal(ended, want) {
		t.Errorf("asked to end are %v, %v, want %v", ended, err, want)
	}
}
