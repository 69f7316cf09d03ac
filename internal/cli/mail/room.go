package mail

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
)

func Room(a *console.Console) *cobra.Command {
	return console.Family(&cobra.Command{
		Use:   "room",
		Short: "Talk in rooms",
		Long: `Talk in rooms. A post is stored once, and each member reads it
with c3po inbox when it looks; nobody has to answer. A member that is named with @
gets it as mail too, and one that joined with --notify all is woken by every post.`,
		Example: `  c3po room join build
  c3po room post build "@api the tests are red"
  c3po room history build`,
	}, roomJoin(a), roomLeave(a), roomEnd(a), roomPost(a), roomHistory(a), roomList(a), roomInvite(a), roomSet(a), roomPrune(a))
}

func roomJoin(a *console.Console) *cobra.Command {
	var inviteOnly bool
	var notify string
	cmd := &cobra.Command{
		Use:   "join ROOM",
		Short: "Join a room, making it if there is none",
		Long: `Join a room, making it if there is none, and show the last that was said there.
Joining again changes only what wakes you, if --notify is given.`,
		Example: `  c3po room join build
  c3po room join build --notify all
  c3po room join secret --invite-only`,
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.Acting()
			if err != nil {
				return err
			}
			var in c3po.RoomJoinInput
			if in.Room, err = console.RoomName(args[0]); err != nil {
				return err
			}
			in.Notify = c3po.Notify(notify)
			if inviteOnly {
				in.Visibility = c3po.InviteOnly
			}
			joined, err := svc.RoomJoin(cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.Show(joined, func(w io.Writer) {
				console.PrintMessages(w, joined.Messages)
				did := "is now in"
				switch {
				case joined.Made:
					did = "has made"
				case joined.Already:
					did = "was already in"
				}
				fmt.Fprintf(w, "%s %s %s (%s, %s%s)\n", console.Inline(string(svc.ID())), did, console.Inline(string(joined.Room.Room)),
					console.Inline(string(joined.Visibility)), console.CountOf(joined.Members, "member"), wakes(joined.Notify))
				console.PrintNotice(w, joined.Notice)
			})
		},
	}
	cmd.Flags().BoolVar(&inviteOnly, "invite-only", false, "if the room is made: only for those a member invites")
	cmd.Flags().StringVar(&notify, "notify", "", "what of it wakes you: all posts, mentions of you, or none; mentions if left out")
	return cmd
}

// wakes says what of a room wakes its member, unless that is the usual.
func wakes(n c3po.Notify) string {
	switch n {
	case c3po.NotifyAll:
		return ", every post wakes it"
	case c3po.NotifyNone:
		return ", nothing wakes it"
	}
	return ""
}

func roomLeave(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "leave ROOM",
		Short:   "Leave a room",
		Long:    "Leave a room. The room and its history stay, even without members.",
		Example: `  c3po room leave build`,
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.Acting()
			if err != nil {
				return err
			}
			name, err := console.RoomName(args[0])
			if err != nil {
				return err
			}
			left, err := svc.RoomLeave(cmd.Context(), c3po.RoomInput{Room: name})
			if err != nil {
				return err
			}
			return a.Show(left, func(w io.Writer) {
				switch {
				case left.Empty:
					fmt.Fprintf(w, "left %s, which has no members now; it stays until it is ended\n", console.Inline(string(name)))
				case left.Left:
					fmt.Fprintf(w, "left %s\n", console.Inline(string(name)))
				default:
					fmt.Fprintf(w, "%s was not in %s\n", console.Inline(string(svc.ID())), console.Inline(string(name)))
				}
			})
		},
	}
}

func roomPost(a *console.Console) *cobra.Command {
	var in c3po.RoomPostInput
	cmd := &cobra.Command{
		Use:   "post ROOM [MESSAGE]",
		Short: "Say something in a room",
		Long: `Say something in a room. Without MESSAGE, or with -, the text is read from stdin.
A member that is named with @ gets it as mail too.`,
		Example: `  c3po room post build "@api the tests are red"`,
		RunE: console.Operation(a, a.Acting, c3po.Service.RoomPost, func(args []string) (_ c3po.RoomPostInput, err error) {
			if in.Room, err = console.RoomName(args[0]); err == nil {
				in.Message, err = a.Body(args[1:])
			}
			return in, err
		}, func(w io.Writer, receipt c3po.PostReceipt) {
			fmt.Fprintf(w, "said %s, %s; %s\n", console.Inline(string(receipt.ID)), console.Worth(receipt.Durability), console.CountOf(receipt.Members, "member"))
			for _, id := range receipt.Mailed {
				fmt.Fprintf(w, "%s has it as mail\n", console.Inline(string(id)))
			}
			printWarning(w, receipt.Warning)
			console.PrintNotice(w, receipt.Notice)
		}),
	}
	cmd.Flags().StringVar(&in.Context, "context", "", "background the others need")
	cmd.Flags().StringVar(&in.ContentType, "content-type", "", "type of the text, for example application/json")
	cmd.Flags().StringVar(&in.ClientKey, "key", "", "the same key never posts twice; a random one if left out")
	return cmd
}

