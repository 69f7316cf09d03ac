package faultrig_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestALogShowsAFaultOfC3POAndNothingElseIsOne(t *testing.T) {
	t.Parallel()
	for log, fault := range map[string]bool{
		"panic: runtime error: index out of range\n\ngoroutine 7 [running]:\n":                             true,
		"fatal error: concurrent map writes\n":                                                             true,
		"SIGSEGV: segmentation violation\nPC=0x1 m=0 sigcode=0\n":                                          true,
		"==================\nWARNING: DATA RACE\n":                                                         true,
		`{"time":"…","level":"ERROR","msg":"panic","method":"POST","panic":"planted"}`:                     true,
		`time=… level=ERROR msg=panic in=get_messages panic=planted`:                                       true,
		`{"level":"ERROR","msg":"request failed","code":"INTERNAL","err":"internal error","cause":{}}`:     true,
		`level=ERROR msg="request failed" code=INTERNAL err="internal error"`:                              true,
		`{"suggestion":"This is a fault of c3po, not of your request; the coordinator's log says more."}`:  true,
		`{"level":"ERROR","msg":"request failed","code":"REDIS_UNAVAILABLE","err":"Redis did not answer"}`: false,
		`{"level":"INFO","msg":"request","route":"POST /api/op/send_message","status":200}`:                false,
		`the model was asked about "don't panic", and answers: panic: no`:                                  false,
		"": false,
	} {
		said := faultrig.FaultIn("coordinator.log", "first line\n"+log)
		if (said != "") != fault || fault && !strings.HasPrefix(said, "A FAULT OF C3PO IN A LOG: coordinator.log\n") {
			t.Errorf("of %q it says %q", log, said)
		}
	}
}

// plantedTest is set for the test process in which a coordinator panics.
const plantedTest = "TEST_PLANTED_PANIC"

// The gate runs client tests a second time, but not those in which c3po was at fault.
func TestACoordinatorThatPanicsDuringATestFailsItWithoutASecondRun(t *testing.T) {
	t.Parallel()
	gate := exec.Command("../../../.ci/patiently", os.Args[0], "-test.run", "^TestThisOneHasACoordinatorThatPanics$", "-test.v")
	gate.Env = append(os.Environ(), plantedTest+"=1")
	out, err := gate.CombinedOutput()
	said := string(out)
	if err == nil || !strings.Contains(said, "--- FAIL: TestThisOneHasACoordinatorThatPanics") {
		t.Errorf("the test passes: %v\n%s", err, said)
	}
	if !strings.Contains(said, "A FAULT OF C3PO IN A LOG") || !strings.Contains(said, "panic: planted") {
		t.Errorf("the panic is not shown:\n%s", said)
	}
	if runs := strings.Count(said, "=== RUN"); runs != 1 {
		t.Errorf("it ran %d times, want once:\n%s", runs, said)
	}
}

func TestThisOneHasACoordinatorThatPanics(t *testing.T) {
	if os.Getenv(plantedTest) == "" {
		t.Skip("the test above runs it, and wants it to fail")
	}
	c := faultrig.StartOf(t, panicking(t), redistest.New(t).URL())
	agent(t, c.URL(), "api")
	process, err := os.FindProcess(c.PID())
	if err == nil {
		err = process.Signal(syscall.SIGUSR2)
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the coordinator is gone", func() bool { return strings.Contains(c.Log(), "goroutine") })
	c.Restart() // as somebody does who sees nothing of it
	agent(t, c.URL(), "api")
}

// panicking builds a c3po that panics when it gets SIGUSR2.
func panicking(t *testing.T) string {
	t.Helper()
	const source = `package main

import (
	"os"
	"os/signal"
	"syscall"
)

func init() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR2)
	go func() {
		<-asked
		panic("planted")
	}()
}
`
	dir := t.TempDir()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	planted, overlay, binary := filepath.Join(dir, "planted.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "c3po")
	files, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, "cmd", "c3po", "planted.go"): planted}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{planted: source, overlay: string(files)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", binary, "github.com/c3po-dev/c3po/cmd/c3po").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}
