package ptyrun

import (
	"context"
	"log/slog"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/resident"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/text/envelope"
)

const (
	goodbyeTimeout = 2 * time.Second
	// flushTimeout is how long the end waits for answers that were printed last.
	flushTimeout = 5 * time.Second
	// maxWaitingAnswers is how many answers wait for a coordinator that is away.
	maxWaitingAnswers = 256
)

// A mailbox is the agent that the program is, as the coordinator knows it.
type mailbox struct {
	reach   func() (*client.Client, error)
	process string // the run, as host:pid:start unless a runner named it
	profile c3po.RegisterInput
	bodies  bool // the text of mail is typed
	log     *slog.Logger

	arrived chan struct{} // there may be something to type
	answers chan answer
	left    *answer // of which is not known whether it was posted

	mu      sync.Mutex
	client  *client.Client
	here    bool // it is registered
	memory  hook.Memory
	mail    map[c3po.MessageID]hook.Letter  // not acked
	texts   map[c3po.MessageID]c3po.Message // of mail that is to be typed
	seq     int64                           // mail is known up to here
	paused  string                          // why the agent is; empty if it is not
	tickets map[c3po.MessageID]bool         // all that ever asked for an answer
	posted  map[string]bool                 // keys of answers
}

func newMailbox(cfg Config) *mailbox {
	return &mailbox{
		reach: cfg.Reach, process: cfg.Run, profile: cfg.Profile, bodies: cfg.PasteBodies, log: cfg.Log,
		arrived: make(chan struct{}, 1), answers: make(chan answer, maxWaitingAnswers),
		mail: map[c3po.MessageID]hook.Letter{}, texts: map[c3po.MessageID]c3po.Message{}, tickets: map[c3po.MessageID]bool{}, posted: map[string]bool{},
	}
}

// to is the client that is used at the moment.
func (b *mailbox) to() *client.Client {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.client
}

// register makes the agent known.
func (b *mailbox) register(ctx context.Context) (c3po.AgentID, error) {
	found, err := b.reach()
	if err != nil {
		return "", err
	}
	b.mu.Lock()
	if b.client == nil || b.client.Lost() {
		b.client = found
	}
	b.mu.Unlock()
	self, err := b.to().RegisterAgent(ctx, b.profile)
	if err != nil {
		return "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.here = true
	return self.ID, nil
}

// attend keeps the agent registered and its mail known, whatever the coordinator
// does, until ctx ends.
func (b *mailbox) attend(ctx context.Context) {
	settle := func(ctx context.Context) error {
		if _, err := b.register(ctx); err != nil {
			return err
		}
		return b.look(ctx, c3po.PendingInput{})
	}
	resident.Stay(ctx, settle, b.watch, func(err error, _ bool) bool {
		b.log.InfoContext(ctx, "not with the coordinator", "err", err)
		return false
	})
}

// watch waits for mail until that fails.
func (b *mailbox) watch(ctx context.Context) (err error) {
	for err == nil {
		b.mu.Lock()
		after, why := b.seq, b.paused
		b.mu.Unlock()
		err = b.look(ctx, c3po.PendingInput{Timeout: int(c3po.DefaultLimits().MaxWait / time.Second), After: &after, Paused: &why})
	}
	return err
}

// look reads unacked mail without its counting as seen. Without a place to go on
// from it is all there is.
func (b *mailbox) look(ctx context.Context, in c3po.PendingInput) error {
	seen, err := resident.Look(ctx, b.to(), in, resident.MaxLetters, func(c3po.Message) bool { return b.bodies })
	if err != nil {
		return err
	}
	all := in.After == nil
	b.mu.Lock()
	defer b.mu.Unlock()
	if all {
		clear(b.mail)
		clear(b.texts)
	}
	for _, m := range seen.Texts {
		b.texts[m.ID] = m
	}
	for _, l := range seen.Mail {
		b.mail[l.ID] = l
		if l.ExpectsReply {
			b.tickets[l.ID] = true
		}
	}
	b.seq = max(b.seq, seen.Seq)
	switch {
	case seen.Paused != nil:
		b.paused = *seen.Paused
	case all:
		b.paused = ""
	}
	if all {
		b.memory = b.memory.Keep(b.letters())
	}
	b.hint()
	return nil
}

func (b *mailbox) hint() {
	select {
	case b.arrived <- struct{}{}:
	default:
	}
}

// letters is the mail in the order it came. It is called with the lock held.
func (b *mailbox) letters() []hook.Letter { return resident.Letters(b.mail) }

// A news is what is to be typed, and what to remember once it was.
type news struct {
	text    string
	message *c3po.Message    // of which the text is, if it is of one
	tickets []c3po.MessageID // the questions it tells of
	memory  hook.Memory
}

// news is what the program is to be told next: of all mail that is new, or the
// text of the oldest that is. There is no text if it knows of all.
func (b *mailbox) news(now time.Time) news {
	b.mu.Lock()
	defer b.mu.Unlock()
	mail := hook.Audible(b.letters(), b.paused)
	d, memory := hook.Typed(b.memory, mail, now)
	n := news{text: d.Context, memory: memory}
	for _, l := range mail {
		if l.ExpectsReply && l.Seq > b.memory.Notified() {
			n.tickets = append(n.tickets, l.ID)
		}
	}
	if !b.bodies {
		return n
	}
	for _, l := range mail {
		d, memory := hook.Typed(b.memory, []hook.Letter{l}, now)
		if d.Context == "" {
			continue
		}
		m := b.texts[l.ID]
		return news{text: envelope.Renderer{}.Typed(m), message: &m, tickets: []c3po.MessageID{l.ID}, memory: memory}
	}
	return news{}
}

// recordTyped remembers that news was typed, and reports it. A program without tools
// cannot ack, so mail that expects no answer counts as dealt with once it was typed.
func (b *mailbox) recordTyped(ctx context.Context, n news) {
	b.mu.Lock()
	b.memory = n.memory
	report := c3po.ReceivedInput{Notified: hook.KnownUpTo(n.memory.Notified(), b.letters(), b.paused)}
	if n.message != nil {
		delete(b.texts, n.message.ID)
	}
	b.mu.Unlock()
	if n.message != nil {
		report.MessageIDs = []c3po.MessageID{n.message.ID}
	}
	_, err := b.to().Received(ctx, report)
	if err == nil && n.message != nil && !n.message.ExpectsReply {
		_, err = b.to().AckMessages(ctx, c3po.AckInput{MessageIDs: report.MessageIDs})
	}
	if err != nil {
		b.log.InfoContext(ctx, "cannot report what was typed", "err", err)
	}
}

// offer takes an answer that was seen, if it is one to a question of ours and was
// not seen before.
func (b *mailbox) offer(a answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := a.key()
	if !b.tickets[a.ticket] || b.posted[key] {
		return
	}
	select {
	case b.answers <- a:
		b.posted[key] = true
	default: // it is found again on the screen
	}
}

// hasQuestions says that there are questions an answer may come to.
func (b *mailbox) hasQuestions() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.tickets) > 0
}

