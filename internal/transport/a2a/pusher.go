package a2a

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/person/notify"
)

const (
	// tokenHeader shows a receiver the token that it was named with.
	tokenHeader = "X-A2A-Notification-Token" // #nosec G101 -- the name of a header
	// pushTimeout is how long a receiver may take; pushLease is longer, so that nobody else
	// tells it meanwhile, and short, because it is what a coordinator that dies leaves.
	pushTimeout = 10 * time.Second
	pushLease   = 15 * time.Second
	// minPushPause is until a receiver is tried again, twice as long after each try.
	minPushPause = time.Second
	// pushPatience is how long a receiver is tried with one state.
	pushPatience = time.Hour
	// maxReplyBytes is how much of a receiver's answer is read, so that it sees it taken.
	maxReplyBytes = 4 << 10
	// pushesAtOnce are under way at most, and so many of one caller: who names addresses
	// that never answer does not hold up the others.
	pushesAtOnce, pushesOfOne = 64, 4
	busyPause                 = time.Second
	readsAtOnce               = 16
)

// A Pusher tells callers how their tasks go on, at the addresses they have named. What it
// tells is derived from facts, and what was told is stored: whichever coordinator is alive
// tells the rest. An address may hear a state twice, and skips those that were over before
// it could be told.
type Pusher struct {
	Hub    *hub.Hub
	Keeper *auth.Keeper
	// Allow are addresses of one's own network that may be called.
	Allow []netip.Prefix
	// Life is how long the addresses of a task are kept: longer than the task.
	Life     time.Duration
	Resolver *net.Resolver // the system's if nil
	Log      *slog.Logger
	// Patience is pushPatience if zero, and FirstPause minPushPause.
	Patience, FirstPause time.Duration

	once   sync.Once
	client *http.Client
	stored chan auth.CallbackTask
	reads  chan struct{} // holds one for each that is under way

	mu    sync.Mutex
	total int
	under map[string]int // pushes under way, by caller
}

func (p *Pusher) prepare() {
	p.once.Do(func() {
		p.client, p.under = notify.GuardedClient(p.Allow, p.Resolver), map[string]int{}
		p.stored, p.reads = make(chan auth.CallbackTask, 256), make(chan struct{}, readsAtOnce)
	})
}

// Stored says that a task has a new address. Without it that is found a little later.
func (p *Pusher) Stored(task auth.CallbackTask) {
	p.prepare()
	select {
	case p.stored <- task:
	default:
	}
}

// A look is what was found when a task was looked at.
type look struct {
	of     auth.CallbackTask
	task   task
	next   time.Duration // until it is to be looked at again, if nothing is heard of it
	closed bool          // nothing more is to be told
}

// tend looks at a task and posts its state to those who have not had it.
func (p *Pusher) tend(ctx context.Context, of auth.CallbackTask) look {
	found := look{of: of, next: lookAgain}
	kept := p.Keeper.Callbacks()
	t, all, gone, err := p.read(ctx, of)
	if err != nil {
		p.warn(ctx, of, err)
		return found
	}
	found.task = t
	for _, one := range all {
		if gone {
			_, err = kept.DropCallback(ctx, of, one.ID)
		} else {
			var next time.Duration
			if next, err = p.tell(ctx, one, found.task); next > 0 {
				found.next = min(found.next, next)
			}
		}
		if err != nil {
			p.warn(ctx, of, err)
			return found
		}
	}
	if gone || found.task.state.terminal() || len(all) == 0 {
		if found.closed, err = kept.CloseCallbacks(ctx, of, stateNames[found.task.state]); err != nil {
			p.warn(ctx, of, err)
		}
	}
	return found
}

// read reads a task and who wants to be told of it, with not too many others at once. A
// task that is forgotten is gone.
func (p *Pusher) read(ctx context.Context, of auth.CallbackTask) (t task, all []auth.Callback, gone bool, err error) {
	select {
	case p.reads <- struct{}{}:
	case <-ctx.Done():
		return t, nil, false, ctx.Err()
	}
	defer func() { <-p.reads }()
	progress, err := p.Hub.As(auth.CallbackWatcher(of.Space)).Progress(ctx, of.Task)
	if gone = errors.Is(err, c3po.InvalidRequest) || errors.Is(err, c3po.TicketNotFound); err != nil && !gone {
		return t, nil, false, err
	}
	t = taskOf(progress)
	if all, err = p.Keeper.Callbacks().Callbacks(ctx, of); err == nil && !gone && len(all) > 0 {
		t.more, err = p.Hub.As(auth.CallbackWatcher(of.Space)).Additions(ctx, progress)
	}
	return t, all, gone, err
}

