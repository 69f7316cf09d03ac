package agentside

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/c3po-dev/c3po"
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
	var names []string
	for _, hook := range gitHooks {
		name, ours, there, err := gitHook(checkout, hook)
		if err != nil {
			return "", err
		}
		if there && !ours {
			return "", c3po.Errorf(c3po.InvalidRequest, "%s is there already, and not ours", name).
				Suggest("Leases are on. Add this line to it, and to %s beside it: %s || exit 1", strings.Join(gitHooks, " or "), line)
		}
		names = append(names, name)
	}
	shared, err := checkout.SharesHooks()
	if err != nil {
		return "", err
	}
	if shared {
		return "", c3po.Errorf(c3po.InvalidRequest, "core.hooksPath has git look for hooks in %s, and c3po changes nothing there", filepath.Dir(names[0])).
			Suggest("Leases are on. Add this line to the hooks %s there: %s || exit 1", strings.Join(gitHooks, " and "), line)
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

func removeGitHooks(checkout paths.Checkout) error {
	shared, err := checkout.SharesHooks()
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