// post sends answers until ctx ends. One that it cuts off is left to flush.
func (b *mailbox) post(ctx context.Context) {
	for {
		select {
		case a := <-b.answers:
			if !b.reply(ctx, a) {
				b.left = &a
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// flush posts what is left when the program has ended.
func (b *mailbox) flush(ctx context.Context) {
	if b.left != nil {
		b.reply(ctx, *b.left)
	}
	for {
		select {
		case a := <-b.answers:
			b.reply(ctx, a)
		default:
			return
		}
	}
}

// reply posts one answer, again and again until the coordinator has decided or
// ctx ends: it says which. One that is too long for one message goes as several.
func (b *mailbox) reply(ctx context.Context, a answer) (decided bool) {
	for i, part := range parts(a.text, c3po.DefaultLimits().Characters) {
		in := c3po.ReplyInput{MessageID: a.ticket, Response: part, ClientKey: a.key() + suffix(i)}
		for pause := resident.Backoff(); ; {
			_, err := b.to().Reply(ctx, in)
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				return false
			}
			b.log.WarnContext(ctx, "cannot post an answer", "message_id", a.ticket, "err", err)
			if c3po.AsError(err).Code.Retry() == c3po.RetryNo {
				return true
			}
			if !attempt.Sleep(ctx, pause.Step()) {
				return false
			}
		}
	}
	return true
}

func suffix(part int) string {
	if part == 0 {
		return ""
	}
	return "-" + string(rune('0'+part))
}

// parts cuts a text into pieces of at most so many characters.
func parts(text string, most int) []string {
	var all []string
	for utf8.RuneCountInString(text) > most {
		runes := []rune(text)
		all = append(all, string(runes[:most]))
		text = string(runes[most:])
	}
	return append(all, text)
}

// goodbye says that the program has ended, by itself or because it died: whoever
// waits for its answer is told which. The agent keeps its id and its mail.
func (b *mailbox) goodbye(ctx context.Context, died bool) {
	b.mu.Lock()
	here := b.here
	b.mu.Unlock()
	if !here {
		return
	}
	limited, cancel := context.WithTimeout(ctx, flushTimeout)
	b.flush(limited)
	cancel()
	ctx, cancel = context.WithTimeout(ctx, goodbyeTimeout)
	defer cancel()
	if died {
		if _, err := b.to().ReportDeath(ctx, c3po.DeathInput{Run: b.process}); err == nil {
			return
		}
		// A run that is not a process cannot be reported dead.
	}
	resident.Leave(ctx, b.to(), b.log)
}
