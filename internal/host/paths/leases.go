package paths

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// leaseSetting is where a repository's own git configuration says that its files are
// leased, by its first commit, which takes long to find. Nothing of it is committed.
const leaseSetting = "c3po.leases"

// maxOrigins is how many folders are followed that were cloned from each other.
const maxOrigins = 5

// Leases says whether the files of the repository are leased, and what it is called then:
// the same in every clone. A remote that is added or changed later counts at once.
func (c Checkout) Leases() (repository string, on bool) {
	text, err := os.ReadFile(filepath.Join(c.common, "config")) // #nosec G304 -- git's own
	if err != nil || !bytes.Contains(text, []byte("c3po")) {
		return "", false
	}
	config := parseConfig(string(text))
	first := config["c3po.leases"]
	if first == "" {
		return "", false
	}
	return repositoryName(first, originOf(config, c.common, maxOrigins)), true
}

// repositoryName is made of the first commit and of where the repository was cloned from:
// forks share the one, and new repositories on one server nothing. A person reads it too.
func repositoryName(first, origin string) string {
	id := digest(first + "\x00" + origin)
	plain := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)) {
			return r
		}
		return -1
	}, path.Base(origin))
	if plain = strings.Trim(plain, ".-"); origin == "" || plain == "" {
		return id
	}
	return plain[:min(len(plain), 40)] + "-" + id
}

// parseConfig reads the settings of a configuration of git that leases need, without what
// it includes: "c3po.leases", "core.ignorecase", and "remote.NAME.url" of each remote. The last of a name counts.
func parseConfig(text string) map[string]string {
	settings, section := map[string]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "["); ok {
			section, _, _ = strings.Cut(head, "]")
			if name, of, ok := strings.Cut(section, " "); ok {
				section = strings.ToLower(name) + "." + strings.Trim(of, "\"")
			}
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		key := section + "." + strings.ToLower(strings.TrimSpace(name))
		if key == "c3po.leases" || key == "core.ignorecase" || strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".url") {
			settings[key] = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
	return settings
}

// originOf is where a repository was cloned from in the end: one that is a folder was
// perhaps cloned itself. Empty if it was not. Its remote is the one called origin, or the
// only one. dir is git's folder of the repository.
func originOf(config map[string]string, dir string, steps int) string {
	remote := config["remote.origin.url"]
	if remote == "" {
		var others []string
		for key, url := range config {
			if strings.HasPrefix(key, "remote.") {
				others = append(others, url)
			}
		}
		if len(others) == 1 {
			remote = others[0]
		}
	}
	if remote == "" || steps == 0 {
		return ""
	}
	top := dir
	if filepath.Base(dir) == ".git" {
		top = filepath.Dir(dir)
	}
	origin := normalRemote(remote, top)
	if !filepath.IsAbs(filepath.FromSlash(origin)) {
		return origin
	}
	for _, at := range []string{filepath.Join(origin, ".git"), origin, origin + ".git"} {
		if text, err := os.ReadFile(filepath.Join(at, "config")); err == nil { // #nosec G304 -- git's own
			return originOf(parseConfig(string(text)), at, steps-1)
		}
	}
	return ""
}

// SetLeases switches leases on for the repository, in all its working trees, and gives
// what it is called then; or off.
func (c Checkout) SetLeases(on bool) (string, error) {
	if !on {
		_, err := git(c.Top, "config", "--local", "--unset-all", leaseSetting)
		if _, still := c.Leases(); still {
			return "", gitTrouble(c.Top, err)
		}
		return "", nil
	}
	first, err := c.firstCommit()
	if err != nil {
		return "", err
	}
	if _, err = git(c.Top, "config", "--local", leaseSetting, first); err != nil {
		return "", gitTrouble(c.Top, err)
	}
	repository, _ := c.Leases()
	return repository, nil
}

// Leasable refuses a repository that has no name yet: its first commit is not there.
func (c Checkout) Leasable() error {
	shallow, err := git(c.Top, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return gitTrouble(c.Top, err)
	}
	if shallow == "true" {
		return c3po.Errorf(c3po.InvalidRequest, "%s is a shallow clone: its first commit is not here, which names the repository", c.Top).
			Suggest("Run git fetch --unshallow first.")
	}
	if _, err := git(c.Top, "rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		return c3po.Errorf(c3po.InvalidRequest, "%s has no commit yet, and the first one names the repository", c.Top).Suggest("Make a commit first.")
	}
	return nil
}

