package redistest

import (
	"os"
	"sync"
	"testing"
)

// shared is the one server of this test process: tests have nothing else in
// common that could hold it.
var shared struct {
	sync.Mutex
	process *process
}

// Shared returns the URL of the one server all tests of this process use, and
// starts it for the first. Tests keep out of each other's way by space names.
// Its package should have
//
//	func TestMain(m *testing.M) { redistest.Main(m) }
//
// so that the server's files are removed at the end.
func Shared(t testing.TB) string {
	t.Helper()
	binary := find(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.process == nil {
		dir, err := os.MkdirTemp("", "c3po-redistest-")
		if err != nil {
			t.Fatal(err)
		}
		p, err := startAnywhere(binary, dir, nil, nil)
		if err != nil {
			t.Fatalf("start the shared server: %v", err)
		}
		shared.process = p
	}
	return "redis://" + shared.process.addr
}

// Main runs the tests, then stops the shared server and removes its files.
func Main(m *testing.M) {
	defer stopShared()
	m.Run()
}

func stopShared() {
	shared.Lock()
	defer shared.Unlock()
	if shared.process == nil {
		return
	}
	shared.process.kill()
	_ = os.RemoveAll(shared.process.dir)
	shared.process = nil
}
