//go:build !linux && !darwin

package paths

// FreeDisk is not known here.
func FreeDisk(string) (bytes int64, known bool) { return 0, false }
