package unit_test

import (
	"encoding/xml"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/internal/host/unit"
)

var update = flag.Bool("update", false, "write the golden files")

// awkward is a service with all that has to be escaped.
func awkward() unit.Service {
	return unit.Service{
		Name: "c3po-agents", Label: "dev.c3po.agents", Description: "c3po: 100% of the agents",
		Program: "/home/ada lovelace/bin/c3po", Arguments: []string{"agent", "up", `a"b\c`, "$HOME %h <&>"},
		Environment: []unit.Variable{{Name: "PATH", Value: "/usr/local/bin:/usr/bin"}, {Name: "ODD", Value: `a "b" <$c> % \`}},
		Log:         "/home/ada/Library/Logs/c3po <1>.log", StopWithin: 90*time.Second + time.Millisecond,
	}
}

// kept is a service that a command has written, and that leaves something running.
func kept() unit.Service {
	return unit.Service{
		Name: "c3po-user", Label: "dev.c3po.coordinator", Description: "c3po coordinator", Program: "/home/ada/bin/c3po", Arguments: []string{"up", "--foreground"},
		Log: "/home/ada/100%/coordinator.log", AlwaysLog: true, StopWithin: 30 * time.Second, OutlivedBy: "Its Redis", Remove: "c3po down --service",
	}
}

func TestTheServiceIsWrittenForBothSystems(t *testing.T) {
	t.Parallel()
	for name, got := range map[string]string{
		"systemd.golden": awkward().Systemd(), "launchd.golden": awkward().Launchd(),
		"systemd-kept.golden": kept().Systemd(), "launchd-kept.golden": kept().Launchd(),
	} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestThePropertyListIsXMLThatGivesBackEveryText(t *testing.T) {
	t.Parallel()
	s := awkward()
	var texts []string
	decoder := xml.NewDecoder(strings.NewReader(s.Launchd()))
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			texts = append(texts, string(text))
		}
	}
	all := strings.Join(texts, "\x00")
	for _, want := range append([]string{s.Program, s.Label, s.Log, s.Environment[1].Value}, s.Arguments...) {
		if !strings.Contains(all+"\x00", want+"\x00") {
			t.Errorf("%q is not there", want)
		}
	}
}

// Where systemd is, it says itself whether it would take the unit.
func TestSystemdTakesTheUnit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip(err)
	}
	for _, s := range []unit.Service{awkward(), kept()} {
		s.Program = "/bin/true"
		file := filepath.Join(t.TempDir(), s.Name+".service")
		if err := os.WriteFile(file, []byte(s.Systemd()), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "systemd-analyze", "--user", "verify", file).CombinedOutput()
		if strings.Contains(string(out), file+":") {
			t.Errorf("systemd-analyze: %v\n%s", err, out)
		}
	}
}
