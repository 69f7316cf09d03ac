package bridge

import (
	"maps"
	"slices"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

const (
	// restPeriod is how long a session is left alone whose turns would not end.
	restPeriod = 15 * time.Second
	// maxFormerSessions is how many sessions of one run are remembered: a person may go
	// back to one.
	maxFormerSessions = 16
	// maxUnconfirmedCalls is how many calls are remembered that their client has not
	// confirmed.
	maxUnconfirmedCalls = 256
)

// A session is what the bridge knows of its client's present session and of the
// mail of its agent. Its methods are called with the bridge's lock held.
type session struct {
	id     string
	memory hook.Memory
	former map[string]hook.Memory // of sessions before, by id

	mail    map[c3po.MessageID]hook.Letter // not acked
	seq     int64                          // mail is known up to here
	posts   int                            // of rooms, unread when last looked
	paused  pause
	arrived map[c3po.MessageID]bool // came while the session was busy

	activity hook.Activity
	is       c3po.SessionState // when state was last asked
	isSince  time.Time
	wokenAt  time.Time        // when a line was last sent to the monitors that no turn has followed
	waking   []c3po.MessageID // what it was for
	wakes    int              // times in a row that it was sent and no turn has followed
	noticed  time.Time        // when first
	turnFor  []c3po.MessageID // the mail that has started the turn, or made it go on
	failures int              // turns in a row that failed
	again    []c3po.MessageID // the mail that had started them

	uses   []use
	proved []c3po.MessageID // taken by the client, to be reported
	silent []c3po.MessageID // left unanswered, to be reported
	told   int64            // the session was told of mail up to here, to be reported
	hinted int64            // a hook has told it so, and the client has not shown yet that it took that

	monitors map[chan string]bool // those of a turn alone are true
	place    hook.Place
	prompts  int  // that it has had
	invited  bool // it was told to wait in the background
	warned   bool // the person knows that the coordinator is away
	alone    bool // it runs for its output, which mail must not change
	scripted bool // its prompts are no person's

	texts    map[c3po.MessageID]c3po.Message // mail that may come with a wake
	bringing []c3po.Message                  // was sent to the monitors
	frame    []string                        // the lines of ours around it
	brought  []c3po.Message                  // is in a prompt, with which the model is not known to have been asked

	owed  map[c3po.MessageID]bool // questions whose text was handed to it and that it has not answered
	asked map[c3po.MessageID]bool // its own questions, to which it may be waiting for an answer

	asking    c3po.MessageID          // a question to the person that they have not been shown
	unsettled map[c3po.MessageID]bool // questions since the person came to the session; nil if earlier ones are settled
}

// A use is one call of a tool as its client names it; or all calls of one tool
// that are under way at once, where a client has no names for them.
type use struct {
	id       string
	subagent string // the kind of subagent that made it
	messages []c3po.MessageID

	begun, ended, taken int
}

// begin makes id the present session.
func (s *session) begin(id string) {
	if s.mail == nil {
		s.mail, s.arrived = map[c3po.MessageID]hook.Letter{}, map[c3po.MessageID]bool{}
		s.former, s.monitors = map[string]hook.Memory{}, map[chan string]bool{}
		s.texts = map[c3po.MessageID]c3po.Message{}
		s.owed, s.asked = map[c3po.MessageID]bool{}, map[c3po.MessageID]bool{}
	}
	if id == s.id {
		return
	}
	if s.id != "" {
		if len(s.former) >= maxFormerSessions {
			clear(s.former)
		}
		s.former[s.id] = s.memory
	}
	s.id, s.memory = id, s.former[id]
	s.prompts, s.invited = 0, false
}

// turn begins one: whoever waited at the end of the last waits in vain.
func (s *session) turn() {
	for lines, ofTurn := range s.monitors {
		if ofTurn {
			delete(s.monitors, lines)
			close(lines)
		}
	}
	s.activity = s.activity.Works(time.Now())
}

// letters is the mail in the order it came.
func (s *session) letters() []hook.Letter {
	return slices.SortedFunc(maps.Values(s.mail), func(a, b hook.Letter) int { return int(a.Seq - b.Seq) })
}

// A view is unacked mail as it was found.
type view struct {
	mail   []hook.Letter
	texts  []c3po.Message // of the mail that may come with a wake
	seq    int64
	posts  int     // of rooms, unread
	paused *string // why the agent is paused, empty if it is not; nil from who did not say
}

// A pause is why the agent should not be disturbed; empty if it may be.
type pause struct {
	why string
	seq int64 // it was so at this sequence
}

// replace makes a view of everything what is known. What came after it was read
// is kept.
func (s *session) replace(seen view) {
	maps.DeleteFunc(s.mail, func(_ c3po.MessageID, l hook.Letter) bool { return l.Seq <= seen.seq })
	for _, l := range seen.mail {
		s.mail[l.ID] = l
		delete(s.asked, l.About)
	}
	s.keep(seen.texts)
	maps.DeleteFunc(s.texts, func(id c3po.MessageID, _ c3po.Message) bool { _, here := s.mail[id]; return !here })
	s.seq, s.posts = max(s.seq, seen.seq), seen.posts
	s.memory = s.memory.Keep(s.letters()).Posts(seen.posts)
	s.heed(seen)
}

// heed takes in whether the agent is paused, unless that is known from later. For
// who is not paused any longer all that came meanwhile has arrived.
func (s *session) heed(seen view) {
	if seen.paused == nil || seen.seq < s.paused.seq {
		return
	}
	if s.paused.why != "" && *seen.paused == "" {
		for id := range s.mail {
			s.arrived[id] = true
		}
	}
	s.paused = pause{*seen.paused, seen.seq}
}

// audible is the mail that may make the session act.
func (s *session) audible() []hook.Letter { return hook.Audible(s.tellable(), s.paused.why) }

// tellable is the mail a hook may speak of: none to a session that is left alone.
func (s *session) tellable() []hook.Letter {
	if s.alone {
		return nil
	}
	return s.letters()
}

// unread is how many posts of rooms a hook may speak of.
func (s *session) unread() int {
	if s.alone {
		return 0
	}
	return s.posts
}

// heard is how far the session knows of its mail, if it takes what it was told.
func (s *session) heard() int64 {
	return hook.Heard(s.memory.Notified(), s.letters(), s.paused.why)
}

// tookNotice says that the client has shown that it took the last notice, to be reported.
func (s *session) tookNotice() {
	s.told, s.hinted = max(s.told, s.hinted), 0
	s.tookMail()
}

// rearm makes mail that the session was told of, and has not read, news again: what
// it was told led to nothing. It says whether there is any.
func (s *session) rearm(ids []c3po.MessageID) (some bool) {
	for _, id := range ids {
		if _, here := s.mail[id]; here && !s.memory.HasRead(id) {
			s.arrived[id], some = true, true
		}
	}
	s.memory = s.memory.Untold(ids...)
	return some
}

// calling is the mail that has just kept the turn from ending.
func (s *session) calling() []c3po.MessageID {
	var ids []c3po.MessageID
	for id := range s.mail {
		if s.memory.Blocked(id) && !s.memory.HasRead(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// ids is all mail.
func (s *session) ids() []c3po.MessageID { return slices.Collect(maps.Keys(s.mail)) }

// missed marks what has come since mail was last known as arrived.
func (s *session) missed(mail []hook.Letter) {
	for _, l := range mail {
		if _, known := s.mail[l.ID]; !known && l.Seq > s.seq {
			s.arrived[l.ID] = true
		}
	}
}

// add takes in what has arrived.
func (s *session) add(seen view) {
	for _, l := range seen.mail {
		if _, known := s.mail[l.ID]; !known {
			s.mail[l.ID] = l
			s.arrived[l.ID] = true
		}
		delete(s.asked, l.About)
	}
	s.keep(seen.texts)
	s.seq, s.posts = max(s.seq, seen.seq), seen.posts
	s.heed(seen)
}

// drop forgets mail that has ended.
func (s *session) drop(ids []c3po.MessageID) {
	for _, id := range ids {
		delete(s.mail, id)
		delete(s.arrived, id)
		delete(s.texts, id)
	}
}

// state is what the session does. When that changes is noted: observe looks often.
func (s *session) state(off bool, now time.Time) c3po.SessionState {
	is := s.activity.Noticed(s.noticed).State(hook.Switch{Off: off, Alone: s.alone, Armed: len(s.monitors) > 0}, now)
	if is != s.is {
		s.is, s.isSince = is, now
	}
	return is
}

// stateSince is when the session was first seen in its state.
func (s *session) stateSince() *time.Time {
	if s.isSince.IsZero() {
		return nil
	}
	since := s.isSince.UTC()
	return &since
}

// rest is the end of a turn. What came during it is told at the next one, which
// is soon if there is mail that could not wait.
func (s *session) rest(later []c3po.MessageID) {
	alone := time.Duration(0)
	clear(s.arrived)
	for _, id := range later {
		s.arrived[id] = true
		alone = restPeriod
	}
	// The model can be asked again: what failed turns were for is told, if this one was not.
	for _, id := range s.again {
		if _, here := s.mail[id]; here && !s.memory.HasRead(id) && !s.memory.Blocked(id) {
			s.arrived[id] = true
		}
	}
	s.again = nil
	s.activity = s.activity.Rests(time.Now(), alone)
}

// left says that the turn has ended well.
func (s *session) left() { s.turnFor, s.failures = nil, 0 }

// useOf finds a call by the name its client gave it, and makes one if it is new.
func (s *session) useOf(id string) *use {
	for i := range s.uses {
		if s.uses[i].id == id {
			return &s.uses[i]
		}
	}
	if len(s.uses) >= maxUnconfirmedCalls {
		s.uses = slices.Delete(s.uses, 0, 1)
	}
	s.uses = append(s.uses, use{id: id})
	return &s.uses[len(s.uses)-1]
}

// took is the client's word that it has the result of a call. Of several of one
// name nothing is proved before it has them all.
func (s *session) took(id string) {
	i := slices.IndexFunc(s.uses, func(u use) bool { return u.id == id })
	if i < 0 {
		return
	}
	u := &s.uses[i]
	if u.taken++; u.taken < u.begun {
		return
	}
	if u.ended == u.begun {
		s.proved = append(s.proved, u.messages...)
	}
	s.forget(id)
}

// forget drops a call whose result the client has, or will never have.
func (s *session) forget(id string) {
	s.uses = slices.DeleteFunc(s.uses, func(u use) bool { return u.id == id })
}
