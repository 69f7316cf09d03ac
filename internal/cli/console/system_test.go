package console

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestWhatTheSystemRefusesIsExplainedWithItsCauseAndWhatHelps(t *testing.T) {
	t.Parallel()
	on := func(op string, number syscall.Errno) error {
		return &fs.PathError{Op: op, Path: "/data/x", Err: number}
	}
	for name, c := range map[string]struct {
		err              error
		sentence, advice string
		code             c3po.Code
	}{
		"full":          {on("write", syscall.ENOSPC), "cannot write /data/x: no space left on device", "Free some space", c3po.InvalidRequest},
		"over quota":    {fmt.Errorf("saving: %w", on("write", syscall.EDQUOT)), "cannot write /data/x: ", "Free some space", c3po.InvalidRequest},
		"read-only":     {on("mkdir", syscall.EROFS), "cannot mkdir /data/x: read-only file system", "That disk is read-only.", c3po.InvalidRequest},
		"not allowed":   {on("open", syscall.EACCES), "cannot open /data/x: permission denied", "Check who owns it", c3po.InvalidRequest},
		"too many":      {on("open", syscall.EMFILE), "cannot open /data/x: too many open files", "ulimit -n", c3po.InvalidRequest},
		"no path":       {errors.Join(syscall.ENOSPC), "no space left on device", "Free some space", c3po.InvalidRequest},
		"said already":  {c3po.Errorf(c3po.Forbidden, "cannot keep it: %w", on("write", syscall.ENOSPC)).Suggest("Check who owns it."), "cannot keep it: ", "Free some space", c3po.Forbidden},
		"a connection":  {c3po.Because(syscall.ECONNREFUSED, c3po.CoordDown, "down").Suggest("Start it."), "down", "Start it.", c3po.CoordDown},
		"our own fault": {errors.New("nil map"), "internal error", "a fault of c3po", c3po.Internal},
		"no file":       {syscall.EINVAL, "internal error", "a fault of c3po", c3po.Internal},
	} {
		e := Explain(c.err)
		if !strings.HasPrefix(e.Message, c.sentence) || !strings.Contains(e.Suggestion, c.advice) || e.Code != c.code {
			t.Errorf("%s: %s %q, %q", name, e.Code, e.Message, e.Suggestion)
		}
	}
}
