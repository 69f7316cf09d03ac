//go:build !linux

package redistest

import (
	"errors"
	"os"
	"os/exec"
)

// dieWithParent does nothing where the kernel has no such signal: there a server
// ends with its test or with Main.
func dieWithParent(*exec.Cmd) {}

var errNotHere = errors.New("a server can be frozen on Linux only")

func freeze(*os.Process) error { return errNotHere }

func thaw(*os.Process) error { return errNotHere }
