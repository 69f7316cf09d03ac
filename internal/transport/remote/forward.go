package remote

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/hub"
)

const (
	// lookEvery is how often it is asked which remotes there are.
	lookEvery = 2 * time.Second
	// takeOverEvery is how often a remote is tried that another coordinator serves.
	takeOverEvery = 10 * time.Second
	// waitSeconds is how long one wait for mail is.
	waitSeconds = 30
	// heartbeatSeconds is a third of how long the name is held for a coordinator that died.
	heartbeatSeconds = 10
	leaveTimeout     = 2 * time.Second
	minPause         = time.Second
	maxPause         = 15 * time.Second
	// giveUpAfter is how long a remote that does not answer is tried before the asker
	// hears of it. A coordinator that starts tries for at least an eighth of that.
	giveUpAfter = 2 * time.Minute
)

// A Forwarder serves the remotes that an admin has added, each on one coordinator: the
// one whose run holds the agent's name.
type Forwarder struct {
	Hub    *hub.Hub
	Keeper *auth.Keeper
	Node   string
	Getenv func(string) string // of the coordinator
	Log    *slog.Logger
	// Allow are addresses of the link alone that may be called.
	Allow []netip.Prefix
	// GiveUpAfter is giveUpAfter if zero, CardTimeout cardTimeout.
	GiveUpAfter, CardTimeout time.Duration

	once   sync.Once
	client *http.Client
}

// http is how remotes are called.
func (f *Forwarder) http() *http.Client {
	f.once.Do(func() { f.client = newClient(f.Allow) })
	return f.client
}

// Run serves them until ctx ends.
func (f *Forwarder) Run(ctx context.Context) error {
	var serving sync.WaitGroup
	defer serving.Wait()
	type service struct {
		account string
		stop    context.CancelCauseFunc
	}
	running := map[string]service{}
	defer func() {
		for _, s := range running {
			s.stop(nil)
		}
	}()
	for list := f.Keeper.FollowRemotes(); ; {
		there, err := list.List(ctx)
		if err != nil && ctx.Err() == nil {
			f.Log.WarnContext(ctx, "cannot read which remote agents there are", "err", err)
		}
		if err == nil {
			f.Hub.NoteRemotes(inDefaultSpace(there))
			for kid, remote := range there {
				if running[kid].stop == nil {
					own, stop := context.WithCancelCause(ctx)
					running[kid] = service{remote.Account, stop}
					serving.Go(func() {
						f.serve(own, remote)
						if errors.Is(context.Cause(own), errRemoved) {
							f.forget(ctx, remote)
						}
					})
				}
			}
			for _, remote := range list.Ended() {
				if running[remote.KID].stop == nil {
					serving.Go(func() { f.forget(ctx, remote) })
				}
			}
			accounts := map[string]bool{} // a token that was rotated ends, and its remote stays
			for _, remote := range there {
				accounts[remote.Account] = true
			}
			maps.DeleteFunc(running, func(kid string, s service) bool {
				_, stays := there[kid]
				switch {
				case stays:
				case accounts[s.account]:
					s.stop(nil)
				default:
					s.stop(errRemoved)
				}
				return !stays
			})
		}
		if !attempt.Sleep(ctx, lookEvery) {
			return nil
		}
	}
}

func inDefaultSpace(remotes map[string]auth.Remote) []c3po.AgentID {
	var ids []c3po.AgentID
	for _, remote := range remotes {
		if remote.Space == c3po.DefaultSpace && !slices.Contains(ids, remote.Agent) { // twice while a token is rotated
			ids = append(ids, remote.Agent)
		}
	}
	return ids
}

// An errand is one remote as this coordinator serves it.
type errand struct {
	*Forwarder
	auth.Remote
	holds bool // this coordinator has had the name
	mu    sync.Mutex
	open  map[c3po.MessageID]bool
}

// serve forwards mail of a remote while this coordinator holds its name.
func (f *Forwarder) serve(ctx context.Context, remote auth.Remote) {
	e := &errand{Forwarder: f, Remote: remote, open: map[c3po.MessageID]bool{}}
	defer e.leave(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	for ctx.Err() == nil {
		if !e.enter(ctx) {
			attempt.Sleep(ctx, takeOverEvery)
			continue
		}
		for after := int64(0); ctx.Err() == nil; {
			in := c3po.PendingInput{Timeout: waitSeconds, State: c3po.SessionIdle}
			if after > 0 {
				in.After = &after
			}
			mail, err := e.actor().Pending(ctx, in)
			if err != nil {
				if ctx.Err() == nil {
					e.Log.WarnContext(ctx, "cannot read the mail of a remote agent", "agent", e.Agent, "err", err)
				}
				attempt.Sleep(ctx, minPause)
				break // perhaps another coordinator has it now
			}
			after = max(after, mail.Seq)
			for _, m := range mail.Messages {
				if e.begin(m.ID) {
					asking.Go(func() { e.ask(ctx, m) })
				}
			}
		}
	}
}

func (e *errand) actor() *hub.Actor { return e.Hub.As(e.Caller(e.run())) }

// Claim gives a remote its name for this coordinator. From then on it has a mailbox.
func (f *Forwarder) Claim(ctx context.Context, remote auth.Remote) error {
	beat := heartbeatSeconds
	_, err := f.Hub.As(remote.Caller(f.run())).RegisterAgent(ctx, c3po.RegisterInput{Type: c3po.TypeRemote, HeartbeatInterval: &beat})
	if errors.Is(err, c3po.InvalidRequest) {
		return c3po.Errorf(c3po.InvalidRequest, "the name '%s' is not free: an agent, another remote agent or waiting mail has it", remote.Agent).
			Suggest("Choose another name: --name OTHER.")
	}
	return err
}

// run is what holds the names of the remotes that this coordinator serves.
func (f *Forwarder) run() string { return "a2a:" + f.Node }

// enter registers the agent, and says whether this coordinator holds its name.
func (e *errand) enter(ctx context.Context) bool {
	if e.Claim(ctx, e.Remote) != nil {
		return false
	}
	e.holds = true
	if err := e.Keeper.Used(ctx, e.KID); err != nil {
		e.Log.WarnContext(ctx, "cannot note that a remote agent is used", "agent", e.Agent, "err", err)
	}
	return true
}

// leave gives the name back, so that another coordinator need not wait for it.
func (e *errand) leave(ctx context.Context) {
	if !e.holds {
		return
	}
	removed := errors.Is(context.Cause(ctx), errRemoved)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	for removed && e.turnAway(ctx, e.Remote) {
		// Whoever waits hears of that, and not that the agent went offline.
	}
	if _, err := e.actor().Unregister(ctx, c3po.None{}); err != nil {
		e.Log.WarnContext(ctx, "cannot give back the name of a remote agent", "agent", e.Agent, "err", err)
	}
}

// token is what a remote is shown; empty for one that asks for none.
func (f *Forwarder) token(variable string) (string, error) {
	if variable == "" {
		return "", nil
	}
	if token := f.Getenv(variable); token != "" {
		return token, nil
	}
	return "", wrongf("the coordinator was started without the variable %s, which has its token", variable)
}

func (e *errand) begin(id c3po.MessageID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open[id] {
		return false
	}
	e.open[id] = true
	return true
}

// end forgets a message that has left the inbox. One that could not be answered is still
// there, and is not asked again.
func (e *errand) end(id c3po.MessageID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, id)
}
