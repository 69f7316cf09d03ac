package mail

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

func roomEnd(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "end ROOM",
		Short: "End a room and forget its history",
		Long: `End a room: its members leave it, and its history is forgotten. Only a person or
the agent that made the room may.`,
		Example: `  c3po room end build`,
		RunE: console.Operation(a, a.ActingOrPerson, c3po.Service.RoomEnd, console.TheRoom, func(w io.Writer, ended c3po.RoomEnded) {
			fmt.Fprintf(w, "ended %s: %s, %s\n", console.Inline(string(ended.Room)), console.CountOf(ended.Members, "member"), console.CountOf(ended.Posts, "post"))
		}),
	}
}

func roomPrune(a *console.Console) *cobra.Command {
	var in c3po.RoomPruneInput
	var older time.Duration
	cmd := &cobra.Command{
		Use:   "prune [ROOM]",
		Short: "Take silent members out of rooms, or end empty rooms",
		Long: `Take members out of a room, or out of all rooms, that are offline and gave no sign
of life for a while. Their mail stays, and they can join again.

With --empty: end rooms that have no members and in which nothing was said for a
while. The coordinator does this by itself after 30 days (limits.room_life).`,
		Example: `  c3po room prune --older 48h --dry-run
  c3po room prune --empty --older 168h`,
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.Person(console.HumanToken)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if in.Room, err = console.RoomName(args[0]); err != nil {
					return err
				}
			}
			if in.Empty && !cmd.Flags().Changed("older") {
				older = 30 * 24 * time.Hour
			}
			if in.Older = int(older / time.Second); in.Older < 1 {
				return console.BadUsage(fmt.Sprintf("--older %s would evict everybody who is offline right now", older), "Give at least 1s.")
			}
			pruned, err := svc.RoomPrune(cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.Show(pruned, func(w io.Writer) { printPruned(w, pruned) })
		},
	}
	console.LengthFlag(cmd.Flags(), &older, "older", 24*time.Hour, "how long a member was silent; 30d with --empty")
	cmd.Flags().BoolVar(&in.Empty, "empty", false, "end empty rooms instead")
	cmd.Flags().BoolVar(&in.DryRun, "dry-run", false, "only say what would be done")
	return cmd
}

func printPruned(w io.Writer, pruned c3po.RoomPruned) {
	did, ended := "evicted", "ended"
	if pruned.DryRun {
		did, ended = "would evict", "would end"
	}
	now := time.Now()
	for _, e := range pruned.Evicted {
		fmt.Fprintf(w, "%s %s from %s, seen %s\n", did, console.Inline(string(e.Agent)), console.Inline(string(e.Room)), console.Ago(now, e.LastSeen))
	}
	for _, name := range pruned.Ended {
		fmt.Fprintf(w, "%s %s\n", ended, console.Inline(string(name)))
	}
	if len(pruned.Evicted)+len(pruned.Ended) == 0 {
		fmt.Fprintln(w, "nothing to prune")
	}
	console.PrintNotice(w, pruned.Notice)
}
