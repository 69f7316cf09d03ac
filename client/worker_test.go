package client_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/workerrig"
)

func TestWorkersAndTheirCoordinatorAreKilledAndEveryTaskHasOneAnswer(t *testing.T) {
	program := filepath.Join(t.TempDir(), "worker")
	if out, err := exec.Command("go", "build", "-o", program, "../examples/worker").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	workerrig.Kill(t, start(t), faultrig.Size(6, 50), func(id string) *exec.Cmd { return exec.Command(program, id) })
}
