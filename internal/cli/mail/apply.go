package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// maxPatchBytes is how long a patch can be that a person looks through.
const maxPatchBytes = 1 << 20

// maxNamedFiles is how many files a failure names.
const maxNamedFiles = 20

func Apply(a *console.Console) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "apply MESSAGE_ID",
		Short: "Show the patch that came with a message, and apply it",
		Long: `Show the patches that came with a message, and apply them to the repository you are
in with git apply, once you have said yes. Either all of them are applied or
nothing. Nothing is committed. Without a terminal, --yes says so beforehand. A patch
of a file that another session has leased (c3po leases) is refused.`,
		Example: `  c3po apply alice::bob::0a1b2c3d`,
		RunE: console.Call(a, a.ActingOrPerson, func(ctx context.Context, svc *client.Client, args []string) (applied []c3po.Attachment, err error) {
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
			if done, err := applyAll(ctx, a, svc, patch.Bytes(), yes); err != nil || !done {
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
func applyAll(ctx context.Context, a *console.Console, svc *client.Client, patch []byte, yes bool) (bool, error) {
	if _, err := gitApply(ctx, patch, "--check"); err != nil {
		return false, err
	}
	touched, err := touchedBy(ctx, patch)
	if err != nil {
		return false, err
	}
	if err := refuseLeased(ctx, svc, touched); err != nil {
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
	return true, applyOrUndo(ctx, patch, touched)
}

// applyOrUndo applies a patch. If git stops in the middle, the files are put back.
func applyOrUndo(ctx context.Context, patch []byte, touched []string) error {
	top, err := topFolder(ctx)
	if err != nil {
		return err
	}
	gitFolder, err := git(ctx, top, nil, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return err
	}
	before, err := keep(top, strings.TrimRight(gitFolder, "\r\n"), touched)
	if err != nil {
		return c3po.Errorf(c3po.InvalidRequest, "not applied: what the files are now cannot be kept: %v", cause(err)).
			Suggest("Nothing was changed. Check the disk and who may write to the repository.")
	}
	_, err = gitApply(ctx, patch)
	if err == nil {
		before.drop()
		return nil
	}
	changed := before.restore()
	if len(changed) == 0 {
		before.drop()
		return c3po.Errorf(c3po.InvalidRequest, "%w; all files are as they were", err).
			Suggest("Check the disk, and whether you may write to the files and folders of the patch.")
	}
	more := ""
	if len(changed) > maxNamedFiles {
		changed, more = changed[:maxNamedFiles], fmt.Sprintf(" and %d more", len(changed)-maxNamedFiles)
	}
	return c3po.Errorf(c3po.InvalidRequest, "%w; these files are changed and could not be put back: %s%s", err, sanitise.Inline(strings.Join(changed, ", ")), more).
		Suggest("What they were is in %s. git diff shows what is changed.", sanitise.Inline(before.folder))
}

// refuseLeased refuses a patch of a file that another session edits, here or on the same
// branch elsewhere.
func refuseLeased(ctx context.Context, svc *client.Client, touched []string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	checkout, ok := paths.CheckoutOf(dir)
	if !ok {
		return nil // git has just said otherwise, in a way of its own
	}
	repository, on := checkout.Leases()
	if !on {
		return nil
	}
	list, err := svc.LeaseList(ctx, c3po.LeaseListInput{Repository: repository})
	if err != nil {
		return err
	}
	branch, tree := checkout.Branch(), checkout.Tree()
	for _, l := range list.Leases {
		if l.Holder == svc.ID() || l.Tree != tree && (branch == "" || l.Branch != branch) || !slices.Contains(touched, l.Path) {
			continue
		}
		return c3po.Errorf(c3po.Forbidden, "not applied: %s is being edited by %s, for %s", sanitise.Inline(l.Path), l.Holder.Brief(), c3po.Age(time.Since(l.Since))).
			Suggest("Apply it once they have committed. `c3po leases release %d` ends their lease.", l.Number)
	}
	return nil
}

// touchedBy are the files that a patch changes, moves or copies. git names each by its new
// name only, and of the patch the other way round by its old one.
func touchedBy(ctx context.Context, patch []byte) (files []string, err error) {
	for _, flags := range [][]string{{"--numstat", "-z"}, {"--numstat", "-z", "-R"}} {
		said, err := gitApply(ctx, patch, flags...)
		if err != nil {
			return nil, err
		}
		for field := range strings.SplitSeq(said, "\x00") {
			// ADDED TAB DELETED TAB PATH
			if parts := strings.SplitN(field, "\t", 3); len(parts) == 3 && !slices.Contains(files, parts[2]) {
				files = append(files, parts[2])
			}
		}
	}
	return files, nil
}

// gitApply runs at the top of the repository: in a folder below it git leaves out, without
// a word, what the patch says of other folders.
func gitApply(ctx context.Context, patch []byte, flags ...string) (string, error) {
	top, err := topFolder(ctx)
	if err != nil {
		return "", err
	}
	return git(ctx, top, patch, append(append([]string{"apply"}, flags...), "-")...)
}

func topFolder(ctx context.Context) (string, error) {
	top, err := git(ctx, ".", nil, "rev-parse", "--show-toplevel")
	if errors.Is(err, exec.ErrNotFound) {
		return "", err
	}
	if err != nil {
		return "", console.BadUsage("this folder is in no git repository", "Run it in the repository that the patch is for.")
	}
	return strings.TrimRight(top, "\r\n"), nil
}

func git(ctx context.Context, dir string, input []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...) // #nosec G204 -- fixed words
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(input)
	var said, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complaint
	err := cmd.Run()
	if err == nil {
		return said.String(), nil
	}
	if _, ran := errors.AsType[*exec.ExitError](err); !ran {
		return "", c3po.Errorf(c3po.InvalidRequest, "git does not run: %w", err).Suggest("Install git, or save the patch with `c3po save`.")
	}
	first, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n")
	if first == "" {
		first = err.Error() // a signal has ended it
	}
	return "", c3po.Errorf(c3po.InvalidRequest, "git does not apply it: %s", sanitise.Inline(c3po.Clip(first))).
		Suggest("Nothing was changed. Run it in the repository that the patch is for, at the commit that it was made from.")
}
