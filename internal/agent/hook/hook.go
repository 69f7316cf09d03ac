// Package hook decides what a session of a coding agent is told about its mail,
// and when. The decisions are functions of what is known: they do no I/O, read
// no clock, and are the same for every client.
//
// What they say is made of constant words, counts and ids that were validated; the
// text of others is put behind it elsewhere, in its envelope. Without mail nothing
// is said that could be taken for a proposal to contact anybody.
package hook

import (
	"maps"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Letter is what a hook may know of one unacked message: everything but its text.
type Letter struct {
	ID           c3po.MessageID
	From         c3po.AgentID
	Seq          int64
	Urgent       bool
	ExpectsReply bool
	Reply        bool           // answers a message of this agent's own
	About        c3po.MessageID // the message it answers, or tells of
}

// LetterOf leaves the text of a message out.
func LetterOf(m c3po.Message) Letter {
	return Letter{
		ID: m.ID, From: m.FromAgent, Seq: m.Seq, Urgent: m.Priority == c3po.Urgent,
		ExpectsReply: m.ExpectsReply, Reply: m.Kind == c3po.KindReply && !m.Quiet, About: m.MessageID,
	}
}

// calls says that the letter alone is worth a turn of the model.
func (l Letter) calls() bool { return l.ExpectsReply || l.Reply }

// Memory is what one session has been told. The zero value is a new session.
// Decisions return a new one and leave the one they were given alone.
type Memory struct {
	read     map[c3po.MessageID]bool // its text was handed to the session
	blocked  map[c3po.MessageID]bool // it has kept a turn from ending
	hurried  map[c3po.MessageID]bool // told in the middle of a turn
	woken    map[c3po.MessageID]bool // told while idle
	counted  int64                   // all mail up to here was counted to the session
	reminded int                     // how often the same count was said again
	saidAt   time.Time               // when a count was said last
	chain    int                     // turns that were made to go on, one after the other
	greeted  bool                    // the session knows who it is
	posts    int                     // so many unread posts of rooms were counted to the session
}

// Greeted says that the session was told who it is.
func (m Memory) Greeted() bool { return m.greeted }

// Ungreeted is a session that must be told who it is, again or for the first time.
func (m Memory) Ungreeted() Memory {
	m.greeted = false
	return m
}

// Notified is the sequence up to which the session was told of mail.
func (m Memory) Notified() int64 { return m.counted }

// Read says that the text of these messages was handed to the session.
func (m Memory) Read(ids ...c3po.MessageID) Memory {
	m.read = with(m.read, ids)
	return m
}

// HasRead says that the text of a message was handed to the session.
func (m Memory) HasRead(id c3po.MessageID) bool { return m.read[id] }

// Unread takes back that the text of these messages was handed to the session: its turn
// failed before it could deal with them.
func (m Memory) Unread(ids ...c3po.MessageID) Memory {
	m.read = maps.Clone(m.read)
	for _, id := range ids {
		delete(m.read, id)
	}
	return m
}

// Blocked says that a message has kept a turn from ending.
func (m Memory) Blocked(id c3po.MessageID) bool { return m.blocked[id] }

// Untold takes back that the session was told of these messages, because what it
// was told led to nothing: its turn failed, or the coordinator was away.
func (m Memory) Untold(ids ...c3po.MessageID) Memory {
	m = m.Unwoken(ids...)
	m.blocked = maps.Clone(m.blocked)
	for _, id := range ids {
		delete(m.blocked, id)
	}
	return m
}

// Posts says how many posts of rooms are unread, so that those that come in the
// place of others that were read are new to the session.
func (m Memory) Posts(unread int) Memory {
	m.posts = min(m.posts, unread)
	return m
}

// Unwoken takes back that the session was told of these messages while idle: its
// client did not pass it on.
func (m Memory) Unwoken(ids ...c3po.MessageID) Memory {
	m.woken = maps.Clone(m.woken)
	for _, id := range ids {
		delete(m.woken, id)
	}
	return m
}

// Forget is a session that has lost its context, to a compaction or because it
// was resumed: it does not know any more what it has read. What has once kept it
// from ending does not do so again.
func (m Memory) Forget() Memory { return Memory{blocked: m.blocked} }

// Keep drops what is known of messages that are gone, so that a long session
// does not remember for ever.
func (m Memory) Keep(mail []Letter) Memory {
	if len(m.read)+len(m.blocked)+len(m.hurried)+len(m.woken) == 0 {
		return m
	}
	here := map[c3po.MessageID]bool{}
	for _, l := range mail {
		here[l.ID] = true
	}
	for _, known := range []*map[c3po.MessageID]bool{&m.read, &m.blocked, &m.hurried, &m.woken} {
		kept := maps.Clone(*known)
		maps.DeleteFunc(kept, func(id c3po.MessageID, _ bool) bool { return !here[id] })
		*known = kept
	}
	return m
}

func with(known map[c3po.MessageID]bool, ids []c3po.MessageID) map[c3po.MessageID]bool {
	grown := make(map[c3po.MessageID]bool, len(known)+len(ids))
	maps.Copy(grown, known)
	for _, id := range ids {
		grown[id] = true
	}
	return grown
}

// tell remembers that all of this mail was counted to the session.
func (m Memory) tell(mail []Letter, now time.Time) Memory {
	for _, l := range mail {
		m.counted = max(m.counted, l.Seq)
	}
	m.saidAt, m.reminded = now, 0
	return m
}

// knows reports whether the session has the text of a letter, or was told of that letter.
func (m Memory) knows(l Letter) bool {
	return m.read[l.ID] || m.blocked[l.ID] || m.hurried[l.ID] || m.woken[l.ID]
}

// ToldOf reports whether the session was told of a letter in any way and has not read it.
func (m Memory) ToldOf(l Letter) bool { return !m.read[l.ID] && (m.knows(l) || l.Seq <= m.counted) }

// tellSome remembers that some of the mail was told, up to the first letter that was not.
func (m Memory) tellSome(mail, some []Letter, now time.Time) Memory {
	counted := m.tell(some, now)
	for _, l := range mail {
		if l.Seq > m.counted && l.Seq <= counted.counted && !m.knows(l) {
			counted.counted = l.Seq - 1
		}
	}
	m.counted, m.saidAt, m.reminded = max(m.counted, counted.counted), counted.saidAt, counted.reminded
	return m
}

// A Decision is what a hook answers. The zero value lets things take their course.
type Decision struct {
	Context string // for the model; at the end of a turn it makes the turn go on
	Person  string // for the person, never for the model
	// News is the mail that Context tells of, when it wakes a session.
	News []c3po.MessageID
	// Counted says that Context counts all mail.
	Counted bool
	// Later is mail that a session should be woken for once it has rested.
	Later []c3po.MessageID
}
