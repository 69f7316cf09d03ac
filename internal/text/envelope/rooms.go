package envelope

import (
	"fmt"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// History shows what was said in a room. It offers no call to ack: who reads
// back has it as mail, or had.
func (r Renderer) History(tool string, list c3po.MessageList) string {
	var b strings.Builder
	if len(list.Messages) == 0 {
		return "c3po: nothing was said here.\n"
	}
	fmt.Fprintf(&b, "c3po: %s of a room, oldest first.\n", count(len(list.Messages), "post"))
	r.messages(&b, list.Messages, record)
	if list.Next != "" {
		fmt.Fprintf(&b, "\nc3po: further back: call %s again with cursor=%q.\n", tool, word(list.Next))
	}
	return b.String()
}

// Joined shows a room to its new member, with the end of its history that fits
// into so many bytes.
func (r Renderer) Joined(joined c3po.RoomJoined, most int) string {
	var b strings.Builder
	name := word(string(joined.Room.Room))
	switch {
	case joined.Made:
		fmt.Fprintf(&b, "c3po: you have made the room %s (%s) and are its only member.\n", name, word(string(joined.Visibility)))
	case joined.Already:
		fmt.Fprintf(&b, "c3po: you are in the room %s (%s, %s) already.\n", name, word(string(joined.Visibility)), count(joined.Members, "member"))
	default:
		fmt.Fprintf(&b, "c3po: you are in the room %s now (%s, %s).\n", name, word(string(joined.Visibility)), count(joined.Members, "member"))
	}
	fmt.Fprintf(&b, "c3po: posts there come with get_messages. To say something: room_post(room=%q, message=\"…\").\n", name)
	if joined.Notice != "" {
		fmt.Fprintf(&b, "c3po: %s.\n", joined.Notice)
	}
	shown := joined.Messages
	for len(shown) > 1 && Fit(shown, most) < len(shown) {
		shown = shown[1:]
	}
	if len(shown) == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, "c3po: the end of its history, %s, oldest first.\n", count(len(shown), "post"))
	r.messages(&b, shown, record)
	if joined.Next != "" || len(shown) < len(joined.Messages) {
		fmt.Fprintf(&b, "\nc3po: further back: room_history(room=%q).\n", name)
	}
	return b.String()
}
