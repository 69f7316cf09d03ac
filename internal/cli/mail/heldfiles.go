package mail

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

// maxFilesListed is how many files one list shows.
const maxFilesListed = 1_000

func Files(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "files",
		Short: "Show what takes the room for files",
		Long: `Show the files that messages carry and those that are being uploaded, how much room
they take and who holds most of it. Uploads count with their whole size from the start.
With --as you see an agent's own.`,
		Example: `  c3po files`,
		Args:    console.UnknownCommand,
		RunE: console.Call(a, a.ActingOrPerson, func(ctx context.Context, svc *client.Client, _ []string) (c3po.FileList, error) {
			return allFiles(ctx, svc)
		}, printFiles),
	}
	cmd.AddCommand(filesDrop(a))
	return cmd
}

func allFiles(ctx context.Context, svc *client.Client) (c3po.FileList, error) {
	all, err := svc.FileList(ctx, c3po.FileListInput{})
	for err == nil && all.Next != "" && len(all.Files) < maxFilesListed {
		var page c3po.FileList
		if page, err = svc.FileList(ctx, c3po.FileListInput{Cursor: all.Next}); err == nil {
			all.Files, all.Next = append(all.Files, page.Files...), page.Next
		}
	}
	return all, err
}

func printFiles(w io.Writer, list c3po.FileList) {
	fmt.Fprintf(w, "files take %s of %s\n", byteText(list.Bytes), byteText(list.MaxBytes))
	for _, h := range list.Holders {
		fmt.Fprintf(w, "  %s holds %s\n", console.Inline(string(h.Agent)), byteText(h.Bytes))
	}
	for _, f := range list.Files {
		state := console.CountOf(f.Messages, "message")
		if f.Messages == 0 {
			state = "not sent yet"
			if f.Offset < f.Size {
				state = fmt.Sprintf("%d %% uploaded", f.Offset*100/f.Size)
			}
			state += ", forgotten in " + c3po.Age(time.Duration(f.EndsIn)*time.Second)
		}
		fmt.Fprintf(w, "%s  %s, %s, from %s, %s\n", console.Inline(string(f.ID))[:min(12, len(f.ID))], console.FileName(f.Name), byteText(f.Size), console.Inline(string(f.From)), state)
	}
	if list.Next != "" {
		fmt.Fprintln(w, "there are more")
	}
}

func filesDrop(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "drop FILE_ID",
		Short: "Drop a file to make room",
		Long: `Drop a file to make room. You can drop any, an agent one that it uploaded and that
no message carries. The message stays, and says that its file is no longer kept.
The id is in c3po files; its beginning is enough.`,
		Example: `  c3po files drop 0a1b2c3d`,
		RunE: console.Call(a, a.ActingOrPerson, func(ctx context.Context, svc *client.Client, args []string) (c3po.FileDropped, error) {
			list, err := allFiles(ctx, svc)
			if err != nil {
				return c3po.FileDropped{}, err
			}
			var found []c3po.FileID
			for _, f := range list.Files {
				if args[0] != "" && strings.HasPrefix(string(f.ID), args[0]) {
					found = append(found, f.ID)
				}
			}
			if len(found) != 1 {
				return c3po.FileDropped{}, c3po.Errorf(c3po.InvalidRequest, "%s whose id begins with %q", console.CountOf(len(found), "file"), c3po.Clip(args[0])).
					Suggest("`c3po files` shows the ids.")
			}
			return svc.FileDrop(ctx, c3po.FileDropInput{ID: found[0]})
		}, func(w io.Writer, dropped c3po.FileDropped) {
			fmt.Fprintf(w, "dropped; %s are free again\n", byteText(dropped.Bytes))
		}),
	}
}

// byteText is a number of bytes for people.
func byteText(n int64) string {
	const unit = 1 << 10
	switch {
	case n < unit:
		return fmt.Sprintf("%d bytes", n)
	case n < unit*unit:
		return fmt.Sprintf("%.1f KiB", float64(n)/unit)
	case n < unit*unit*unit:
		return fmt.Sprintf("%.1f MiB", float64(n)/unit/unit)
	default:
		return fmt.Sprintf("%.1f GiB", float64(n)/unit/unit/unit)
	}
}
