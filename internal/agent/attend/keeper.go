package attend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/resident"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

const (
	waitSlice  = 50 * time.Second
	maxLetters = 50
	// minRest and maxRest are how long a session is left closed whose last run has failed.
	minRest = time.Second
	maxRest = 5 * time.Minute
	// maxFailures are so many runs that fail one after the other that the person is asked.
	maxFailures = 3
	// openTimeout is how long a client that has waited for a session may take to open it.
	openTimeout = 5 * time.Second
	// withdrawTimeout is how long the end waits for the coordinator to take a question back.
	withdrawTimeout = 2 * time.Second
	// hour is what the budget of starts is for.
	hour = time.Hour
)

// A keeper attends to one session.
type keeper struct {
	*Service
	session paths.Session
	log     *slog.Logger

	left   map[c3po.MessageID]bool // a run has ended well and left it unanswered: another would too
	asked  c3po.MessageID          // the question whether it may be started more often
	denied time.Time               // the person wants no more starts until then
	// askedAt is when the person was last asked: what they allow after that counts instead
	// of an answer.
	askedAt time.Time
	failed  []error // how the last runs have ended, since one has ended well
	// attempts are the starts since then.
	attempts int
	// yielded is when the person's client was last seen to wait for the session.
	yielded time.Time
}

func (k *keeper) run(ctx context.Context) {
	defer k.withdrawIfDenied(ctx)
	away, rests := resident.Backoff(), attempt.Backoff{Min: minRest, Max: maxRest}
	for ctx.Err() == nil {
		if k.reconsidered(k.askedAt) {
			k.withdraw(ctx)
			k.askedAt, k.denied, k.failed = time.Time{}, time.Time{}, nil
		}
		if k.open() || time.Now().Before(k.denied) {
			attempt.Sleep(ctx, lookEvery)
			continue
		}
		mail, to, err := k.await(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, context.Canceled):
			continue
		case err != nil:
			k.log.WarnContext(ctx, "cannot look for mail", "err", err)
			attempt.Sleep(ctx, away.Step())
			continue
		}
		away.Reset()
		// A client that has just got the session takes a moment to say so.
		if k.awaited() || time.Since(k.yielded) < openTimeout {
			attempt.Sleep(ctx, seekEvery)
			continue
		}
		if !k.affordable(ctx, to) {
			continue
		}
		if err := k.resume(ctx, to, mail); err != nil {
			k.failed = append(k.failed, err)
			rest := rests.Step()
			k.log.WarnContext(ctx, "the resumed session has failed", "err", err, "next_in", rest)
			attempt.Sleep(ctx, rest)
			continue
		}
		k.failed, k.attempts = nil, 0
		rests.Reset()
	}
}

// open says that a process has the session: the person's, or one that was resumed before.
func (k *keeper) open() bool {
	now, ok := k.cfg.Folders.Session(k.session.ID)
	return ok && k.cfg.Lives(now.Run) || k.opening()
}

// opened says that a person has the session open.
func (k *keeper) opened() bool {
	now, ok := k.cfg.Folders.Session(k.session.ID)
	return ok && !now.Resumed && k.cfg.Lives(now.Run) || k.opening()
}

// opening says that a person may have the session open: its client runs in its folder, and
// has not shown yet which session it has.
func (k *keeper) opening() bool {
	return slices.ContainsFunc(k.cfg.Folders.Openings(), func(o paths.Opening) bool {
		return o.Client == k.session.Client && o.Folder == k.session.Folder && k.cfg.Lives(o.Run)
	})
}

// awaited says that the person's client waits for the session, and cannot say so itself.
func (k *keeper) awaited() bool {
	if !Clients()[k.session.Client].Locks || !k.cfg.Awaited(k.session) {
		return false
	}
	k.yielded = time.Now()
	return true
}

// await waits for mail that expects an answer. Meanwhile others see that mail starts the
// agent. It ends with context.Canceled when the session is opened, is to stay closed, or the
// person has changed their consent.
func (k *keeper) await(ctx context.Context) (found resident.View, to *client.Client, err error) {
	if to, err = k.cfg.Client(k.session); err != nil {
		return found, nil, err
	}
	if err := k.cfg.ReportEnded(ctx, k.session); err != nil {
		return found, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go k.whenDisturbed(ctx, cancel, k.askedAt)
	after, paused := int64(0), ""
	for {
		in := c3po.PendingInput{After: &after, Limit: maxLetters, Paused: &paused, State: c3po.SessionClosed, Timeout: int(waitSlice / time.Second)}
		found, err = resident.Look(ctx, to, in, maxLetters, func(m c3po.Message) bool { return k.asked != "" && m.MessageID == k.asked })
		if ctx.Err() != nil {
			return found, to, context.Canceled
		}
		if err != nil {
			return found, to, err
		}
		k.decided(ctx, to, found.Texts)
		if found.Paused != nil && *found.Paused != paused {
			paused, after = *found.Paused, 0
			continue // what came before counts again
		}
		if time.Now().Before(k.denied) {
			return found, to, context.Canceled
		}
		if after == 0 && len(found.Mail) < maxLetters {
			maps.DeleteFunc(k.left, func(id c3po.MessageID, _ bool) bool { return !slices.Contains(found.IDs(), id) })
		}
		if paused == "" && slices.ContainsFunc(found.Mail, k.calls) {
			return found, to, nil
		}
		after = max(after, found.Seq)
	}
}

// calls says that a message is worth a start.
func (k *keeper) calls(l hook.Letter) bool { return l.ExpectsReply && !k.left[l.ID] }

// whenDisturbed cancels once the session is open, or the person has decided otherwise than by
// an answer.
func (k *keeper) whenDisturbed(ctx context.Context, cancel func(), askedAt time.Time) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if k.open() || k.reconsidered(askedAt) {
			cancel()
			return
		}
	}
}

