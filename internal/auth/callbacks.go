package auth

import (
	"cmp"
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// TaskCallbacks is how many addresses one account may name for a task, AllCallbacks of how
	// many tasks that have not ended anybody is told.
	TaskCallbacks = 4
	AllCallbacks  = 5000
	// MaxCallbackPause is the longest time until an address is tried again.
	MaxCallbackPause = 5 * time.Minute
)

// A CallbackTask is a task that somebody wants to be told of.
type CallbackTask struct {
	Space c3po.Space
	Task  c3po.MessageID
}

// A Callback is an address to which a caller wants to be told how its task goes on. It is
// worth as much as the token it was made with: when that ends, nobody is told any more.
type Callback struct {
	CallbackTask
	ID string
	CallbackInput
}

// CallbackInput is what a caller says of a Callback, and who it is.
type CallbackInput struct {
	URL         string       `json:"url"`
	Token       string       `json:"token,omitempty"` // shown to the address, as are the credentials
	Scheme      string       `json:"scheme,omitempty"`
	Credentials string       `json:"credentials,omitempty"`
	Version     string       `json:"version"` // of the protocol it is told in
	Agent       c3po.AgentID `json:"agent"`   // who asked
	KID         string       `json:"kid,omitempty"`
	Account     string       `json:"account,omitempty"`
}

// A CallbackOutcome is how a step with a Callback ended.
type CallbackOutcome string

// The outcomes: of storing one, and of taking on to tell one.
const (
	CallbackStored CallbackOutcome = "ok"
	CallbackMany   CallbackOutcome = "many"
	CallbackFull   CallbackOutcome = "full"
	CallbackTaken  CallbackOutcome = "taken"
	CallbackTold   CallbackOutcome = "told"
	CallbackHeld   CallbackOutcome = "held"
	CallbackGone   CallbackOutcome = "gone"
)

// A CallbackTurn is whether one is to be told now, and what was tried before.
type CallbackTurn struct {
	Outcome CallbackOutcome
	Left    time.Duration // until it may be taken, if it is held
	Tries   int           // before this one
	Tried   time.Duration // since the first of them
}

// CallbackStore keeps them, for all coordinators alike.
type CallbackStore interface {
	// PutCallback stores one, or replaces one of the same id. Of a new one its caller knows
	// the state that told names. It is forgotten after that life.
	PutCallback(ctx context.Context, c Callback, told string, life time.Duration) (CallbackOutcome, error)
	// Callbacks are those of a task.
	Callbacks(ctx context.Context, task CallbackTask) ([]Callback, error)
	// DropCallback forgets one, and reports whether it was there.
	DropCallback(ctx context.Context, task CallbackTask, id string) (bool, error)
	// OpenCallbacks are tasks that have one and are not closed, those stored after a
	// revision, and the revision after which there may be more.
	OpenCallbacks(ctx context.Context, after int64) ([]CallbackTask, int64, error)
	// TakeCallback takes on telling one of a state. Nobody else does as long as the lease is.
	TakeCallback(ctx context.Context, c Callback, state string, lease time.Duration) (CallbackTurn, error)
	// NoteCallback writes down that one was told, or else that it is tried again after a pause.
	NoteCallback(ctx context.Context, c Callback, state string, told bool, pause time.Duration) error
	// CloseCallbacks ends the watch over a task if all were told of that state, or none is
	// left. It reports whether it did.
	CloseCallbacks(ctx context.Context, task CallbackTask, state string) (bool, error)
}

// Callbacks are where they are kept; nil if nothing is.
func (k *Keeper) Callbacks() CallbackStore {
	if k.store == nil {
		return nil
	}
	return k.store
}

// OwnedBy says whether a caller may see and change a Callback. Callers whose tokens share a
// name see each other's tasks, but not these: what is shown to the address is its maker's.
func (c Callback) OwnedBy(caller c3po.Caller) bool {
	return c.Account == cmp.Or(caller.Account, caller.KID)
}

// From says whose a Callback is.
func (in CallbackInput) From(caller c3po.Caller, as c3po.AgentID) CallbackInput {
	in.Agent, in.KID, in.Account = as, caller.KID, cmp.Or(caller.Account, caller.KID)
	return in
}

// Caller is who made a Callback, as the coordinator notes for them that they have an answer.
func (c Callback) Caller() c3po.Caller {
	return c3po.Caller{Space: c.Space, ID: c.Agent, Role: c3po.RoleAgent, Agents: c3po.Pattern(c.Agent), KID: c.KID, Account: c.Account, Client: "c3po a2a", Route: "a2a"}
}

// CallbackWatcher is the coordinator itself, as it looks how tasks of a space go on.
func CallbackWatcher(space c3po.Space) c3po.Caller {
	return c3po.Caller{Space: space, Role: c3po.RoleObserver, Client: "c3po a2a", Route: "a2a"}
}

// StillGranted says whether the token that a Callback was made with works, or one that
// took its place.
func (k *Keeper) StillGranted(ctx context.Context, c Callback) (bool, error) {
	if c.KID == "" {
		return true, nil
	}
	if g, found, err := k.store.Grant(ctx, c.KID); err != nil || found && g.Live(k.now()) {
		return err == nil, err
	}
	grants, err := k.store.Grants(ctx)
	heirs := map[string]bool{c.KID: true}
	for _, g := range grants { // oldest first
		if heirs[g.SuccessorOf] {
			heirs[g.KID] = true
			if g.Live(k.now()) {
				return true, nil
			}
		}
	}
	return false, err
}
