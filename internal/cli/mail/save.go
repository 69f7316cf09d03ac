package mail

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

const (
	// maxNumbered is how many files of one name are saved beside each other.
	maxNumbered = 100
	// partPrefix begins the name of a file that is not whole yet.
	partPrefix = ".c3po-save-"
	// partLife is after how long without a byte nobody writes to one any more.
	partLife = time.Hour
)

// A saved file is where one was written to.
type savedFile struct {
	c3po.Attachment
	Path string `json:"path"`
}

func Save(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "save MESSAGE_ID [FOLDER]",
		Short: "Save the files that came with a message",
		Long: `Save the files that came with a message into FOLDER, or into the one you are in. Names
are made safe: no folders, no leading dots, no invisible characters. A file that is
there already stays as it is, and the new one gets a number. Each is held to its hash.`,
		Example: `  c3po save alice::bob::0a1b2c3d inbox-files`,
		Args:    console.Arguments(1, 2, "MESSAGE_ID [FOLDER]"),
		RunE: console.Call(a, a.ActingOrPerson, func(ctx context.Context, svc *client.Client, args []string) (all []savedFile, err error) {
			m, err := withFiles(ctx, svc, args[0])
			if err != nil {
				return nil, err
			}
			dir := "."
			if len(args) == 2 {
				dir = args[1]
				if err := os.MkdirAll(dir, 0o750); err != nil {
					return nil, console.BadUsage(fmt.Sprintf("%s cannot be made: %v", dir, cause(err)), "Name a folder that you may write to.")
				}
			}
			folder, err := os.OpenRoot(dir)
			if err != nil {
				return nil, console.BadUsage(fmt.Sprintf("%s cannot be opened: %v", dir, cause(err)), "Name a folder that you may write to.")
			}
			defer folder.Close()
			removeParts(folder, time.Now())
			for _, file := range m.Attachments {
				name, err := saveInto(folder, file.Name, func(w io.Writer) error { return svc.Download(ctx, m.ID, file, w) })
				if err != nil {
					return nil, sayingSaved(a, err, all)
				}
				all = append(all, savedFile{file, filepath.Join(dir, name)})
			}
			return all, nil
		}, printSaved),
	}
}

func printSaved(w io.Writer, all []savedFile) {
	for _, file := range all {
		fmt.Fprintf(w, "saved %s, %s\n", console.FileName(file.Path), console.FileFacts(file.Attachment))
	}
}

// sayingSaved names what was saved before one file failed: in lines, or for a program in
// the error.
func sayingSaved(a *console.Console, err error, all []savedFile) error {
	if !a.JSON {
		printSaved(a.Stdout, all)
		return err
	}
	failed, ok := errors.AsType[*c3po.Error](err)
	if !ok || len(all) == 0 {
		return err
	}
	var names []string
	for _, file := range all {
		names = append(names, console.FileName(file.Path))
	}
	return c3po.Because(err, failed.Code, failed.Message+"; saved before it: "+strings.Join(names, ", ")).Suggest("%s", failed.Suggestion)
}

// withFiles finds a message that carries files.
func withFiles(ctx context.Context, svc *client.Client, name string) (c3po.Message, error) {
	id, err := console.MessageID(ctx, svc, name)
	if err != nil {
		return c3po.Message{}, err
	}
	in := c3po.ThreadInput{Thread: string(id)}
	for {
		page, err := svc.GetThread(ctx, in)
		if err != nil {
			return c3po.Message{}, err
		}
		for _, m := range page.Messages {
			switch {
			case m.ID != id:
			case len(m.Attachments) == 0:
				return m, c3po.Errorf(c3po.InvalidRequest, "no file came with '%s'", id).Suggest("`c3po thread %s` shows which message has files.", id)
			default:
				return m, nil
			}
		}
		if in.Cursor = page.Next; in.Cursor == "" {
			return c3po.Message{}, c3po.Errorf(c3po.InvalidRequest, "there is no message '%s' that you may read", id).Suggest("`c3po inbox` shows your messages.")
		}
	}
}

// saveInto writes a new file into a folder. It has its name only once it is whole and on
// disk, so that a kill leaves none that looks like it. The folder is a root: no name leads
// out of it, and a link that stands there is not followed.
func saveInto(folder *os.Root, name string, write func(io.Writer) error) (string, error) {
	part := partPrefix + rand.Text()
	err := writePart(folder, part, write)
	if err == nil {
		name, err = nameNew(folder, part, sanitise.FileName(name))
	}
	if err == nil {
		return name, nil
	}
	_ = folder.Remove(part) // what matters is why it failed
	var why error
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		why = failed.Err
	} else if failed, ok := errors.AsType[*os.LinkError](err); ok {
		why = failed.Err
	} else {
		return "", err
	}
	return "", c3po.Errorf(c3po.InvalidRequest, "%s cannot be written: %v", sanitise.FileName(name), why).
		Suggest("Check the folder and its disk. Nothing is lost: save again.")
}

func writePart(folder *os.Root, part string, write func(io.Writer) error) error {
	file, err := folder.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// nameNew gives a whole file its name, or that name with a number, and never one that is taken.
func nameNew(folder *os.Root, part, name string) (string, error) {
	ending := filepath.Ext(name)
	for n := 1; n <= maxNumbered; n++ {
		numbered := name
		if n > 1 {
			numbered = strings.TrimSuffix(name, ending) + "-" + strconv.Itoa(n) + ending
		}
		err := moveNew(folder, part, numbered)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			syncFolder(folder)
		}
		return numbered, err
	}
	return name, c3po.Errorf(c3po.InvalidRequest, "%d files called %s are there already", maxNumbered, name).Suggest("Save into another folder.")
}

// moveNew renames a file unless something has the new name. Only a link does that in one
// step; a disk that knows none has the name reserved first.
func moveNew(folder *os.Root, part, name string) error {
	err := folder.Link(part, name)
	if err == nil {
		return folder.Remove(part)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	reserved, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := reserved.Close(); err != nil {
		return err
	}
	return folder.Rename(part, name)
}

// syncFolder has the new name on disk too, where a folder can be told so.
func syncFolder(folder *os.Root) {
	if dir, err := folder.Open("."); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
}

// removeParts removes what a killed save has left.
func removeParts(folder *os.Root, now time.Time) {
	dir, err := folder.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return
	}
	for _, name := range names {
		if !strings.HasPrefix(name, partPrefix) {
			continue
		}
		if is, err := folder.Lstat(name); err == nil && is.Mode().IsRegular() && now.Sub(is.ModTime()) > partLife {
			_ = folder.Remove(name)
		}
	}
}
