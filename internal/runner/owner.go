package runner

import (
	"errors"
	"fmt"
	"os"
)

// firstUser is who a container runs as where everything belongs to root.
const firstUser = 1000

// An owner is the user that a container runs as. It is never root: it is who
// runs the runner, or for root who owns the workspace.
type owner struct {
	uid, gid int
	give     bool // files must be given to it: the runner is root
}

func ownerFor(workspace string) owner {
	uid, gid := os.Getuid(), os.Getgid()
	if uid > 0 {
		return owner{uid: uid, gid: gid}
	}
	if uid < 0 { // a system without such numbers
		return owner{uid: firstUser, gid: firstUser}
	}
	if info, err := os.Stat(workspace); err == nil {
		if uid, gid, ok := ownerOf(info); ok && uid != 0 {
			return owner{uid: uid, gid: gid, give: true}
		}
	}
	return owner{uid: firstUser, gid: firstUser, give: true}
}

func (o owner) String() string { return fmt.Sprintf("%d:%d", o.uid, o.gid) }

// takeAll gives files and folders to the owner, not what is in them.
func (o owner) takeAll(names ...string) error {
	if !o.give {
		return nil
	}
	var failed error
	for _, name := range names {
		failed = errors.Join(failed, os.Lchown(name, o.uid, o.gid))
	}
	return failed
}
