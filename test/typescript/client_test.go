package typescript_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestThePackedClient(t *testing.T) {
	folder := installed(t)
	for name, part := range map[string]func(*testing.T, string){
		"does what its examples say": doesWhatItsExamplesSay,
		"keeps its promises":         keepsItsPromises,
		"answers every task once though workers and coordinator are killed": worksThroughKills,
	} {
		t.Run(name, func(t *testing.T) { part(t, folder) })
	}
}

// keepsItsPromises runs testdata/promises.ts.
func keepsItsPromises(t *testing.T, folder string) {
	start(t)
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	if out, err := exec.CommandContext(ctx, "node", "--test", "--test-timeout=60000", filepath.Join(folder, "promises.js")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