// consent is what the person allows by now.
func (k *keeper) consent() (paths.Consent, bool) {
	all, err := k.cfg.Folders.Consents()
	if err != nil {
		return paths.Consent{}, false // the service says so
	}
	return all.For(k.session.Agent)
}

// reconsidered says that the person has changed their consent since they were asked.
func (k *keeper) reconsidered(asked time.Time) bool {
	if asked.IsZero() {
		return false
	}
	consent, ok := k.consent()
	return ok && consent.At.After(asked)
}

// withdraw takes back the question, if there is one.
func (k *keeper) withdraw(ctx context.Context) {
	if k.asked == "" {
		return
	}
	to, err := k.cfg.Client(k.session)
	if err == nil {
		_, err = to.Cancel(ctx, c3po.MessageInput{MessageID: k.asked})
	}
	if err != nil {
		k.log.WarnContext(ctx, "cannot withdraw the question whether the session may be resumed further", "err", err)
	}
	k.asked = ""
}

// withdrawIfDenied leaves no question about a session that mail may not resume any more.
func (k *keeper) withdrawIfDenied(ctx context.Context) {
	if _, ok := k.consent(); ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTimeout)
	defer cancel()
	k.withdraw(ctx)
}

// affordable says that another start is within the budget and has a chance. If not, the
// person is asked, once, and mail waits for the answer.
func (k *keeper) affordable(ctx context.Context, to *client.Client) bool {
	consent, ok := k.consent()
	if !ok {
		attempt.Sleep(ctx, lookEvery)
		return false
	}
	var reason string
	switch n := len(k.failed); {
	case n >= maxFailures:
		reason = fmt.Sprintf("Mail has tried %d times to resume the closed session of %s on %s, and it failed. Last: %v", n, k.session.Agent, k.host(), k.failed[n-1])
	case k.recentStarts(time.Now()) >= consent.Starts:
		reason = fmt.Sprintf("Mail has resumed the closed session of %s as often as you allow in an hour (%d).", k.session.Agent, consent.Starts)
	default:
		return true
	}
	done, err := to.EscalateToHuman(ctx, c3po.EscalateInput{Reason: reason, Question: "May mail resume it further?", Choices: []string{goOn, stayClosed}})
	if err != nil {
		k.log.WarnContext(ctx, "cannot ask whether the session may be resumed further", "err", err)
		attempt.Sleep(ctx, maxRest)
		return false
	}
	k.asked, k.askedAt = done.MessageID, time.Now()
	k.log.WarnContext(ctx, "the person is asked whether mail may resume the session further", "reason", reason)
	return false
}

// What a person is offered then.
const (
	goOn       = "Resume it further"
	stayClosed = "Leave it closed for an hour"
)

// decided takes in the person's answer.
func (k *keeper) decided(ctx context.Context, to *client.Client, answers []c3po.Message) {
	for _, answer := range answers {
		k.failed = nil
		if answer.Text() == goOn {
			k.forgetStarts()
		} else {
			k.denied = time.Now().Add(hour)
		}
		k.asked = ""
		if _, err := to.AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{answer.ID}}); err != nil {
			k.log.WarnContext(ctx, "cannot ack the person's answer", "err", err)
		}
	}
}

// recentStarts is how many starts the agent has had within the hour.
func (k *keeper) recentStarts(now time.Time) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	recent := slices.DeleteFunc(slices.Clone(k.starts[k.session.Agent]), func(at time.Time) bool { return now.Sub(at) >= hour })
	k.starts[k.session.Agent] = recent
	return len(recent)
}

func (k *keeper) noteStart(now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.starts[k.session.Agent] = append(k.starts[k.session.Agent], now.UTC())
	k.saveStarts()
}

func (k *keeper) forgetStarts() {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.starts, k.session.Agent)
	k.saveStarts()
}

// saveStarts is called with the lock held.
func (k *keeper) saveStarts() {
	if err := k.cfg.Folders.KeepStarts(k.starts); err != nil {
		k.log.Warn("cannot write down when sessions were resumed", "err", err)
	}
}
