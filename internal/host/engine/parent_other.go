//go:build !linux && !darwin

package engine

// Parent knows nothing here.
func Parent(int) int { return 0 }

// Stopped says that a process is halted. Nobody looks here.
func Stopped(int) bool { return false }

// Arguments knows nothing here.
func Arguments(int) (args []string, known bool) { return nil, false }

// OnTerminal knows nothing here.
func OnTerminal(int) (is, known bool) { return false, false }
