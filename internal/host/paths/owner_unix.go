//go:build unix

package paths

import (
	"io/fs"
	"os"
	"syscall"
)

// OwnedByUs says that a file is one of the user this process runs as.
func OwnedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
