package paths

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	// leaseNotes is the file in git's folder of a working tree with the leases it had.
	leaseNotes = "c3po-leases"
	// maxLeaseNotes is how large that file becomes before it is written anew.
	maxLeaseNotes = 1 << 20
)

// A Checkout is a working tree of a git repository. It is read without starting git,
// because an edit waits for it.
type Checkout struct {
	Top    string // its folder
	dir    string // git's folder of this working tree
	common string // git's folder of the repository
}

// FindCheckout finds the working tree that a file is in or would be in, and the file's
// path there. Two ways to one file are the same.
func FindCheckout(file string) (c Checkout, within string, ok bool) {
	real := existingPath(file)
	for top := filepath.Dir(real); ; top = filepath.Dir(top) {
		if c, ok := checkoutAt(top); ok {
			within, err := filepath.Rel(top, real)
			if err == nil && c.ignoresCase() {
				within = spelled(top, within)
			}
			return c, filepath.ToSlash(within), err == nil && !strings.HasPrefix(within, ".git"+string(filepath.Separator))
		}
		if top == filepath.Dir(top) {
			return Checkout{}, "", false
		}
	}
}

// CheckoutOf finds the working tree that a folder is in.
func CheckoutOf(dir string) (Checkout, bool) {
	c, _, ok := FindCheckout(filepath.Join(dir, "file"))
	return c, ok
}

// maxLinks is how many links to files that are not there yet are followed, as systems do.
const maxLinks = 40

// existingPath follows the links in a path, of which the end may not be there yet: whoever
// writes to a link makes the file that it names.
func existingPath(file string) string {
	links := 0
	for at, rest := file, ""; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if to, err := os.Readlink(at); err == nil && links < maxLinks {
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(at), to)
			}
			at, links = to, links+1
			continue
		}
		if at == filepath.Dir(at) {
			return filepath.Clean(file)
		}
		at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest)
	}
}

// ignoresCase says that two spellings of a name are one file there, as git has found out.
func (c Checkout) ignoresCase() bool {
	text, err := os.ReadFile(filepath.Join(c.common, "config")) // #nosec G304 -- git's own
	return err == nil && parseConfig(string(text))["core.ignorecase"] == "true"
}

// spelled is a path in a folder with the names that are there, which may differ in case.
func spelled(top, within string) string {
	parts := strings.Split(within, string(filepath.Separator))
	at := top
	for i, part := range parts {
		for _, name := range namesIn(at) {
			if name == part {
				parts[i] = part
				break
			}
			if strings.EqualFold(name, part) {
				parts[i] = name
			}
		}
		at = filepath.Join(at, parts[i])
	}
	return filepath.Join(parts...)
}

// namesIn are the names in a folder; none if it cannot be read.
func namesIn(dir string) []string {
	folder, err := os.Open(dir) // #nosec G304 -- where a file is edited
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return nil
	}
	return names
}

// Gone says that the working tree is no longer there.
func (c Checkout) Gone() bool {
	_, err := os.Lstat(filepath.Join(c.Top, ".git"))
	return os.IsNotExist(err)
}

func checkoutAt(top string) (Checkout, bool) {
	dir := filepath.Join(top, ".git")
	info, err := os.Stat(dir)
	if err != nil {
		return Checkout{}, false
	}
	if !info.IsDir() { // of a worktree or a submodule
		text, err := os.ReadFile(dir) // #nosec G304 -- beside the file that is edited
		at, named := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if err != nil || !named {
			return Checkout{}, false
		}
		dir = under(top, at)
	}
	c := Checkout{Top: top, dir: dir, common: dir}
	if text, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil { // #nosec G304 -- git's own
		c.common = under(dir, strings.TrimSpace(string(text)))
	}
	return c, true
}

func under(dir, at string) string {
	if filepath.IsAbs(at) {
		return filepath.Clean(at)
	}
	return filepath.Join(dir, at)
}

// Branch is the branch that is checked out; empty if none is.
func (c Checkout) Branch() string {
	text, err := os.ReadFile(filepath.Join(c.dir, "HEAD")) // #nosec G304 -- git's own
	if err != nil {
		return ""
	}
	branch, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: refs/heads/")
	switch {
	case !ok:
		return ""
	case branch == ".invalid": // a repository that keeps its references in tables
		branch, _ = git(c.Top, "symbolic-ref", "--quiet", "--short", "HEAD")
	}
	return branch
}

// Tree is a name for this working tree, of all there are.
func (c Checkout) Tree() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return digest(host + "\x00" + c.dir)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Unchanged are those of some files that are as the last commit has them.
func (c Checkout) Unchanged(paths []string) ([]string, error) {
	out, err := git(c.Top, append([]string{"--no-optional-locks", "--literal-pathspecs", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--"}, paths...)...)
	if err != nil {
		return nil, err
	}
	changed := map[string]bool{}
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) > 3 {
			changed[entry[3:]] = true
		}
	}
	var same []string
	for _, path := range paths {
		if !changed[path] {
			same = append(same, path)
		}
	}
	return same, nil
}

// HooksFolder is where git looks for the hooks of the repository.
func (c Checkout) HooksFolder() (string, error) {
	at, err := git(c.Top, "rev-parse", "--git-path", "hooks")
	if err != nil {
		return "", gitTrouble(c.Top, err)
	}
	return under(c.Top, at), nil
}

// SharedHooks is the folder of hooks as core.hooksPath names it, and whether it does: then
// it is not the repository's own. Other repositories may have it too, or it may be committed.
func (c Checkout) SharedHooks() (set string, isSet bool, err error) {
	set, err = git(c.Top, "config", "--get", "core.hooksPath")
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.ExitCode() == 1 {
		return "", false, nil // as git says that it is not set
	}
	if err != nil {
		return "", false, gitTrouble(c.Top, err)
	}
	return set, true, nil
}

// NoteLeases remembers the numbers of leases that the working tree was given.
func (c Checkout) NoteLeases(paths []string, numbers []int64) error {
	name := filepath.Join(c.dir, leaseNotes)
	if info, err := os.Stat(name); err == nil && info.Size() > maxLeaseNotes {
		noted, err := c.NotedLeases()
		if err != nil {
			return err
		}
		var text strings.Builder
		for path, number := range noted {
			fmt.Fprintf(&text, "%d %q\n", number, path)
		}
		if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) // #nosec G304 -- in git's folder
	if err != nil {
		return err
	}
	var text strings.Builder
	for i, path := range paths {
		fmt.Fprintf(&text, "%d %q\n", numbers[i], path)
	}
	if _, err = file.WriteString(text.String()); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

// NotedLeases are the last numbers that the working tree was given, by path.
func (c Checkout) NotedLeases() (map[string]int64, error) {
	noted := map[string]int64{}
	file, err := os.Open(filepath.Join(c.dir, leaseNotes)) // #nosec G304 -- in git's folder
	if os.IsNotExist(err) {
		return noted, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		first, rest, _ := strings.Cut(lines.Text(), " ")
		number, badNumber := strconv.ParseInt(first, 10, 64)
		path, badPath := strconv.Unquote(rest)
		if badNumber == nil && badPath == nil { // a line may be cut by a full disk
			noted[path] = max(noted[path], number)
		}
	}
	return noted, lines.Err()
}
