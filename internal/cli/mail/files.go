package mail

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

const patchType = "text/x-diff"

// upload stores the files of a message that is about to be sent. One that is named twice,
// or is the same as another under the same name, travels once. Too many are refused before
// the first is stored.
func upload(ctx context.Context, svc *client.Client, paths []string) (ids []c3po.FileID, err error) {
	if named := len(slices.Compact(slices.Sorted(slices.Values(paths)))); named > 1 {
		info, err := svc.ServerInfo(ctx, c3po.None{})
		if err != nil {
			return nil, err
		}
		if info.Files > 0 && named > info.Files { // an older coordinator doesn't say
			return nil, c3po.RefuseFileCount(named, info.Files)
		}
	}
	for _, path := range paths {
		id, err := uploadOne(ctx, svc, path)
		if errors.Is(err, context.Canceled) {
			return nil, &console.EndedError{Code: console.ExitInterrupted, Cause: c3po.Because(err, c3po.InvalidRequest, "interrupted: nothing was sent").
				Suggest("Send it again within %s, and the upload continues where it stopped.", c3po.Age(c3po.UploadLife))}
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func uploadOne(ctx context.Context, svc *client.Client, path string) (c3po.FileID, error) {
	unreadable := func(err error) error {
		return console.BadUsage(fmt.Sprintf("%s cannot be read: %v", path, cause(err)), "Check the path after --file.")
	}
	// Before it is opened: to open a pipe waits for who writes into it.
	is, err := os.Stat(path)
	if err != nil {
		return "", unreadable(err)
	}
	if !is.Mode().IsRegular() {
		return "", console.BadUsage(path+" is not a file", "Send a folder as an archive, for example made by tar.")
	}
	content, err := os.Open(path) // #nosec G304 -- the path that its user asks to send
	if err != nil {
		return "", unreadable(err)
	}
	defer content.Close()
	state, err := svc.Upload(ctx, sanitise.FileName(filepath.Base(path)), fileType(path), content)
	return state.ID, err
}

// cause is why a path could not be used, without the path.
func cause(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}

func fileType(path string) string {
	switch ending := strings.ToLower(filepath.Ext(path)); ending {
	case ".diff", ".patch":
		return patchType
	case ".log", ".md", ".txt":
		return "text/plain"
	default:
		kind, _, err := mime.ParseMediaType(mime.TypeByExtension(ending))
		if err != nil {
			return ""
		}
		return kind
	}
}
