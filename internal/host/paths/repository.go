package paths

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// RepositorySpace is the space of the repository that a folder is in: every
// clone of it has the same one, however it was cloned. A repository that has no
// remote called origin has a space of its own, by its top folder.
func RepositorySpace(dir string) (c3po.Space, error) {
	top, err := git(dir, "rev-parse", "--show-toplevel")
	if err != nil || top == "" {
		return "", c3po.Errorf(c3po.InvalidRequest, "the folder %s is in no git repository, so it has no space by itself", dir).
			Suggest("Name the space with --space or C3PO_SPACE, or run this in a repository.")
	}
	name := top
	// It fails if there is no such remote.
	if remote, err := git(dir, "config", "--get", "remote.origin.url"); err == nil && remote != "" {
		name = normalRemote(remote, top)
	}
	sum := sha256.Sum256([]byte(name))
	return c3po.ParseSpace("repo-" + hex.EncodeToString(sum[:8]))
}

func git(dir string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
	return strings.TrimRight(string(out), "\r\n"), err
}

// normalRemote writes the forms of one remote alike: host and path, without
// scheme, user, port and the ending. The port goes too, because that of ssh and
// that of https are never the same. A remote that is a folder is its full path.
func normalRemote(remote, top string) string {
	remote = strings.TrimSpace(remote)
	if u, err := url.Parse(remote); err == nil && u.Scheme != "" && strings.Contains(remote, "://") {
		if u.Scheme == "file" {
			return folder(u.Path, top)
		}
		return hostAndPath(u.Hostname(), u.Path)
	}
	// user@host:path, as ssh takes it. One letter is a drive of Windows.
	host, rest, isHost := strings.Cut(remote, ":")
	if strings.HasPrefix(remote, "[") || strings.Contains(host, "@[") {
		host, rest, isHost = strings.Cut(remote, "]:") // an IPv6 address has colons of its own
	}
	if isHost && len(host) > 1 && !strings.Contains(host, "/") {
		_, address, hasUser := strings.Cut(host, "@")
		if !hasUser {
			address = host
		}
		return hostAndPath(strings.TrimPrefix(address, "["), rest)
	}
	return folder(remote, top)
}

func hostAndPath(host, at string) string {
	return strings.ToLower(host) + "/" + bare(strings.TrimPrefix(path.Clean("/"+at), "/"))
}

func folder(at, top string) string {
	if !filepath.IsAbs(at) {
		at = filepath.Join(top, at)
	}
	return bare(filepath.ToSlash(filepath.Clean(at)))
}

func bare(at string) string { return strings.TrimSuffix(strings.TrimSuffix(at, ".git"), "/") }