func (c Checkout) firstCommit() (string, error) {
	if err := c.Leasable(); err != nil {
		return "", err
	}
	roots, err := git(c.Top, "rev-list", "--max-parents=0", "HEAD")
	if err != nil {
		return "", gitTrouble(c.Top, err)
	}
	lines := strings.Split(roots, "\n") // the oldest is the last
	return lines[len(lines)-1], nil
}

// gitTrouble says why git could not be asked, in its own words.
func gitTrouble(dir string, err error) error {
	var ended *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return c3po.Because(err, c3po.InvalidRequest, "git is not installed, or not on the PATH").Suggest("Install git first.")
	case errors.As(err, &ended) && len(ended.Stderr) > 0:
		why, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(ended.Stderr)), "fatal: "), "\n")
		return c3po.Errorf(c3po.InvalidRequest, "git cannot read %s: %s", dir, why).Suggest("Run git status there to see what is wrong.")
	}
	return err
}

// WhyNoCheckout says what a folder is that is no working tree.
func WhyNoCheckout(dir string) error {
	inside, err := git(dir, "rev-parse", "--is-inside-work-tree", "--is-bare-repository")
	switch words := strings.Fields(inside); {
	case errors.Is(err, exec.ErrNotFound):
		return gitTrouble(dir, err)
	case err == nil && len(words) == 2 && words[1] == "true":
		return c3po.Errorf(c3po.InvalidRequest, "%s is a bare repository: it has no files to edit", dir).Suggest("Run it in a clone.")
	case err == nil:
		return c3po.Errorf(c3po.InvalidRequest, "%s is git's own folder, not a working tree", dir).Suggest("Run it in the folder of the files.")
	}
	return c3po.Errorf(c3po.InvalidRequest, "%s is in no git repository", dir).Suggest("Run it in the repository whose files are to be leased.")
}

// Staged are the files that the next commit would change. What a merge takes in from the
// same branch elsewhere is no change of it: the commits were checked where they were made.
func (c Checkout) Staged() ([]string, error) {
	staged, err := c.changed("diff", "--cached")
	if err != nil || len(staged) == 0 {
		return nil, err
	}
	for _, head := range c.merging() {
		if !c.isOnBranch(head) {
			continue
		}
		theirs, err := c.changed("diff", "HEAD..."+head)
		if err != nil {
			return nil, err
		}
		staged = slices.DeleteFunc(staged, func(file string) bool { return slices.Contains(theirs, file) })
	}
	return staged, nil
}

// Tracks says that git knows a file, staged or committed, whether or not it is there.
func (c Checkout) Tracks(file string) bool {
	for _, of := range []string{"HEAD:", ":"} {
		if _, err := git(c.Top, "cat-file", "-e", of+file); err == nil {
			return true
		}
	}
	return false
}

func (c Checkout) changed(args ...string) ([]string, error) {
	out, err := git(c.Top, append(args, "--name-only", "--no-renames", "-z")...)
	if err != nil {
		return nil, gitTrouble(c.Top, err)
	}
	if out == "" {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), nil
}

// merging are the commits that a merge takes in. Git names them in the environment of the
// hook before a merge, and in a file once the person has to finish it.
func (c Checkout) merging() (heads []string) {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "GITHEAD_") {
			heads = append(heads, strings.TrimPrefix(name, "GITHEAD_"))
		}
	}
	text, err := os.ReadFile(filepath.Join(c.dir, "MERGE_HEAD")) // #nosec G304 -- git's own
	if err == nil {
		heads = append(heads, strings.Fields(string(text))...)
	}
	return heads
}

// isOnBranch says that a commit is on the branch that is checked out, on a remote.
func (c Checkout) isOnBranch(commit string) bool {
	branch := c.Branch()
	refs, err := git(c.Top, "for-each-ref", "--format=%(refname:lstrip=3)", "--contains", commit, "refs/remotes")
	return err == nil && branch != "" && slices.Contains(strings.Split(refs, "\n"), branch)
}