func (p *Pusher) warn(ctx context.Context, of auth.CallbackTask, err error) {
	if ctx.Err() == nil {
		p.Log.WarnContext(ctx, "cannot look whom to push a task to", "message_id", of.Task, "space", of.Space, "err", err)
	}
}

// tell tells one address of the state of its task, unless it knows it. It gives the time
// after which to try again; 0 if there is nothing more to do.
func (p *Pusher) tell(ctx context.Context, one auth.Callback, t task) (time.Duration, error) {
	caller := cmp.Or(one.Account, string(one.Agent))
	if !p.enter(caller) {
		return busyPause, nil
	}
	defer p.leave(caller)
	kept, state := p.Keeper.Callbacks(), stateNames[t.state]
	turn, err := kept.TakeCallback(ctx, one, state, pushLease)
	if err != nil || turn.Outcome != auth.CallbackTaken {
		return turn.Left, err
	}
	if granted, err := p.Keeper.StillGranted(ctx, one); err != nil || !granted {
		if err == nil {
			_, err = kept.DropCallback(ctx, one.CallbackTask, one.ID)
		}
		return 0, err
	}
	wrong := p.post(ctx, one, t)
	// What was done is written down also if the coordinator stops.
	ctx = context.WithoutCancel(ctx)
	if wrong == nil {
		p.taken(ctx, one, t)
		return 0, kept.NoteCallback(ctx, one, state, true, 0)
	}
	host := ""
	if at, err := url.Parse(one.URL); err == nil {
		host = at.Host // the rest may be secret
	}
	_, refused := errors.AsType[*c3po.Error](wrong) // an address that is not called at all
	if refused || turn.Tried >= cmp.Or(p.Patience, pushPatience) {
		p.Log.WarnContext(ctx, "a push notification is given up", "message_id", one.Task, "space", one.Space, "state", state, "host", host, "tries", turn.Tries+1, "err", wrong)
		return 0, kept.NoteCallback(ctx, one, state, true, 0)
	}
	pause := auth.MaxCallbackPause
	if turn.Tries < 16 {
		pause = min(cmp.Or(p.FirstPause, minPushPause)<<turn.Tries, pause)
	}
	p.Log.InfoContext(ctx, "a push notification did not arrive", "message_id", one.Task, "space", one.Space, "state", state, "host", host, "tries", turn.Tries+1, "again_in", pause, "err", wrong)
	return pause, kept.NoteCallback(ctx, one, state, false, pause)
}

// enter takes a place among the pushes that are under way.
func (p *Pusher) enter(caller string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total >= pushesAtOnce || p.under[caller] >= pushesOfOne {
		return false
	}
	p.total++
	p.under[caller]++
	return true
}

func (p *Pusher) leave(caller string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total--
	if p.under[caller]--; p.under[caller] == 0 {
		delete(p.under, caller)
	}
}

// post sends a task to one address, in the version in which the address was named: 1.0
// has an event of a stream for it, 0.3 the task itself.
func (p *Pusher) post(ctx context.Context, one auth.Callback, t task) error {
	v, kind := version(one.Version), "application/a2a+json"
	if v == v03 {
		kind = jsonType
	}
	body, err := json.Marshal(v.wrap("task", t.render(v, -1, true)))
	if err != nil {
		return err
	}
	at, err := notify.CheckURL("url", one.URL, p.Allow)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), bytes.NewReader(body))
	if err != nil {
		return errors.New("the request cannot be made")
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "c3po")
	if one.Token != "" {
		req.Header.Set(tokenHeader, one.Token)
	}
	if one.Credentials != "" {
		req.Header.Set("Authorization", one.Scheme+" "+one.Credentials)
	}
	answer, err := p.client.Do(req)
	if wrapped, is := errors.AsType[*url.Error](err); is {
		return wrapped.Err // it would repeat the address
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxReplyBytes)
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("it answers %d", answer.StatusCode)
	}
	return nil
}

// taken says that the caller has its answer, as if it had asked for the task.
func (p *Pusher) taken(ctx context.Context, one auth.Callback, t task) {
	if t.Answer == nil || !t.state.terminal() {
		return
	}
	actor := p.Hub.As(one.Caller())
	progress, err := actor.Progress(ctx, one.Task)
	if err != nil {
		return // its answer stays in its inbox, and nothing is lost by that
	}
	have(ctx, actor, taskOf(progress))
}
