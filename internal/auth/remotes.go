package auth

import (
	"cmp"
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Remote is an agent of another system that an admin has added. It is a grant: the
// coordinator acts as that agent for as long as it works, and revoking it ends that.
type Remote struct {
	KID string
	// Account is the KID it was added with: its name is held by it, whatever token came after.
	Account string
	Space   c3po.Space
	Agent   c3po.AgentID
	// Card is the address of its card. Nothing is asked of any other host.
	Card string
	// TokenEnv names the variable of the coordinator that holds the token it is shown.
	TokenEnv string
}

// AddRemote adds an agent of another system, if claim gets its name: one that an agent
// has, or a remote, is refused. Which addresses are called is an admin's to decide, those
// of this machine and of private networks included.
func (k *Keeper) AddRemote(ctx context.Context, caller c3po.Caller, in c3po.RemoteInput, claim func(context.Context, Remote) error) (c3po.Remote, error) {
	if caller.Role != c3po.RoleAdmin {
		return c3po.Remote{}, c3po.Errorf(c3po.Forbidden, "only an admin adds agents of other systems").
			Suggest("Use an admin's token: the coordinator calls the address that is added.")
	}
	id, err := c3po.ParseAgentID(in.Name)
	if err != nil {
		return c3po.Remote{}, err
	}
	if id.Poses() {
		return c3po.Remote{}, c3po.Errorf(c3po.InvalidRequest, "'%s' reads like a reserved name: no agent may have it", id).Suggest("Choose another with --name.")
	}
	ctx, err = k.proveInput(ctx, caller, "remote_add", in)
	if err != nil {
		return c3po.Remote{}, err
	}
	made, err := k.Mint(ctx, Grant{
		Role: c3po.RoleAgent, Spaces: []string{string(caller.Space)}, Pattern: string(id), Label: "A2A " + hostOfURL(in.URL), Card: in.URL, TokenEnv: in.TokenEnv,
	})
	if err != nil {
		return c3po.Remote{}, err
	}
	// The grant comes first: whoever dies in between leaves a remote that is claimed later,
	// and no name that belongs to none.
	if err := claim(ctx, Remote{KID: made.KID, Account: made.KID, Space: caller.Space, Agent: id, Card: in.URL, TokenEnv: in.TokenEnv}); err != nil {
		if undo := k.store.Discard(context.WithoutCancel(ctx), made.KID); undo != nil {
			return c3po.Remote{}, undo
		}
		return c3po.Remote{}, err
	}
	k.recordToken(ctx, caller, EventRemoteAdded, made.KID, string(id)+" at "+in.URL)
	return c3po.Remote{AgentID: id, URL: in.URL, KID: made.KID}, nil
}

// RemoveRemote ends the token by which the coordinator acts for an agent of another system.
// The coordinator that serves it answers what waits for it, and frees its name.
func (k *Keeper) RemoveRemote(ctx context.Context, caller c3po.Caller, name string) (c3po.Remote, error) {
	if err := k.mayMint(caller, false); err != nil {
		return c3po.Remote{}, err
	}
	grants, err := k.store.Grants(ctx)
	if err != nil {
		return c3po.Remote{}, err
	}
	grants = slices.DeleteFunc(grants, func(g Grant) bool {
		space, one := homeSpace(g.Spaces)
		return g.Card == "" || g.Pattern != name || !one || space != caller.Space || !g.Live(k.now())
	})
	if len(grants) == 0 {
		return c3po.Remote{}, c3po.Errorf(c3po.AgentNotFound, "no agent of another system is called '%s' here", c3po.Clip(name)).
			Suggest("See all: c3po agents --type %s", c3po.TypeRemote)
	}
	if ctx, err = k.proveInput(ctx, caller, "remote_remove", map[string]string{"name": name}); err != nil {
		return c3po.Remote{}, err
	}
	for _, g := range grants { // after a rotation there are two for ten minutes
		if _, err := k.store.Revoke(ctx, g.KID); err != nil {
			return c3po.Remote{}, err
		}
		k.recordToken(ctx, caller, EventTokenRevoked, g.KID, "removes "+name)
	}
	last := grants[len(grants)-1]
	return c3po.Remote{AgentID: c3po.AgentID(name), URL: last.Card, KID: last.KID}, nil
}

// hostOfURL is the host of an address, for a label.
func hostOfURL(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(at.Host)
}

// Only variables that are called so can be sent: an admin of the coordinator is not
// told what else its process was started with.
var envForm = regexp.MustCompile(`^(A2A_[A-Z0-9_]+)?$`)

// CheckTokenEnv refuses what cannot name a variable of the coordinator.
func CheckTokenEnv(name string) error {
	if envForm.MatchString(name) {
		return nil
	}
	return c3po.Errorf(c3po.InvalidRequest, "%q cannot name a variable with another system's token", c3po.Clip(name)).
		Suggest("Start the coordinator with a variable whose name begins with A2A_, for example A2A_BILLING.")
}

// Caller is the remote as the coordinator acts for it, in a run that holds its name.
func (r Remote) Caller(run string) c3po.Caller {
	return c3po.Caller{Space: r.Space, ID: r.Agent, Run: run, Role: c3po.RoleAgent, Agents: c3po.Pattern(r.Agent), KID: r.KID, Account: r.Account, Remote: r.Account, Client: "c3po a2a", Route: "a2a"}
}

// readRemotesEvery is how often all grants are read, in case a change was missed.
const readRemotesEvery = 10 * time.Minute

// Remotes follows which agents of other systems there are. It reads all grants once, and
// then those that have changed.
type Remotes struct {
	keeper   *Keeper
	revision int64
	read     time.Time
	known    map[string]Remote
	ended    []Remote
}

// FollowRemotes begins to follow them.
func (k *Keeper) FollowRemotes() *Remotes {
	return &Remotes{keeper: k, known: map[string]Remote{}}
}

// List are those that are there now, by their KID. It is for one goroutine.
func (r *Remotes) List(ctx context.Context) (map[string]Remote, error) {
	store, now := r.keeper.store, r.keeper.now()
	if store == nil {
		return nil, nil // without tokens nobody is an admin
	}
	if now.Sub(r.read) > readRemotesEvery {
		_, revision, err := store.Changes(ctx, -1)
		if err != nil {
			return nil, err
		}
		grants, err := store.Grants(ctx)
		if err != nil {
			return nil, err
		}
		clear(r.known)
		r.ended = nil
		for _, g := range grants {
			r.note(g.KID, g)
		}
		r.revision, r.read = revision, now
	} else {
		kids, revision, err := store.Changes(ctx, r.revision)
		if err != nil {
			return nil, err
		}
		for _, kid := range kids {
			g, _, err := store.Grant(ctx, kid)
			if err != nil {
				return nil, err
			}
			r.note(kid, g)
		}
		r.revision = revision
	}
	return r.known, nil
}

// Ended are those that List found to have ended since Ended was last asked for. After all
// grants were read they are all of a month: nobody may have served one when it was removed.
func (r *Remotes) Ended() []Remote {
	ended := slices.DeleteFunc(r.ended, func(old Remote) bool {
		for _, remote := range r.known {
			if remote.Account == old.Account {
				return true
			}
		}
		return false
	})
	r.ended = nil
	return ended
}

func (r *Remotes) note(kid string, g Grant) {
	delete(r.known, kid)
	space, one := homeSpace(g.Spaces)
	if g.Card == "" || !one {
		return
	}
	remote := Remote{KID: kid, Account: cmp.Or(g.Account, kid), Space: space, Agent: c3po.AgentID(g.Pattern), Card: g.Card, TokenEnv: g.TokenEnv}
	if g.Live(r.keeper.now()) {
		r.known[kid] = remote
	} else {
		r.ended = append(r.ended, remote)
	}
}

// Used keeps a remote's grant from ending for want of use.
func (k *Keeper) Used(ctx context.Context, kid string) error {
	return k.store.TouchGrant(ctx, kid, life)
}
