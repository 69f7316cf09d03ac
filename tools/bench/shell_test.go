package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// Scripts send with `c3po send`, so its start counts as much as its call. It takes turns
// with curl, which makes the same call: every send of both is stored.
func TestSendingFromTheShellCostsLittleMoreThanCurl(t *testing.T) {
	faultrig.NeedQuiet(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl is installed")
	}
	dir, url, program := faultrig.Home(t), faultrig.Start(t, redistest.New(t).URL()).URL(), faultrig.Binary(t)
	run := func(program string, args ...string) float64 {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "C3PO_COORDINATOR_URL=" + url}
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", program, args, err, out)
		}
		return milliseconds(time.Since(began))
	}
	run(program, "whoami", "--as", "bob")
	var ours, curl []float64
	for i := range size(30, 100) {
		// curl gets a key of its own for each send, as c3po has.
		body := fmt.Sprintf(`{"target":"bob","message":"hello","client_key":"%d"}`, i)
		if err := os.WriteFile(filepath.Join(dir, "body"), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		ours = append(ours, run(program, "send", "bob", "hello", "--as", "alice"))
		curl = append(curl, run("curl", "-fsS", "-o", "answer", "-H", "X-Agent-ID: carol", "-H", "Content-Type: application/json", "-d", "@body", url+"/api/op/send_message"))
	}
	t.Logf("median of a send: c3po %.1f ms, curl %.1f ms", median(ours), median(curl))
	faultrig.Hold(t, "c3po send, of curl making the same call", median(ours)/median(curl), 3.0)
}
