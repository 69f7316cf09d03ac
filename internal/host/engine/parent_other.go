//go:build !linux && !darwin

package engine

import "time"

// look sees nothing here, and nothing above it.
func look(int) (looked, sight) { return looked{}, plain }

// Stopped says that a process is halted. Nobody looks here.
func Stopped(int) bool { return false }

// Arguments knows nothing here.
func Arguments(int) (args []string, known bool) { return nil, false }

// Folder knows nothing here.
func Folder(int) string { return "" }

// OnTerminal knows nothing here.
func OnTerminal(int) (is, known bool) { return false, false }

// Typed knows nothing here.
func Typed(int) (at time.Time, known bool) { return time.Time{}, false }
