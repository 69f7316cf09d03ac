// Package seed decides where the chance in tests comes from. By default every
// run makes the same choices, so that a gate fails because of a change and not
// because of luck. C3PO_SEED=random makes other choices in every run, and
// C3PO_SEED=NUMBER repeats those of one run.
//
// A failing property names the seed of the one case that failed, for -rapid.seed.
package seed

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// usual is the seed unless C3PO_SEED says otherwise.
const usual = 1

// Of gives the seed that a value of C3PO_SEED asks for; never 0, by which rapid
// means any.
func Of(setting string) (uint64, error) {
	switch setting {
	case "":
		return usual, nil
	case "random":
		return max(1, rand.Uint64()), nil // #nosec G404 -- nothing secret is made of it
	}
	n, err := strconv.ParseUint(setting, 10, 64)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("C3PO_SEED=%s: want random, or a number above 0", setting)
	}
	return n, nil
}

// ofRun is the one seed of this process. It is also given to rapid, unless the
// command line or RAPID_SEED gave it one.
var ofRun = sync.OnceValues(func() (uint64, error) {
	n, err := Of(os.Getenv("C3PO_SEED"))
	if err != nil {
		return 0, err
	}
	if given := flag.Lookup("rapid.seed").Value.String(); given != "0" {
		return strconv.ParseUint(given, 10, 64)
	}
	return n, flag.Set("rapid.seed", strconv.FormatUint(n, 10))
})

// Check is rapid.Check with the seed of this run.
func Check(t rapid.TB, property func(*rapid.T)) {
	t.Helper()
	if _, err := ofRun(); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, property)
}

// Rand gives the choices of one test, or of one goroutine of it: each stream has
// its own. A test that fails names the seed.
func Rand(t testing.TB, stream uint64) *rand.Rand {
	t.Helper()
	n, err := ofRun()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat its choices: C3PO_SEED=%d", n)
		}
	})
	return rand.New(rand.NewPCG(n, stream)) // #nosec G404 -- a test that can be repeated
}
