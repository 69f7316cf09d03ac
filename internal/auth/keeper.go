package auth

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Mode says what a caller must show.
type Mode string

// The modes. None is for a network whose every user is trusted.
const (
	Tokens Mode = "token"
	None   Mode = "none"
)

// ParseMode reads a mode; the empty text is Tokens.
func ParseMode(text string) (Mode, error) {
	switch Mode(text) {
	case "", Tokens:
		return Tokens, nil
	case None:
		return None, nil
	}
	return "", c3po.Errorf(c3po.InvalidRequest, "there is no authentication %q", clip(text)).Suggest("Use token or none.")
}

const (
	// pollEvery and maxCacheAge keep a revoked token from working for a second.
	pollEvery   = 400 * time.Millisecond
	maxCacheAge = time.Second
	// life is how long a token lives after its last use; touchEvery is how exact
	// that is.
	life       = 365 * 24 * time.Hour
	touchEvery = c3po.TokenUseNoted
	// rotatedLife is how long a token still works beside its successor.
	rotatedLife = 10 * time.Minute
)

// Config configures a Keeper. The zero value of every field but Store works,
// and with the mode None that of Store too.
type Config struct {
	Store Store
	Mode  Mode             // Tokens if empty
	Log   *slog.Logger     // silent if nil
	Now   func() time.Time // time.Now if nil
	// CallsPerSecond is how many calls a token may make, as long as it goes on; any
	// number if 0.
	CallsPerSecond int
	// Lineage gives the runs that a process of this machine and those it was started
	// by would have, the nearest first, and whether these are all of them; nil where
	// that cannot be told.
	Lineage func(pid int) (runs []string, whole bool)
	Host    string // the one whose processes those are
	// Personal says that a process belongs to a person and to no agent, as their shell
	// does. If nil, no process is personal.
	Personal func(pid int) bool
}

// A Keeper knows who makes a request.
type Keeper struct {
	store Store
	mode  Mode
	log   *slog.Logger
	now   func() time.Time

	lineage  func(pid int) (runs []string, whole bool)
	host     string
	personal func(pid int) bool
	pace     pacer
	vault    vault
	proofs   openProofs
	vouched  vouchedActs

	mu       sync.Mutex
	cache    map[string]cached
	open     map[string]map[*visit]bool // requests under way, by KID
	revision int64
	// generation goes up whenever grants have changed: what was read before is
	// neither cached nor let in after.
	generation int64
	confirmed  time.Time // when the cache was last known to be right
	noted      map[string]time.Time

	// Refusals written down, of tokens and of invitations each on their own: a
	// flood of one must not hide the other.
	failures, refusedJoins, refusedLogins meter
}

type cached struct {
	grant Grant
	read  time.Time
}

// A visit is a request under way.
type visit struct {
	cancel context.CancelCauseFunc
	end    *time.Timer // when its grant expires
}

// New makes a Keeper. Run keeps it up to date.
func New(cfg Config) *Keeper {
	k := &Keeper{
		store: cfg.Store, mode: cfg.Mode, log: cfg.Log, now: cfg.Now, lineage: cfg.Lineage, host: cfg.Host, personal: cfg.Personal,
		pace:  pacer{perSecond: cfg.CallsPerSecond, accounts: map[string]*paced{}},
		cache: map[string]cached{}, open: map[string]map[*visit]bool{}, noted: map[string]time.Time{}, revision: -1,
	}
	if k.mode == "" {
		k.mode = Tokens
	}
	if k.log == nil {
		k.log = slog.New(slog.DiscardHandler)
	}
	if k.now == nil {
		k.now = time.Now
	}
	return k
}

// Mode is what callers must show here.
func (k *Keeper) Mode() Mode { return k.mode }

// Caller says who makes a request that came through the named door, and gives
// the context to serve it under: that ends, with UNAUTHORIZED as its cause, when
// the token is revoked or expires. release is to be called when it was served.
func (k *Keeper) Caller(r *http.Request, route string) (caller c3po.Caller, ctx context.Context, release func(), err error) {
	caller, err = fromHeaders(r, route)
	if err != nil || k.mode == None {
		return caller, context.WithValue(r.Context(), remoteKey{}, RemoteOf(r)), func() {}, err
	}
	grant, ctx, release, err := k.admit(r)
	if err == nil {
		if caller, err = grant.bind(caller, r.Header.Get(SpaceHeader) != ""); err == nil {
			ctx, err = k.pace.wait(ctx, caller.Account, time.Now())
		}
		if err == nil {
			caller, err = k.checkRun(ctx, r, caller, grant)
		}
		if err != nil {
			release()
		}
	}
	if err != nil {
		k.noteRefusal(r, grant, err)
		return c3po.Caller{}, r.Context(), func() {}, err
	}
	ctx = context.WithValue(ctx, remoteKey{}, RemoteOf(r))
	if proof := r.Header.Get(c3po.ProofHeader); proof != "" {
		ctx = context.WithValue(ctx, proofIDKey{}, proof)
	}
	return caller, context.WithValue(ctx, grantKey{}, grant), release, nil
}

// remoteKey is under which the context of a request holds where it came from.
type remoteKey struct{}

// grantKey is under which the context of a request holds its grant.
type grantKey struct{}

