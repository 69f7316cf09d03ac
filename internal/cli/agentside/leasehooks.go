package agentside

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// gitHookHead begins our hooks, and gitHookLines is how long each is.
const (
	gitHookHead  = "#!/bin/sh\n# c3po leases: made by c3po leases on --pre-commit\n"
	gitHookLines = 4
)

// gitHooks are the hooks that check leases: a merge that git makes by itself has another
// than a commit.
var gitHooks = []string{"pre-commit", "pre-merge-commit"}

// gitHook looks at a hook of git's: where it is, whether it is there, and ours.
func gitHook(checkout paths.Checkout, hook string) (name string, ours, there bool, err error) {
	folder, err := checkout.HooksFolder()
	if err != nil {
		return "", false, false, err
	}
	name = filepath.Join(folder, hook)
	if is, err := os.Lstat(name); err == nil && is.Mode()&os.ModeSymlink != 0 {
		return name, false, true, nil // what it leads to may be another's, or not there yet
	}
	text, err := os.ReadFile(name) // #nosec G304 -- where git looks for it
	if errors.Is(err, os.ErrNotExist) {
		return name, false, false, nil
	}
	// What somebody has added to it is theirs.
	ours = strings.HasPrefix(string(text), gitHookHead) && strings.Count(string(text), "\n") == gitHookLines
	return name, ours, true, err
}

// installGitHooks makes the hooks, and names the first. If one is there already, none is made.
func installGitHooks(checkout paths.Checkout) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	line := shellQuoted(program) + " leases check"
	if err := refuseSharedHooks(checkout, line); err != nil {
		return "", err
	}
	var names []string
	for _, hook := range gitHooks {
		name, ours, there, err := gitHook(checkout, hook)
		if err != nil {
			return "", err
		}
		if there && !ours {
			why := "is there already, and not ours"
			if is, err := os.Lstat(name); err == nil && is.Mode()&os.ModeSymlink != 0 {
				why = "is a link, and c3po does not write through it"
			}
			return "", c3po.Errorf(c3po.InvalidRequest, "%s %s", name, why).
				Suggest("Leases are on. Add this line to it, and to %s beside it: %s || exit 1", strings.Join(gitHooks, " or "), line)
		}
		names = append(names, name)
	}
	if err := os.MkdirAll(filepath.Dir(names[0]), 0o750); err != nil {
		return "", err
	}
	// A program that has moved since holds up no commit.
	text := gitHookHead + "[ -x " + shellQuoted(program) + " ] || { echo 'c3po: nobody checked the leases of what you commit: the program is gone' >&2; exit 0; }\nexec " + line + "\n"
	for _, name := range names {
		err := os.WriteFile(name, []byte(text), 0o755) // #nosec G306 -- git runs it
		if err != nil {
			return "", err
		}
	}
	return names[0], nil
}

// refuseSharedHooks refuses where git looks for hooks elsewhere than in the repository, or
// nowhere: an empty path, as /dev/null, has none.
func refuseSharedHooks(checkout paths.Checkout, line string) error {
	set, shared, err := checkout.SharedHooks()
	if err != nil || !shared {
		return err
	}
	folder, err := checkout.HooksFolder()
	if err != nil {
		return err
	}
	is, err := os.Stat(folder)
	if set == "" || err == nil && !is.IsDir() {
		return c3po.Errorf(c3po.InvalidRequest, "core.hooksPath is %s, so that git runs no hooks here", cmp.Or(set, "empty")).
			Suggest("Leases are on; commits are not checked. If they should be: git config --unset core.hooksPath, then c3po leases on --pre-commit.")
	}
	return c3po.Errorf(c3po.InvalidRequest, "core.hooksPath has git look for hooks in %s, and c3po changes nothing there", folder).
		Suggest("Leases are on. Add this line to the hooks %s there: %s || exit 1", strings.Join(gitHooks, " and "), line)
}

func removeGitHooks(checkout paths.Checkout) error {
	_, shared, err := checkout.SharedHooks()
	if err != nil || shared {
		return err
	}
	for _, hook := range gitHooks {
		name, ours, _, err := gitHook(checkout, hook)
		if err != nil {
			return err
		}
		if ours {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// shellQuoted is a word as sh takes it.
func shellQuoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
