//go:build !linux && !darwin

package engine

// Parent knows nothing here.
func Parent(int) int { return 0 }

// Arguments knows nothing here.
func Arguments(int) (args []string, known bool) { return nil, false }
