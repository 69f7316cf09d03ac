package faultrig_test

import (
	"bytes"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/testkit/seed"
)

func TestASaveThatIsKilledLeavesNoFileUnderItsNameThatIsNotWhole(t *testing.T) {
	t.Parallel()
	coordinator := faultrig.Start(t, redistest.Start(t))
	agent(t, coordinator.URL(), "reader")
	writer := agent(t, coordinator.URL(), "writer")
	data := content(1, faultrig.Size(4<<20, 20<<20))
	state, err := writer.Upload(t.Context(), "all.bin", "", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	sent, err := writer.SendMessage(t.Context(), c3po.SendInput{Target: "reader", Message: "all of it", Attach: []c3po.FileID{state.ID}})
	if err != nil {
		t.Fatal(err)
	}
	home, folder := faultrig.Home(t), t.TempDir()
	save := func() *exec.Cmd {
		cmd := exec.Command(faultrig.Binary(t), "save", string(sent.ID), folder, "--as", "reader")
		cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + home, "C3PO_COORDINATOR_URL=" + coordinator.URL()}
		return cmd
	}
	began := time.Now()
	if out, err := save().CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	whole := time.Since(began)
	want := sha256.Sum256(data)
	choose, killed, parts, named := seed.Rand(t, 1), 0, 0, 0
	times := faultrig.Size(10, 200)
	for n := 0; n < times || n < 20*times && (killed == 0 || parts == 0); n++ {
		began, cmd := time.Now(), save()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Its last moments count most: then the file gets its name.
		after := whole/2 + time.Duration(choose.Int64N(int64(whole)/2))
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil {
			killed++
		} else {
			whole = time.Since(began)
		}
		timer.Stop()
		left, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range left {
			name := filepath.Join(folder, entry.Name())
			if strings.HasPrefix(entry.Name(), ".c3po-save-") {
				parts++
			} else {
				named++
				got, err := os.ReadFile(name)
				if err != nil || sha256.Sum256(got) != want {
					t.Errorf("%s has %d bytes of %d: %v", entry.Name(), len(got), len(data), err)
				}
			}
			if err := os.Remove(name); err != nil {
				t.Error(err)
			}
		}
	}
	t.Logf("%d saves were killed: %d left a part, %d files are whole under their names", killed, parts, named)
	if killed == 0 || parts == 0 {
		t.Error("none was killed while it wrote")
	}
}
