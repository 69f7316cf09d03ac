//go:build linux || darwin

package paths

import "syscall"

// FreeDisk is how many bytes this user can still write in a folder.
func FreeDisk(folder string) (bytes int64, known bool) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(folder, &stat); err != nil {
		return 0, false
	}
	return int64(stat.Bavail) * int64(stat.Bsize), true // #nosec G115 -- no disk is that large
}
