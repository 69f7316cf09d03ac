//go:build !linux

package engine

// PortHolder is the process that listens on a TCP port; this system does not say so.
func PortHolder(int) int { return 0 }