func roomHistory(a *console.Console) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:     "history ROOM",
		Short:   "Show what was said in a room",
		Example: `  c3po room history build --limit 200`,
		RunE: func(cmd *cobra.Command, args []string) error {
			svc, err := a.LookingAtOwn()
			if err != nil {
				return err
			}
			name, err := console.RoomName(args[0])
			if err != nil {
				return err
			}
			posts, more, err := console.Pages(limit, func(cursor string, most int) ([]c3po.Message, string, error) {
				page, err := svc.RoomHistory(cmd.Context(), c3po.RoomHistoryInput{Room: name, Cursor: cursor, Limit: most})
				// Pages go back in time, so the latest comes first until all are there.
				slices.Reverse(page.Messages)
				return page.Messages, page.Next, err
			})
			if err != nil {
				return err
			}
			slices.Reverse(posts)
			defer a.More(more, "posts")
			return a.Show(posts, func(w io.Writer) {
				console.PrintMessages(w, posts)
				if len(posts) == 0 {
					fmt.Fprintf(w, "nothing was said in %s\n", console.Inline(string(name)))
				}
			})
		},
	}
	console.LimitFlag(cmd, &limit, 50)
	return cmd
}

func roomList(a *console.Console) *cobra.Command {
	var in c3po.RoomListInput
	var limit int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the rooms you are in, or all of them",
		Example: `  c3po room list --all`,
		RunE: console.List(a, a.LookingAtOwn, &limit, "rooms", func(ctx context.Context, svc *client.Client, _ []string, cursor string, most int) ([]c3po.Room, string, error) {
			in.Cursor, in.Limit = cursor, most
			page, err := svc.RoomList(ctx, in)
			return page.Rooms, page.Next, err
		}, printRooms),
	}
	cmd.Flags().BoolVar(&in.All, "all", false, "also those you are not in")
	console.LimitFlag(cmd, &limit, 100)
	return cmd
}

func printRooms(w io.Writer, rooms []c3po.Room) {
	if len(rooms) == 0 {
		fmt.Fprintln(w, "no rooms; `c3po room join NAME` makes one")
		return
	}
	console.Table(w, func(row func(...string)) {
		row("ROOM", "MEMBERS", "POSTS", "UNREAD", "NOTIFY", "VISIBLE", "MADE BY")
		for _, r := range rooms {
			unread, notify := "-", "-"
			if r.Joined {
				unread, notify = strconv.Itoa(r.Unread), cmp.Or(console.Inline(string(r.Notify)), "-")
			}
			row(console.Inline(string(r.Room)), strconv.Itoa(r.Members), strconv.Itoa(r.Posts), unread, notify, console.Inline(string(r.Visibility)), console.Inline(string(r.Creator)))
		}
	})
}

func roomInvite(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "invite ROOM AGENT",
		Short:   "Let an agent into a room you are in",
		Example: `  c3po room invite secret api`,
		Args:    console.NameInArgument(console.Arguments(2, 2, "ROOM AGENT"), 1, console.AgentName),
		RunE: console.Operation(a, a.Acting, c3po.Service.RoomInvite, func(args []string) (c3po.RoomInviteInput, error) {
			name, err := console.RoomName(args[0])
			return c3po.RoomInviteInput{Room: name, Agent: args[1]}, err
		}, func(w io.Writer, invited c3po.RoomInvited) {
			did := "is invited to"
			switch {
			case invited.Member:
				did = "is already in"
			case invited.Already:
				did = "was invited before to"
			}
			fmt.Fprintf(w, "%s %s %s\n", console.Inline(string(invited.Agent)), did, console.Inline(string(invited.Room)))
			console.PrintNotice(w, invited.Notice)
		}),
	}
}

func roomSet(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "set ROOM public|invite_only",
		Short:   "Say who sees a room you have made",
		Example: `  c3po room set build invite_only`,
		RunE: console.Operation(a, a.ActingOrPerson, c3po.Service.RoomSet, func(args []string) (c3po.RoomSetInput, error) {
			name, err := console.RoomName(args[0])
			return c3po.RoomSetInput{Room: name, Visibility: c3po.Visibility(strings.ReplaceAll(args[1], "-", "_"))}, err
		}, func(w io.Writer, room c3po.Room) {
			fmt.Fprintf(w, "%s is %s\n", console.Inline(string(room.Room)), console.Inline(string(room.Visibility)))
		}),
	}
}
