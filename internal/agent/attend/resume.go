package attend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/resident"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/host/group"
)

const (
	// maxRun is how long a resumed session may take to answer.
	maxRun = 30 * time.Minute
	// endTimeout is how long it may take to end after SIGTERM.
	endTimeout = 2 * time.Second
	maxSaid    = 2 << 10
)

// Prompt is what a resumed session is told. It is no person's: hooks know c3po's own lines
// by their begin.
const Prompt = "c3po: your session was closed, and is resumed because there is mail that expects an answer. Nobody sits at this session. " +
	"Call get_messages, answer each message with reply from what you know and may do here, and end. If you lack a permission that an answer needs, say so in it."

// errUnread says that a run has ended well without a look at its mail.
var errUnread = errors.New("it ended without reading its mail")

// errOpened says that a person has opened the session that was resumed.
var errOpened = errors.New("the person has opened the session")

// resume runs the client of the session once, for mail that was found. It is an error if
// the client ended badly; that the person wanted the session meanwhile is none.
func (k *keeper) resume(ctx context.Context, to *client.Client, mail resident.View) error {
	consent, ok := k.consent()
	if !ok {
		return nil // it was taken back a moment ago
	}
	cmd, mode, err := k.cfg.Command(k.session, consent.Mode, Prompt)
	if err != nil {
		return err
	}
	if err := startable(cmd); err != nil {
		return err
	}
	lock, err := k.cfg.Folders.ResumeLock(k.session.ID)
	if err != nil {
		return err
	}
	if lock == nil {
		return errors.New("it was resumed before, by a process that has not ended")
	}
	defer lock.Release()
	if k.open() {
		return nil
	}
	// Somebody may have called in its name meanwhile, as a command with --as does: the
	// resumed session gets the name.
	if !k.opened() {
		resident.Leave(ctx, to, k.log)
	}
	cmd.ExtraFiles = []*os.File{lock.File()} // it holds the lock for as long as it lives
	started := fmt.Sprintf("%s %s on %s, by c3po attend, permission mode %s%s", k.session.Client, k.session.ID, k.host(), mode, attemptOf(k.attempts))
	if _, err := to.Received(ctx, c3po.ReceivedInput{Started: started, Notified: mail.Seq}); err != nil {
		return err
	}
	k.attempts++
	k.noteStart(time.Now())
	k.log.InfoContext(ctx, "mail resumes the session", "messages", len(mail.Mail), "folder", k.session.Folder, "permission_mode", mode)
	began := time.Now()
	err = k.execute(ctx, cmd)
	k.log.InfoContext(ctx, "the resumed session has ended", "took", time.Since(began).Round(time.Millisecond), "err", err)
	switch {
	case ctx.Err() != nil, errors.Is(err, errOpened):
		return nil
	case err != nil:
		return err
	}
	if k.unread(ctx, to, mail.Mail) {
		return errUnread
	}
	for _, l := range mail.Mail {
		k.left[l.ID] = true
	}
	return nil
}

// unread reports whether a run has left mail that it was started for, and that nobody has read.
func (k *keeper) unread(ctx context.Context, to *client.Client, mail []hook.Letter) bool {
	for range 3 { // what another coordinator has handed out shows a moment later
		if found, err := k.findUnread(ctx, to, mail); err != nil || !found {
			return false
		}
		attempt.Sleep(ctx, seekEvery)
	}
	return ctx.Err() == nil
}

// findUnread peeks, which also counts what the coordinator has handed out and not written down.
func (k *keeper) findUnread(ctx context.Context, to *client.Client, mail []hook.Letter) (bool, error) {
	in := c3po.GetMessagesInput{Limit: maxLetters}
	for {
		page, err := to.Peek(ctx, in)
		if err != nil {
			return false, err
		}
		for _, m := range page.Messages {
			if m.Redelivered || !slices.ContainsFunc(mail, func(l hook.Letter) bool { return l.ID == m.ID && k.calls(l) }) {
				continue
			}
			trace, err := to.Trace(ctx, c3po.MessageInput{MessageID: m.ID})
			if err == nil && trace.Received == nil {
				return true, nil
			}
		}
		if page.Next == "" {
			return false, nil
		}
		in.Cursor = page.Next
	}
}

func (k *keeper) host() string {
	if k.cfg.Host == "" {
		return "this host"
	}
	return k.cfg.Host
}

// execute runs a command to its end, which comes early if the person opens the session.
func (k *keeper) execute(ctx context.Context, cmd *exec.Cmd) error {
	ctx, cancel := context.WithTimeoutCause(ctx, maxRun, fmt.Errorf("it took longer than %v", maxRun))
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	said := &tail{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = nil, io.Discard, said, endTimeout
	group.Own(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		// Many a client is a small program that runs the real one, which would go on with
		// the session if only the small one was killed.
		_ = group.End(cmd) // as a rule nothing is left
		if errors.Is(err, exec.ErrWaitDelay) {
			err = nil // it has ended well, and something held its output open
		}
		ended <- err
	}()
	tick, seek := time.NewTicker(lookEvery), time.NewTicker(seekEvery)
	defer tick.Stop()
	defer seek.Stop()
	var kill <-chan time.Time
	for asked := ctx.Done(); ; {
		select {
		case err := <-ended:
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			if err != nil {
				return because(err, said.String())
			}
			return nil
		case <-tick.C:
			if k.opened() {
				stop(errOpened)
			}
		case <-seek.C:
			if k.awaited() {
				stop(errOpened)
			}
		case <-asked:
			asked = nil
			_ = group.Ask(cmd) // it may just have ended
			kill = time.After(endTimeout)
		case <-kill:
			_ = group.End(cmd)
		}
	}
}

// A tail keeps the last of what is written to it.
type tail struct{ bytes.Buffer }

func (t *tail) Write(data []byte) (int, error) {
	n, err := t.Buffer.Write(data)
	if over := t.Len() - maxSaid; over > 0 {
		t.Next(over)
	}
	return n, err
}

func (t *tail) String() string { return strings.TrimSpace(strings.ToValidUTF8(t.Buffer.String(), "")) }
