package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

const (
	// maxNumbered is how many files of one name are saved beside each other.
	maxNumbered = 100
	// maxPatchBytes is how long a patch can be that a person looks through.
	maxPatchBytes = 1 << 20
	patchType     = "text/x-diff"
)

// upload stores the files of a message that is about to be sent.
func upload(ctx context.Context, svc *client.Client, paths []string) (ids []c3po.FileID, err error) {
	for _, path := range paths {
		id, err := uploadOne(ctx, svc, path)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
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
		RunE: console.Call(a, a.Looking, func(ctx context.Context, svc *client.Client, args []string) (all []savedFile, err error) {
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
			for _, file := range m.Attachments {
				name, err := saveInto(folder, file.Name, func(w io.Writer) error { return svc.Download(ctx, m.ID, file, w) })
				if err != nil {
					return nil, err
				}
				all = append(all, savedFile{file, filepath.Join(dir, name)})
			}
			return all, nil
		}, func(w io.Writer, all []savedFile) {
			for _, file := range all {
				fmt.Fprintf(w, "saved %s, %s\n", console.Inline(file.Path), console.FileFacts(file.Attachment))
			}
		}),
	}
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

// saveInto writes a new file into a folder, and leaves none if that fails. The folder is
// a root: no name leads out of it, and a link that stands there is not followed.
func saveInto(folder *os.Root, name string, write func(io.Writer) error) (string, error) {
	name, file, err := newFile(folder, sanitise.FileName(name))
	if err != nil {
		return "", err
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		return name, nil
	}
	_ = folder.Remove(name) // what matters is why it failed
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return "", c3po.Errorf(c3po.InvalidRequest, "%s cannot be written: %v", name, failed.Err).Suggest("Check the folder and its disk. Nothing is lost: save again.")
	}
	return "", err
}

// newFile makes a file of that name, or of that name with a number.
func newFile(folder *os.Root, name string) (string, *os.File, error) {
	ending := filepath.Ext(name)
	for n := 1; n <= maxNumbered; n++ {
		numbered := name
		if n > 1 {
			numbered = strings.TrimSuffix(name, ending) + "-" + strconv.Itoa(n) + ending
		}
		file, err := folder.OpenFile(numbered, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", nil, c3po.Errorf(c3po.InvalidRequest, "%s cannot be made: %v", numbered, cause(err)).Suggest("Name a folder that you may write to.")
		}
		return numbered, file, nil
	}
	return "", nil, c3po.Errorf(c3po.InvalidRequest, "%d files called %s are there already", maxNumbered, name).Suggest("Save into another folder.")
}

func Apply(a *console.Console) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "apply MESSAGE_ID",
		Short: "Show the patch that came with a message, and apply it",
		Long: `Show the patches that came with a message, and apply them to the repository you are
in with git apply, once you have said yes. Either all of them are applied or
nothing. Nothing is committed. Without a terminal, --yes says so beforehand.`,
		Example: `  c3po apply alice::bob::0a1b2c3d`,
		RunE: console.Call(a, a.Looking, func(ctx context.Context, svc *client.Client, args []string) (applied []c3po.Attachment, err error) {
			m, err := withFiles(ctx, svc, args[0])
			if err != nil {
				return nil, err
			}
			var patch bytes.Buffer
			for _, file := range m.Attachments {
				if file.Type != patchType && fileType(file.Name) != patchType {
					continue
				}
				if err := showPatch(ctx, a, svc, m.ID, file, &patch); err != nil {
					return nil, err
				}
				applied = append(applied, file)
			}
			if len(applied) == 0 {
				return nil, c3po.Errorf(c3po.InvalidRequest, "no patch came with '%s'", m.ID).Suggest("A patch is a file whose name ends in .diff or .patch. `c3po save %s` saves the files.", m.ID)
			}
			if done, err := applyAll(ctx, a, patch.Bytes(), yes); err != nil || !done {
				return nil, err
			}
			return applied, nil
		}, func(w io.Writer, applied []c3po.Attachment) {
			for _, file := range applied {
				fmt.Fprintf(w, "applied %s; nothing is committed\n", console.Inline(file.Name))
			}
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "apply it without asking")
	return cmd
}

// showPatch gets a patch and shows it. What is applied is all of them, one after another.
func showPatch(ctx context.Context, a *console.Console, svc *client.Client, id c3po.MessageID, file c3po.Attachment, all *bytes.Buffer) error {
	if file.Size > maxPatchBytes {
		return c3po.Errorf(c3po.InvalidRequest, "%s has %d bytes, too many to look through", file.Name, file.Size).Suggest("Save it with `c3po save %s`, and use git apply.", id)
	}
	var patch bytes.Buffer
	if err := svc.Download(ctx, id, file, &patch); err != nil {
		return err
	}
	if !a.JSON {
		fmt.Fprintf(a.Stdout, "%s from %s:\n", console.Inline(file.Name), console.Inline(string(id)))
		console.Block(a.Stdout, patch.String())
	}
	if all.Len() > 0 && !bytes.HasSuffix(all.Bytes(), []byte("\n")) {
		all.WriteByte('\n')
	}
	all.Write(patch.Bytes())
	return nil
}

// applyAll applies patches if their reader agrees, all of them or none. git apply touches
// nothing outside of the repository, and not through links.
func applyAll(ctx context.Context, a *console.Console, patch []byte, yes bool) (bool, error) {
	if err := gitApply(ctx, patch, "--check"); err != nil {
		return false, err
	}
	if !yes {
		if !a.AtTerminal() {
			return false, console.BadUsage("nobody is here to agree to the patch", "Look at it, then apply it with --yes.")
		}
		if agreed, err := a.Confirm("Apply it here?", false); err != nil || !agreed {
			return false, err
		}
	}
	return true, gitApply(ctx, patch)
}

// gitApply runs at the top of the repository: in a folder below it git leaves out, without
// a word, what the patch says of other folders.
func gitApply(ctx context.Context, patch []byte, flags ...string) error {
	top, err := git(ctx, ".", nil, "rev-parse", "--show-toplevel")
	if errors.Is(err, exec.ErrNotFound) {
		return err
	}
	if err != nil {
		return console.BadUsage("this folder is in no git repository", "Run it in the repository that the patch is for.")
	}
	_, err = git(ctx, strings.TrimRight(top, "\r\n"), patch, append(append([]string{"apply"}, flags...), "-")...)
	return err
}

func git(ctx context.Context, dir string, input []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...) // #nosec G204 -- fixed words
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(input)
	said, err := cmd.CombinedOutput()
	if err == nil {
		return string(said), nil
	}
	if _, ran := errors.AsType[*exec.ExitError](err); !ran {
		return "", c3po.Errorf(c3po.InvalidRequest, "git does not run: %w", err).Suggest("Install git, or save the patch with `c3po save`.")
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	return "", c3po.Errorf(c3po.InvalidRequest, "git does not apply it: %s", sanitise.Inline(c3po.Clip(first))).
		Suggest("Nothing was changed. Run it in the repository that the patch is for, at the commit that it was made from.")
}
