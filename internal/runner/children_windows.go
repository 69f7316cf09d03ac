package runner

import "os/exec"

// endWithChildren has no groups of processes to end here.
func endWithChildren(*exec.Cmd) {}
