package console

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/c3po-dev/c3po/c3po"
)

// Explain is c3po.AsError for the person at this machine. What its system refused is no
// fault of c3po: they read which file it was about, why, and what helps.
func Explain(err error) *c3po.Error {
	number, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return c3po.AsError(err)
	}
	about, _ := errors.AsType[*fs.PathError](err)
	known, isKnown := errors.AsType[*c3po.Error](err)
	if isKnown {
		if advice := adviceOnDisk(number); advice != "" && known.Code != c3po.UnknownOutcome {
			return c3po.Because(known.Unwrap(), known.Code, known.Message).Suggest("%s", advice)
		}
		return known
	}
	advice := adviceOnDisk(number)
	switch {
	case advice != "":
	case about == nil:
		return c3po.AsError(err)
	case errors.Is(number, fs.ErrNotExist) && missingTemporary(about.Path):
		advice = fmt.Sprintf("TMPDIR is %s, and there is no such folder. Create it, or unset TMPDIR.", os.TempDir())
	case errors.Is(number, fs.ErrPermission):
		advice = "Check who owns it, and whether you may write there."
	case number == syscall.EMFILE || number == syscall.ENFILE:
		advice = "Too many files are open here. Close what you don't need, or raise the limit: ulimit -n 4096"
	default:
		advice = "Check that path, then run it again."
	}
	sentence := err.Error()
	if about != nil {
		sentence = fmt.Sprintf("cannot %s %s: %s", about.Op, about.Path, number.Error())
		if about.Path == os.Stdout.Name() {
			sentence = "cannot write the output: " + number.Error()
		}
	}
	return c3po.Because(err, c3po.InvalidRequest, sentence).Suggest("%s", advice)
}

// adviceOnDisk is what helps against a disk that takes nothing; empty if that is not
// the cause.
func adviceOnDisk(number syscall.Errno) string {
	switch number {
	case syscall.ENOSPC, syscall.EDQUOT:
		return "Free some space there, then run it again."
	case syscall.EROFS:
		return "That disk is read-only. Make it writable, or choose other folders with XDG_CONFIG_HOME, XDG_STATE_HOME and TMPDIR."
	default:
		return ""
	}
}

// missingTemporary says that a path is in the folder of temporary files, which is not
// there.
func missingTemporary(path string) bool {
	folder := filepath.Clean(os.TempDir())
	if filepath.Clean(path) != folder && !strings.HasPrefix(path, folder+string(filepath.Separator)) {
		return false
	}
	_, err := os.Stat(folder)
	return errors.Is(err, fs.ErrNotExist)
}

// An output is a file that a command prints to. It remembers that a write has failed,
// which those who print do not look at one by one.
type output struct {
	file   *os.File
	failed error
}

func (o *output) Write(data []byte) (int, error) {
	n, err := o.file.Write(data)
	if err != nil && o.failed == nil && !errors.Is(err, syscall.EPIPE) { // who read it has read enough
		o.failed = err
	}
	return n, err
}

// WatchOutput remembers whether what is printed could be written, for the exit code. A
// terminal takes everything.
func (p *Process) WatchOutput() {
	if file, ok := p.Stdout.(*os.File); ok && !IsTerminal(file) {
		p.Stdout = &output{file: file}
	}
}

// OutputForProgram is stdout for another program, which writes to it by itself.
func (p *Process) OutputForProgram() io.Writer {
	if watched, ok := p.Stdout.(*output); ok {
		return watched.file
	}
	return p.Stdout
}

// unwritten is why not all that was printed could be written; nil if it could.
func (p *Process) unwritten() error {
	if watched, ok := p.Stdout.(*output); ok {
		return watched.failed
	}
	return nil
}
