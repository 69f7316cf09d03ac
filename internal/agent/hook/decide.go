package hook

import (
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// maxChainedTurns is how many turns in a row are made to go on. Clients count for
// themselves, but start anew whenever the model has used a tool.
const maxChainedTurns = 5

// pauses are how long mail that was counted and not dealt with is passed over
// before it is counted again; after the last it is not.
var pauses = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}

// A Place is where a session finds itself when it starts.
type Place struct {
	ID     c3po.AgentID
	Asked  c3po.AgentID   // the id it asked for
	Away   bool           // nobody is there who has that id
	Online []c3po.AgentID // others
	More   int            // how many are online besides those
	Unseen bool           // nobody could say who is online
	Left   []c3po.LeftBehind
}

// Start greets a session: who it is, who is there, and what mail and posts of
// rooms wait that it does not know of.
func Start(m Memory, place Place, mail []Letter, posts int, now time.Time) (Decision, Memory) {
	m.greeted = true
	text := placeWords(place)
	if newest(mail) > m.counted {
		text += " " + countWords(mail)
		m = m.tell(mail, now)
	}
	if posts > m.posts {
		text += " " + postWords(posts)
	}
	m.posts = posts
	return Decision{Context: text, Counted: len(mail) > 0}, m
}

// Alone greets a session that runs for its output: who it is, and nothing else.
func Alone(m Memory, place Place) (Decision, Memory) {
	m.greeted = true
	return Decision{Context: whoWords(place)}, m
}

// Prompt is the begin of a turn: mail is counted when there is some the session
// was not told of, and again at growing pauses while it is not dealt with. Posts
// of rooms are counted when there are more than it knows of, and beside mail.
func Prompt(m Memory, mail []Letter, posts int, now time.Time) (Decision, Memory) {
	m.chain = 0
	more := posts > m.posts
	m.posts = posts
	var said []string
	switch {
	case len(mail) == 0:
	case newest(mail) > m.counted:
		said, m = append(said, countWords(mail)), m.tell(mail, now)
	case m.reminded < len(pauses) && now.Sub(m.saidAt) >= pauses[m.reminded]:
		said = append(said, countWords(mail))
		m.reminded++
		m.saidAt = now
	}
	counted := len(said) > 0
	if more || posts > 0 && counted {
		said = append(said, postWords(posts))
	}
	if len(said) == 0 {
		return Decision{}, m
	}
	return Decision{Context: "c3po: " + strings.Join(said, " "), Counted: counted}, m
}

// Step tells of questions, answers and urgent mail in the middle of a turn, once. Other
// mail waits for the end of the turn.
func Step(m Memory, mail []Letter, now time.Time) (Decision, Memory) {
	var fresh, urgent []Letter
	for _, l := range mail {
		if !l.calls() && !l.Urgent || m.knows(l) {
			continue
		}
		fresh = append(fresh, l)
		if l.Urgent {
			urgent = append(urgent, l)
		}
	}
	if len(fresh) == 0 {
		return Decision{}, m
	}
	words := newWords(fresh)
	if len(urgent) == len(fresh) {
		words = urgentWords(urgent)
	}
	m.hurried = with(m.hurried, ids(fresh))
	return Decision{Context: "c3po: " + words}, m.tellSome(mail, fresh, now)
}

// Stop keeps a turn from ending for mail that the session has not read and that expects
// an answer, or is one. Each message does this once in the life of a session, and a chain
// of such turns ends by itself: what has come by then is for later. again reports whether
// this turn is one that was kept from ending.
func Stop(m Memory, mail []Letter, again bool, now time.Time) (Decision, Memory) {
	if !again {
		m.chain = 0
	}
	var calling, told []Letter
	for _, l := range mail {
		switch {
		case l.calls() && !m.read[l.ID] && !m.blocked[l.ID]:
			calling = append(calling, l)
			told = append(told, l)
		case !m.knows(l) && l.Seq > m.counted:
			told = append(told, l)
		}
	}
	if len(calling) == 0 {
		return Decision{}, m
	}
	if m.chain >= maxChainedTurns {
		return Decision{Later: ids(calling)}, m
	}
	m.chain++
	m.blocked = with(m.blocked, ids(told))
	return Decision{Context: "c3po: " + newWords(told)}, m.tell(told, now)
}

// Wake is mail that arrives at an idle session: the line that starts a turn, or
// nothing if the session knows of all of it.
func Wake(m Memory, arrived []Letter, now time.Time) (Decision, Memory) {
	var fresh []Letter
	for _, l := range arrived {
		if !m.read[l.ID] && !m.blocked[l.ID] && !m.woken[l.ID] {
			fresh = append(fresh, l)
		}
	}
	if len(fresh) == 0 {
		return Decision{}, m
	}
	m.woken = with(m.woken, ids(fresh))
	return Decision{Context: "c3po: " + newWords(fresh), News: ids(fresh)}, m.tell(fresh, now)
}

func ids(mail []Letter) []c3po.MessageID {
	all := make([]c3po.MessageID, len(mail))
	for i, l := range mail {
		all[i] = l.ID
	}
	return all
}

func newest(mail []Letter) int64 {
	var seq int64
	for _, l := range mail {
		seq = max(seq, l.Seq)
	}
	return seq
}
