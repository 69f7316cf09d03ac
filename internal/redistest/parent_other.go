//go:build !linux

package redistest

import "os/exec"

// dieWithParent does nothing where the kernel has no such signal: there a server
// ends with its test or with Main.
func dieWithParent(*exec.Cmd) {}
