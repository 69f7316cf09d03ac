//go:build !linux && !darwin

package engine

// KnowsProcesses says that this system shows what started a process.
const KnowsProcesses = false

// Names knows nothing here.
func Names(int) []string { return nil }

// Environment knows nothing here.
func Environment(int) []string { return nil }

// Ours knows nothing here.
func Ours() map[int]int { return nil }
