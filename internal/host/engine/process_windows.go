package engine

import "os/exec"

// Hosting is not for Windows: paths.TryLock refuses before any of these runs.

// Detach does nothing here.
func Detach(*exec.Cmd) {}

// Started knows nothing here.
func Started(int) int64 { return 0 }