// admit finds the grant of a request's token, or of the user at the other end
// of our socket, and counts the request among those under way.
func (k *Keeper) admit(r *http.Request) (Grant, context.Context, func(), error) {
	text, given, err := bearer(r.Header)
	if err != nil {
		return Grant{}, nil, nil, err
	}
	if !given {
		if _, local := peerIn(r.Context()); local {
			return peerGrant(), r.Context(), func() {}, nil
		}
		return Grant{}, nil, nil, unauthorized("a token is needed here")
	}
	token, err := ParseToken(text)
	if err != nil {
		return Grant{}, nil, nil, unauthorized("this is not a token of this coordinator")
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	grant, release, err := k.enter(ctx, token, cancel)
	if err != nil {
		cancel(err)
		return grant, nil, nil, err
	}
	if err := k.checkDoor(r, grant); err != nil {
		release()
		return grant, nil, nil, err
	}
	k.touch(ctx, grant)
	return grant, ctx, release, nil
}

// checkDoor refuses the token in a person's file where it is unknown who shows it: an
// agent of the same user can read that file.
func (k *Keeper) checkDoor(r *http.Request, grant Grant) error {
	if !grant.Local || grant.Role != c3po.RoleHuman && grant.Role != c3po.RoleAdmin {
		return nil
	}
	if p, onSocket := peerIn(r.Context()); onSocket && (k.lineage == nil || p.pid > 0) {
		return nil
	}
	return c3po.Errorf(c3po.Forbidden, "this token is for the coordinator's socket, and for programs on its own machine").
		Suggest("Use the c3po command there. For a program that speaks HTTP, make a token with `c3po token create`.")
}

// enter checks a token and registers the visit in one step, as revocation sees
// it: either it is found and cancelled, or it was checked after.
func (k *Keeper) enter(ctx context.Context, token Token, cancel context.CancelCauseFunc) (Grant, func(), error) {
	for {
		grant, generation, err := k.grant(ctx, token.KID)
		if err != nil {
			return Grant{}, nil, err
		}
		if err := k.judge(token, grant); err != nil {
			// Only a caller that knows the secret is told, and recorded, as its holder.
			if !token.opens(grant) {
				grant = Grant{}
			}
			return grant, nil, err
		}
		k.mu.Lock()
		if k.generation != generation {
			k.mu.Unlock()
			continue
		}
		v := &visit{cancel: cancel}
		v.end = time.AfterFunc(grant.Expires.Sub(k.now()), func() {
			// Unless its use, here or elsewhere, has postponed the end.
			if err := k.recheck(context.WithoutCancel(ctx), grant.KID); err != nil {
				cancel(errExpired())
			}
		})
		if k.open[grant.KID] == nil {
			k.open[grant.KID] = map[*visit]bool{}
		}
		k.open[grant.KID][v] = true
		k.mu.Unlock()
		return grant, func() { k.leave(grant.KID, v) }, nil
	}
}

func (k *Keeper) leave(kid string, v *visit) {
	k.mu.Lock()
	delete(k.open[kid], v)
	if len(k.open[kid]) == 0 {
		delete(k.open, kid)
	}
	k.mu.Unlock()
	v.end.Stop()
	v.cancel(nil)
}

// judge says whether a token is valid. Only a caller that knows the secret learns that it
// has ended.
func (k *Keeper) judge(token Token, grant Grant) error {
	switch {
	case !token.opens(grant):
		return unauthorized("this is not a token of this coordinator")
	case grant.Revoked:
		return errRevoked()
	case !grant.Live(k.now()):
		return errExpired()
	default:
		return nil
	}
}

// grant reads a grant, from the cache if that is known to be right. One that
// does not exist is the zero Grant, which no token opens.
func (k *Keeper) grant(ctx context.Context, kid string) (Grant, int64, error) {
	now := k.now()
	k.mu.Lock()
	generation := k.generation
	entry, ok := k.cache[kid]
	fresh := now.Sub(entry.read) < maxCacheAge || now.Sub(k.confirmed) < maxCacheAge
	k.mu.Unlock()
	// That it has expired may be news of before it was used elsewhere.
	if ok && fresh && (entry.grant.Revoked || entry.grant.Live(now)) {
		return entry.grant, generation, nil
	}
	grant, ok, err := k.store.Grant(ctx, kid)
	if err != nil || !ok {
		return Grant{}, generation, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.generation == generation {
		k.cache[kid] = cached{grant, now}
	}
	return grant, generation, nil
}

// touch records the use of a token once an hour. Failing to record it refuses no call: a
// full store must stay readable.
func (k *Keeper) touch(ctx context.Context, grant Grant) {
	now := k.now()
	if now.Sub(grant.LastUsed) < touchEvery {
		return
	}
	k.mu.Lock()
	if entry, ok := k.cache[grant.KID]; ok {
		if now.Sub(entry.grant.LastUsed) < touchEvery {
			k.mu.Unlock()
			return // another request does it
		}
		entry.grant.LastUsed = now
		k.cache[grant.KID] = entry
	}
	k.mu.Unlock()
	if err := k.store.TouchGrant(context.WithoutCancel(ctx), grant.KID, life); err != nil {
		k.log.WarnContext(ctx, "cannot note the use of a token", "kid", grant.KID, "err", err)
	}
}
