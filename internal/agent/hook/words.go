package hook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// MaxNamedAgents is how many agents a greeting names.
	MaxNamedAgents = 8
	// maxSenders is how many a notice names: Claude Code shows 500 characters of a
	// line that wakes it, and ids can be long.
	maxSenders = 3
)

// What a person is told, once a session, of a coordinator that is away or that
// does not take our credentials. Nothing in it comes from what has answered.
const (
	Unreachable = "⚠️ c3po can't reach its coordinator: agents can't message each other for now.\n" +
		"Everything else works. Run /c3po:coordinate status to check the connection."
	NotLetIn = "⚠️ The c3po coordinator does not accept this machine's credentials: agents can't message each other.\n" +
		"Everything else works. Run /c3po:coordinate status to see why."
)

// ToolsDenied tells a person why mail starts no more turns in a session.
const ToolsDenied = "c3po: this session was told of mail and called none of c3po's tools. Mail starts no more turns here until you write.\n" +
	"If its tools are denied, allow mcp__plugin_c3po_c3po in /permissions, or run c3po off here."

// UserWrote wakes a session for what its user has written through c3po, which follows in the
// prompt itself.
const UserWrote = "c3po: your user has written to you through c3po."

// Numbered says that the session has another name than the one it asked for.
func (p Place) Numbered() bool { return p.Asked != "" && p.Asked.Name() != p.ID.Name() }

// whoWords is who the session is. The coordinator may have put its host before the
// id that it asked for.
func whoWords(p Place) string {
	if p.Numbered() {
		if p.Away {
			return fmt.Sprintf("c3po: you are %s. %s is another conversation of this folder, which does not run now.", p.ID, p.Asked)
		}
		return fmt.Sprintf("c3po: another session is %s; you are %s.", p.Asked, p.ID)
	}
	return fmt.Sprintf("c3po: you are %s.", p.ID)
}

func placeWords(p Place) string {
	text := whoWords(p)
	switch {
	case p.Unseen:
	case len(p.Online) == 0:
		text += " Nobody else is online."
	default:
		text += " Online: " + nameAgents(p.Online, p.More) + "."
	}
	return text + leftWords(p.Left)
}

// leftWords is mail of sessions beside this one that have ended.
func leftWords(left []c3po.LeftBehind) (text string) {
	for i, l := range left {
		if i == maxSenders {
			return text + fmt.Sprintf(" So it is for %d more; whoami names them.", len(left)-i)
		}
		text += fmt.Sprintf(" %s for %s, whose session has ended. get_messages(left_by=%q) shows %s.",
			plural(l.Unread, "message waits", "messages wait"), l.ID, string(l.ID), pronoun(l.Unread))
	}
	return text
}

// Invite adds to a decision that the session should wait for mail in the
// background.
func Invite(d Decision) Decision {
	if d.Context == "" {
		d.Context = "c3po:"
	}
	d.Context += " While you are idle mail reaches you only if " + Waiting + " runs in a background shell: start it now."
	return d
}

// AsksYou is what a person is told when their agent asks them something.
func AsksYou(id c3po.MessageID) string {
	return "c3po: your agent waits for your decision. Answer here in the session, on the dashboard, or in your terminal: c3po human answer " + string(id)
}

// Settled adds to a decision that the user has come to the session themselves.
func Settled(d Decision) Decision {
	if d.Context == "" {
		d.Context = "c3po:"
	}
	d.Context += " Your user has written here, so your open question to them is withdrawn. Ask again if you still need the answer."
	return d
}

// countWords is all mail that is not acked.
func countWords(mail []Letter) string {
	asks := 0
	for _, l := range mail {
		if l.ExpectsReply {
			asks++
		}
	}
	text := plural(len(mail), "message is", "messages are") + " not acked"
	if asks > 0 {
		text += fmt.Sprintf(", %d of them expecting an answer", asks)
		if len(mail) == 1 {
			text = "1 message is not acked and expects an answer"
		}
	}
	return text + ". get_messages shows " + pronoun(len(mail)) + "."
}

// postWords is what was said in rooms and not acked.
func postWords(posts int) string {
	return plural(posts, "room post is", "room posts are") + " unread. get_messages shows " + pronoun(posts) + "."
}

// newWords is mail the session has not heard of.
func newWords(mail []Letter) string {
	var asks, answers, others int
	var from []c3po.AgentID
	for _, l := range mail {
		switch {
		case l.Reply:
			answers++
		case l.ExpectsReply:
			asks++
		default:
			others++
		}
		if !slices.Contains(from, l.From) {
			from = append(from, l.From)
		}
	}
	var parts []string
	if asks > 0 {
		parts = append(parts, plural(asks, "new message", "new messages")+" expecting an answer")
	}
	if answers > 0 {
		parts = append(parts, plural(answers, "new answer", "new answers")+" to you")
	}
	if others > 0 {
		parts = append(parts, plural(others, "new message", "new messages"))
	}
	more := 0
	if len(from) > maxSenders {
		from, more = from[:maxSenders], len(from)-maxSenders
	}
	return strings.Join(parts, ", ") + " from " + nameAgents(from, more) + ". get_messages shows " + pronoun(len(mail)) + "."
}

func urgentWords(mail []Letter) string {
	return plural(len(mail), "urgent message", "urgent messages") + ". get_messages shows " + pronoun(len(mail)) + "."
}

// nameAgents lists agents, each in quotes: a name can read like a sentence of ours.
func nameAgents(ids []c3po.AgentID, more int) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = "'" + id.Brief() + "'"
	}
	text := strings.Join(names, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// NobodyDecided tells a model why a tool may not run in a session that nobody sits at.
const NobodyDecided = "Nobody sits at this session, and the user has not allowed this call in time. Go on without it."

// DeniedByPerson tells a model that the user did not allow a tool, and why if they said so.
func DeniedByPerson(words string) string {
	if words == c3po.Deny {
		return "The user denied this call."
	}
	return "The user denied this call and says: " + words
}
