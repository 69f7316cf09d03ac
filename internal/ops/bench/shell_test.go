package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// Scripts send with `c3po send`, so its start counts as much as its call. What it
// is held against is curl making the same call: every send of both is stored.
func TestSendingFromTheShellCostsLittleMoreThanCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl is installed")
	}
	const bar = 3.0
	s := &shell{t: t, dir: faultrig.Home(t), url: faultrig.Start(t, redistest.New(t).URL()).URL(), program: faultrig.Binary(t)}
	s.run(s.program, "whoami", "--as", "bob")
	turn := s.inTurns
	if _, err := exec.LookPath("hyperfine"); err == nil && faultrig.Exact() { // it runs one after the other
		turn = s.withHyperfine
	}
	ours, curl := turn(size(30, 100))
	t.Logf("median of a send: c3po %v, curl %v", ours.Round(10*time.Microsecond), curl.Round(10*time.Microsecond))
	faultrig.Hold(t, "c3po send, of curl making the same call", float64(ours)/float64(curl), bar)
}

// A shell runs programs against one coordinator.
type shell struct {
	t            *testing.T
	dir          string
	url, program string
	sent         int
}

func (s *shell) run(program string, args ...string) time.Duration {
	s.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "C3PO_COORDINATOR_URL=" + s.url}
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	if err != nil {
		s.t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return took
}

func (s *shell) ours() []string { return []string{s.program, "send", "bob", "hello", "--as", "alice"} }

func (s *shell) curl() []string {
	return []string{
		"curl", "-fsS", "-o", "answer", "-H", "X-Agent-ID: carol", "-H", "Content-Type: application/json", "-d", "@body", s.url + "/api/op/send_message",
	}
}

// newBody gives curl a key of its own for each send, as c3po has.
func (s *shell) newBody() {
	s.t.Helper()
	s.sent++
	body := fmt.Sprintf(`{"target":"bob","message":"hello","client_key":"%d-%d"}`, time.Now().UnixNano(), s.sent)
	if err := os.WriteFile(filepath.Join(s.dir, "body"), []byte(body), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// inTurns runs both in turns: what the machine does besides hits both alike.
func (s *shell) inTurns(n int) (ours, curl time.Duration) {
	s.t.Helper()
	var oursTook, curlTook []float64
	for i := range n + 3 {
		s.newBody()
		a, b := s.run(s.ours()[0], s.ours()[1:]...), s.run(s.curl()[0], s.curl()[1:]...)
		if i >= 3 { // the first warm up
			oursTook, curlTook = append(oursTook, float64(a)), append(curlTook, float64(b))
		}
	}
	return time.Duration(median(oursTook)), time.Duration(median(curlTook))
}

// withHyperfine lets hyperfine measure both.
func (s *shell) withHyperfine(n int) (ours, curl time.Duration) {
	s.t.Helper()
	s.newBody()
	prepare := `sh -c 'printf "{\"target\":\"bob\",\"message\":\"hello\",\"client_key\":\"%s\"}" "$(date +%s%N)" >body'`
	s.run("hyperfine", "--shell=none", "--style=none", "--warmup=3", fmt.Sprintf("--runs=%d", n), "--export-json=times", "--prepare", prepare,
		line(s.ours()), line(s.curl()))
	data, err := os.ReadFile(filepath.Join(s.dir, "times"))
	if err != nil {
		s.t.Fatal(err)
	}
	var times struct {
		Results []struct {
			Median float64 `json:"median"`
		} `json:"results"`
	}
	if err := json.Unmarshal(data, &times); err != nil || len(times.Results) != 2 {
		s.t.Fatalf("hyperfine measured %s: %v", data, err)
	}
	seconds := func(i int) time.Duration { return time.Duration(times.Results[i].Median * float64(time.Second)) }
	return seconds(0), seconds(1)
}

// line is a command in the words hyperfine splits.
func line(words []string) string {
	var text string
	for _, word := range words {
		text += "'" + word + "' "
	}
	return text
}
