package operate

import (
	"io"
	"os"
	"sync"
)

// maxLogBytes is how long the coordinator's log grows before it begins anew; what was
// in it is kept once, beside it. Anybody who is refused writes a line.
const maxLogBytes = 16 << 20

// A boundedLog is a log file that is moved aside when it is long: what is in it is
// copied and the file cut, so that whoever else appends to it, such as a panic of
// this process, goes on in the same one.
type boundedLog struct {
	name string
	most int64

	mu   sync.Mutex
	file *os.File // appends
	size int64
}

// boundLog bounds a log that is open for appending. What is no file is left as it
// is.
func boundLog(to io.Writer, name string, most int64) io.Writer {
	file, ok := to.(*os.File)
	if !ok {
		return to
	}
	info, err := file.Stat()
	named, missing := os.Stat(name)
	if err != nil || missing != nil || !os.SameFile(info, named) {
		return to
	}
	return &boundedLog{name: name, most: most, file: file, size: info.Size()}
}

// Write never leaves a line out because an old one cannot be kept.
func (b *boundedLog) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size > 0 && b.size+int64(len(line)) > b.most {
		_ = b.keep()
		if b.file.Truncate(0) == nil {
			b.size = 0
		}
	}
	n, err := b.file.Write(line)
	b.size += int64(n)
	return n, err
}

func (b *boundedLog) keep() error {
	from, err := os.Open(b.name)
	if err != nil {
		return err
	}
	defer from.Close()
	kept, err := os.OpenFile(b.name+".1", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(kept, io.LimitReader(from, b.most))
	if bad := kept.Close(); err == nil {
		err = bad
	}
	return err
}
