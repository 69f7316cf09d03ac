package session

import (
	"maps"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/resident"
)

const (
	// restPeriod is how long a session is left alone whose turns would not end.
	restPeriod = 15 * time.Second
	// armTimeout is how long after its begin a session's monitor may still be starting.
	armTimeout = 30 * time.Second
	// maxFormerSessions is how many sessions of one run are remembered: a person may go
	// back to one.
	maxFormerSessions = 16
	// maxUnconfirmedCalls is how many calls are remembered that their client has not
	// confirmed.
	maxUnconfirmedCalls = 256
)

// A conversation is what the process knows of its client's present session and of the
// mail of its agent. Its methods are called with the Server's lock held.
type conversation struct {
	id     string
	memory hook.Memory
	former map[string]hook.Memory // of sessions before, by id

	mail       map[c3po.MessageID]hook.Letter // not acked
	seq        int64                          // mail is known up to here
	posts      int                            // of rooms, unread when last looked
	paused     pause
	arrived    map[c3po.MessageID]bool     // the session was not told of it yet
	reminders  map[c3po.MessageID]reminder // mail that turns left unread
	called     bool                        // a call of one of our tools has come
	toolless   bool                        // it was told of mail and has no tools to read it with
	began      time.Time                   // when its present session did
	armsItself bool                        // its client starts a monitor

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
	kept     Kept // what it takes to resume it

	texts    map[c3po.MessageID]c3po.Message // mail that may come with a wake
	bringing []c3po.Message                  // was sent to the monitors
	frame    []string                        // the lines that c3po puts around it
	saying   []c3po.Message                  // goes into the prompt that has begun, as the user's
	brought  []c3po.Message                  // is in a prompt, with which the model is not known to have been asked

	meter meter
	quota quota
	stall stall

	refusals int // of its model in a row, that its client waits out

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
func (c *conversation) begin(id string) {
	if c.mail == nil {
		c.mail, c.arrived = map[c3po.MessageID]hook.Letter{}, map[c3po.MessageID]bool{}
		c.former, c.monitors = map[string]hook.Memory{}, map[chan string]bool{}
		c.texts, c.reminders = map[c3po.MessageID]c3po.Message{}, map[c3po.MessageID]reminder{}
		c.owed, c.asked = map[c3po.MessageID]bool{}, map[c3po.MessageID]bool{}
	}
	if id == c.id {
		return
	}
	if c.id != "" {
		if len(c.former) >= maxFormerSessions {
			clear(c.former)
		}
		c.former[c.id] = c.memory
	}
	c.id, c.memory = id, c.former[id]
	c.prompts, c.invited, c.kept = 0, false, Kept{ID: id}
	c.began = time.Now()
}

// turn begins one: a hook that still waits at the end of the last waits in vain.
func (c *conversation) turn() {
	for lines, ofTurn := range c.monitors {
		if ofTurn {
			delete(c.monitors, lines)
			close(lines)
		}
	}
	c.activity = c.activity.Begins(time.Now())
}

// letters is the mail in the order it came.
func (c *conversation) letters() []hook.Letter { return resident.Letters(c.mail) }

// A pause is why the agent should not be disturbed; empty if it may be.
type pause struct {
	why string
	seq int64 // it was so at this sequence
}

// replace makes a view of everything what is known. What came after it was read
// is kept.
func (c *conversation) replace(seen resident.View) {
	maps.DeleteFunc(c.mail, func(_ c3po.MessageID, l hook.Letter) bool { return l.Seq <= seen.Seq })
	for _, l := range seen.Mail {
		c.mail[l.ID] = l
		delete(c.asked, l.About)
	}
	c.keep(seen.Texts)
	maps.DeleteFunc(c.texts, func(id c3po.MessageID, _ c3po.Message) bool { _, here := c.mail[id]; return !here })
	c.seq, c.posts = max(c.seq, seen.Seq), seen.Posts
	c.memory = c.memory.Keep(c.letters()).Posts(seen.Posts)
	c.updatePause(seen)
}

// updatePause takes in whether the agent is paused, unless that is known from later. For
// an agent that was resumed, all that came during the pause has arrived.
func (c *conversation) updatePause(seen resident.View) {
	if seen.Paused == nil || seen.Seq < c.paused.seq {
		return
	}
	if c.paused.why != "" && *seen.Paused == "" {
		for id := range c.mail {
			c.arrived[id] = true
		}
	}
	c.paused = pause{*seen.Paused, seen.Seq}
}

// audible is the mail that may make the session act.
func (c *conversation) audible() []hook.Letter { return hook.Audible(c.tellable(), c.paused.why) }

// tellable is the mail a hook may speak of: none to a session that is left alone.
func (c *conversation) tellable() []hook.Letter {
	if c.alone {
		return nil
	}
	return c.letters()
}

// unread is how many posts of rooms a hook may speak of.
func (c *conversation) unread() int {
	if c.alone {
		return 0
	}
	return c.posts
}

// knownUpTo is how far the session knows of its mail, if it takes what it was told.
func (c *conversation) knownUpTo() int64 {
	return hook.KnownUpTo(c.memory.Notified(), c.letters(), c.paused.why)
}

// tookNotice says that the client has shown that it took the last notice, to be reported.
func (c *conversation) tookNotice() {
	c.told, c.hinted = max(c.told, c.hinted), 0
	c.tookMail()
}

// rearm makes mail that the session was told of, and has not read, news again: what
// it was told led to nothing. It says whether there is any.
func (c *conversation) rearm(ids []c3po.MessageID) (some bool) {
	for _, id := range ids {
		if _, here := c.mail[id]; here && !c.memory.HasRead(id) {
			c.arrived[id], some = true, true
		}
	}
	c.memory = c.memory.Untold(ids...)
	return some
}

// calling is the mail that has just kept the turn from ending.
func (c *conversation) calling() []c3po.MessageID {
	var ids []c3po.MessageID
	for id := range c.mail {
		if c.memory.Blocked(id) && !c.memory.HasRead(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// ids is all mail.
func (c *conversation) ids() []c3po.MessageID { return slices.Collect(maps.Keys(c.mail)) }

// markArrived marks what has come since mail was last known as arrived.
func (c *conversation) markArrived(mail []hook.Letter) {
	for _, l := range mail {
		if _, known := c.mail[l.ID]; !known && l.Seq > c.seq {
			c.arrived[l.ID] = true
		}
	}
}

// add takes in what has arrived.
func (c *conversation) add(seen resident.View) {
	for _, l := range seen.Mail {
		if _, known := c.mail[l.ID]; !known {
			c.mail[l.ID] = l
			c.arrived[l.ID] = true
		}
		delete(c.asked, l.About)
	}
	c.keep(seen.Texts)
	c.seq, c.posts = max(c.seq, seen.Seq), seen.Posts
	c.updatePause(seen)
}

// drop forgets mail that has ended.
func (c *conversation) drop(ids []c3po.MessageID) {
	for _, id := range ids {
		delete(c.mail, id)
		delete(c.arrived, id)
		delete(c.texts, id)
	}
}

// state is what the session does. When that changes is noted: observe looks often.
func (c *conversation) state(off bool, now time.Time) c3po.SessionState {
	is := c.activity.Noticed(c.noticed).State(hook.Switch{Off: off, Alone: c.alone, Armed: len(c.monitors) > 0 && !c.toolless, Early: c.armsItself && now.Sub(c.began) < armTimeout}, now)
	if !slices.Contains(is.Alike(), c.is) {
		c.isSince = now
	}
	c.is = is
	return is
}

// stateSince is when the session was first seen in its state.
func (c *conversation) stateSince() *time.Time {
	if c.isSince.IsZero() {
		return nil
	}
	since := c.isSince.UTC()
	return &since
}

// endTurn ends a turn. Mail that came during it is told next; mail in later has kept too many
// turns from ending, so the session rests first.
func (c *conversation) endTurn(later []c3po.MessageID) {
	alone := time.Duration(0)
	for _, id := range later {
		c.arrived[id] = true
		alone = restPeriod
	}
	// The model can be asked again: what failed turns were for is told, if this one was not.
	for _, id := range c.again {
		if _, here := c.mail[id]; here && !c.memory.HasRead(id) && !c.memory.Blocked(id) {
			c.arrived[id] = true
		}
	}
	c.again = nil
	c.remembers(time.Now())
	c.activity = c.activity.Rests(time.Now(), alone)
}

// clearTurn says that the turn has ended well.
func (c *conversation) clearTurn() { c.turnFor, c.failures = nil, 0 }

// useOf finds a call by the name its client gave it, and makes one if it is new.
func (c *conversation) useOf(id string) *use {
	for i := range c.uses {
		if c.uses[i].id == id {
			return &c.uses[i]
		}
	}
	if len(c.uses) >= maxUnconfirmedCalls {
		c.uses = slices.Delete(c.uses, 0, 1)
	}
	c.uses = append(c.uses, use{id: id})
	return &c.uses[len(c.uses)-1]
}

// took is the client's word that it has the result of a call. Of several of one
// name nothing is proved before it has them all.
func (c *conversation) took(id string) {
	i := slices.IndexFunc(c.uses, func(u use) bool { return u.id == id })
	if i < 0 {
		return
	}
	u := &c.uses[i]
	if u.taken++; u.taken < u.begun {
		return
	}
	if u.ended == u.begun {
		c.proved = append(c.proved, u.messages...)
	}
	c.forget(id)
}

// forget drops a call whose result the client has, or will never have.
func (c *conversation) forget(id string) {
	c.uses = slices.DeleteFunc(c.uses, func(u use) bool { return u.id == id })
}
