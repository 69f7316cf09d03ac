package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

const wrongGolden = "testdata/wrong.golden"

// nothingRuns are mistakes on a machine where no coordinator runs, and mistaken those
// where one does, with the agents api and db and a question from api to db.
var (
	nothingRuns = []string{
		"c3po status", "c3po send db hi --as api", "c3po agents --json", "c3po human list", "c3po answer", "c3po logs",
		"c3po status --url http://127.0.0.1:9", "c3po status --url nonsense",
		"c3po join", "c3po join c3po://nas:8420", "c3po leave", "c3po claude", "c3po restore missing.tar", "c3po up --redis redis://127.0.0.1:9",
		"c3po up --listen nonsense", "c3po down extra", "c3po doctor --nonsense", "c3po pause 'x y'", "c3po rename 'x y' --as api", "c3po up --redis foo", "c3po up --redis-container lxc", "c3po token create --agents 'a b'", "c3po token create --agents a --for 'A B'",
	}
	mistaken = []string{
		"c3po sned db hi", "c3po sned --json", "c3po nosuch --foo", "c3po clawd", "c3po hlep", "c3po help send extra", "c3po help room lsit", "c3po uninstall foo", "c3po install claud", "c3po ask", "c3po lst", "c3po help sned", "c3po send", "c3po send db two words --as api", "c3po send dv hi --as api",
		"c3po send db hi --as api --wiat 5m", "c3po send db hi --as api --wait soon", "c3po send db hi --as api --wait 3h", "c3po send db hi --as api --priority high", "c3po send db hi --as 'no one'",
		"c3po send db '' --as api", "c3po send db hi --as api --if-away maybe", "c3po send role:nobody hi --as api", "c3po send api/x/y hi --as api",
		"c3po reply", "c3po reply ffff yes --as db", "c3po reply api::db::0000 yes --as db", "c3po reply --last yes --as api", "c3po ack nonsense --as db",
		"c3po wait --timeout 0 --as db", "c3po wait --timeout 99999 --as db", "c3po wait --for ffff --as db --timeout 1s", "c3po inbox --limit 0 --as db", "c3po inbox --limit many --as db",
		"c3po agents nobody", "c3po agents --status asleep", "c3po tickets --which mine", "c3po trace ffff", "c3po thread nonsense", "c3po cancel ffff --as api",
		"c3po tail --since yesterday", "c3po tail --kind nonsense", "c3po pause", "c3po pause nobody", "c3po resume nobody", "c3po human answer ffff yes", "c3po answer ffff yes --choice 1",
		"c3po room post nowhere hi --as api", "c3po room join 'bad name' --as api", "c3po room lsit", "c3po token create --role king", "c3po token create --role agent", "c3po token revoke nonsense",
		"c3po invite", "c3po invite --person --runner", "c3po sweep --older soon", "c3po dead-letter replay", "c3po status set asleep --as api", "c3po rename human --as api", "c3po register --heartbeat often --as api",
		"c3po up --listen 127.0.0.1:9", "c3po uninstall", "c3po up --foreground --service", "c3po ack --as db", "c3po backup /etc/passwd", "c3po install emacs", "c3po config nonsense", "c3po completion tcsh", "CLAUDECODE=1 c3po pause --all", "CLAUDECODE=1 c3po answer", "C3PO_TOKEN=nonsense c3po agents", "C3PO_TIMEOUT=soon c3po wait --as db",
	}
)

// Each error says what is wrong and what to do next. The file is read line by line by
// whoever changes one.
func TestWaysToGetItWrongAreAnsweredWithCauseAndNextStep(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("redis-server"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("no redis-server is installed")
	}
	alone, together := &stage{t: t, home: faultrig.Home(t)}, &stage{t: t, home: faultrig.Home(t)}
	alone.folder, together.folder = alone.home, together.home
	together.run(together.home, "c3po up")
	t.Cleanup(func() { together.run(together.home, "c3po down") })
	together.run(together.home, "c3po register --as api && c3po register --as db && c3po send db 'Which port?' --as api")

	var all strings.Builder
	for _, group := range []struct {
		title string
		at    *stage
		lines []string
	}{{"Nothing runs", alone, nothingRuns}, {"A coordinator runs", together, mistaken}} {
		fmt.Fprintf(&all, "# %s\n", group.title)
		for _, line := range group.lines {
			code, said := group.at.mistake(line)
			fmt.Fprintf(&all, "\n$ %s\n%s\nexit %d\n", line, said, code)
			if code == 0 {
				t.Errorf("%s is no mistake", line)
			}
			if code != console.ExitTimeout && code != console.ExitInterrupted && !strings.Contains(said, "hint: ") && !strings.Contains(said, `"suggestion":"`) {
				t.Errorf("%s says not what to do next:\n%s", line, said)
			}
		}
	}
	if *update {
		if err := os.WriteFile(wrongGolden, []byte(all.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(wrongGolden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), all.String()); diff != "" {
		t.Errorf("what is said has changed; look at each line, then -update: (-before +now)\n%s", diff)
	}
}

// masks take out what differs each time.
var masks = []struct {
	found *regexp.Regexp
	shown string
}{
	{regexp.MustCompile(`127\.0\.0\.1:[1-9]\d{3,4}`), "127.0.0.1:PORT"},
}

// mistake is how a line fails: its exit code, and what it says.
func (s *stage) mistake(line string) (code int, said string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "sh", "-c", line)
	cmd.Dir = s.folder
	program, err := exec.LookPath("c3po")
	if err != nil {
		s.t.Fatal(err)
	}
	// No coding agent that this machine may have.
	cmd.Env = []string{"HOME=" + s.home, "PATH=" + filepath.Dir(program) + ":/usr/bin:/bin", "C3PO_LISTEN=127.0.0.1:0", TopVariable + "=" + os.Getenv(TopVariable), "GORACE=atexit_sleep_ms=0"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		code = ended.ExitCode()
	} else if err != nil {
		s.t.Fatal(err)
	}
	said = strings.ReplaceAll(strings.TrimSpace(stderr.String()), s.home, "~")
	for _, mask := range masks {
		said = mask.found.ReplaceAllString(said, mask.shown)
	}
	return code, said
}
