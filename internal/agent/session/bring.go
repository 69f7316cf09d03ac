package session

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/text/envelope"
)

const (
	// maxBroughtCharacters is how many characters of mail wake a session by themselves. What is
	// longer is read with a call.
	maxBroughtCharacters = 600
	// maxLineBytes is how long a line to a monitor may be: Claude Code cuts it at about 500.
	maxLineBytes = 450
)

// markup are the characters that Claude Code spells otherwise, as &lt; for example:
// it puts what a monitor says between tags. Mail with one of them is read with a
// call, whose result is as it was written.
const markup = "&<>"

// short is the number of characters of a message, if it is one that may come with a
// wake: to the agent itself, not to a role that others have too. One that came during a
// pause has no text here.
func short(m c3po.Message) (characters int, ok bool) {
	all := m.Text() + m.Context + string(c3po.WithoutTrace(m.Metadata))
	characters = utf8.RuneCountInString(all)
	return characters, characters > 0 && characters <= maxBroughtCharacters && !m.BodyGone && m.Room == "" && m.ToAgent.Queue() == "" && !strings.ContainsAny(all, markup)
}

// keep holds the mail that may come with a wake.
func (c *conversation) keep(mail []c3po.Message) {
	for _, m := range mail {
		c.texts[m.ID] = m
	}
}

// brings is the mail of a notice, if all of it may come instead of the notice.
func (c *conversation) brings(ids []c3po.MessageID) []c3po.Message {
	var all []c3po.Message
	total := 0
	for _, id := range ids {
		if _, here := c.mail[id]; !here || c.memory.HasRead(id) {
			continue
		}
		m, kept := c.texts[id]
		n, _ := short(m)
		if total += n; !kept || total > maxBroughtCharacters {
			return nil
		}
		all = append(all, m)
	}
	return all
}

// bring is what wakes the session: the mail itself if it may come so, else the
// notice. It is called with the lock held.
func (s *Server) bring(d hook.Decision) (lines string) {
	s.conversation.bringing, s.conversation.frame = nil, nil
	mail := s.conversation.brings(d.News)
	if !s.dialect.IsClaude() || len(mail) == 0 {
		return d.Context
	}
	if !slices.ContainsFunc(mail, func(m c3po.Message) bool { return !envelope.OfUser(m) }) {
		s.conversation.bringing, s.conversation.frame = mail, []string{hook.UserWrote}
		return hook.UserWrote
	}
	text := strings.TrimSuffix(strings.ReplaceAll(envelope.Renderer{Acks: true}.Brought(mail), "\n\n", "\n"), "\n")
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > maxLineBytes {
			return d.Context
		}
		if !strings.HasPrefix(line, "| ") {
			s.conversation.frame = append(s.conversation.frame, line)
		}
	}
	s.conversation.bringing = mail
	return text
}

// comes says that a turn begins with a prompt, which shows whether the mail that was sent
// to the monitors is in it: all lines that c3po puts around the text are, and they carry a mark
// that cannot be guessed. The line for the user's own words has none: they come only now.
func (c *conversation) comes(prompt string) {
	if len(c.bringing) == 0 {
		return
	}
	for _, line := range c.frame {
		if !strings.Contains(prompt, line) {
			return
		}
	}
	for _, m := range c.bringing {
		if m.ExpectsReply {
			c.meter.begins(m.ID, time.Now())
		}
	}
	if slices.Equal(c.frame, []string{hook.UserWrote}) {
		c.saying = c.bringing
	}
	c.brought, c.bringing, c.frame = c.bringing, nil, nil
}

// says adds what the user has written through c3po to a prompt that it has begun. Claude Code
// tells the model that what a monitor prints is not of the user; this comes apart from that.
func (s *Server) says(d hook.Decision) hook.Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conversation.saying) > 0 {
		text := strings.TrimSuffix(envelope.Renderer{Acks: true}.ByPerson(s.conversation.saying), "\n")
		d.Context = strings.TrimPrefix(d.Context+"\n"+text, "\n")
	}
	s.conversation.saying = nil
	return d
}

// tookMail says that the client has asked the model with the mail in the prompt.
func (c *conversation) tookMail() {
	for _, m := range c.brought {
		c.hand(m)
		c.proved = append(c.proved, m.ID)
	}
	c.brought = nil
}
