package container

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// heeded are variables that the program itself, or what it starts, would act on.
var heeded = regexp.MustCompile(`^(PATH|HOME|TMPDIR|TZ|LANG|GODEBUG|GOMAXPROCS|SSL_CERT_(FILE|DIR)|(?i:(https?|all|no)_proxy)|(DOCKER|CONTAINER|CONTAINERS|PODMAN|BUILDAH|BUILDKIT|STORAGE|REGISTRY|NERDCTL|FINCH|LIMA|XDG|LD|DYLD|LC|DBUS)_.*|CONTAINERD.*)$`)

// variables are the flags for the environment of a container. A value goes by the
// environment of the program, under its name, since arguments are seen by all. A
// name that the program has, or would heed, goes by a file that only we can read.
func (c *CLI) variables(all []Variable) (flags, env []string, remove func(), err error) {
	var inFile []string
	for _, v := range all {
		if strings.ContainsRune(v.Value, 0) || v.Name == "" || strings.ContainsAny(v.Name, "=\x00\n ") {
			return nil, nil, nil, c3po.Errorf(c3po.InvalidRequest, "%.80q cannot be a variable", v.Name).Suggest("Give it another name, and no zero byte.")
		}
		if !heeded.MatchString(v.Name) && !c.has(v) {
			flags, env = append(flags, "-e", v.Name), append(env, v.Name+"="+v.Value)
			continue
		}
		if strings.ContainsAny(v.Value, "\r\n") {
			return nil, nil, nil, c3po.Errorf(c3po.InvalidRequest, "%s of a container cannot have several lines", v.Name).
				Suggest("The program that runs containers has a variable of this name itself; use another one.")
		}
		inFile = append(inFile, v.Name+"="+v.Value)
	}
	if len(inFile) == 0 {
		return flags, env, func() {}, nil
	}
	folder, err := os.MkdirTemp("", "c3po-env")
	if err != nil {
		return nil, nil, nil, err
	}
	remove = func() { _ = os.RemoveAll(folder) }
	name := filepath.Join(folder, "env")
	if err := os.WriteFile(name, []byte(strings.Join(inFile, "\n")+"\n"), 0o600); err != nil {
		remove()
		return nil, nil, nil, fmt.Errorf("the variables of a container: %w", err)
	}
	return append(flags, "--env-file", name), env, remove, nil
}

// has says that the program has a variable of this name with another value.
func (c *CLI) has(v Variable) bool {
	return slices.ContainsFunc(c.environ, func(own string) bool {
		return strings.HasPrefix(own, v.Name+"=") && own != v.Name+"="+v.Value
	})
}
