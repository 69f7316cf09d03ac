package auth

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// bearer reads the token of a request.
func bearer(header http.Header) (text string, given bool, err error) {
	values := header.Values("Authorization")
	if len(values) == 0 {
		return "", false, nil
	}
	scheme, text, _ := strings.Cut(values[0], " ")
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return "", true, unauthorized("the Authorization header is not one bearer token")
	}
	return strings.TrimSpace(text), true, nil
}

func unauthorized(sentence string) *c3po.Error {
	return c3po.Errorf(c3po.Unauthorized, "%s", sentence).
		Suggest("On the coordinator's machine run `c3po up`; on another one run `c3po join` with what `c3po invite` printed there. By hand, with curl for example: send the header Authorization: Bearer TOKEN, with what `c3po token create` printed; a coordinator started with `--auth none` asks for none.")
}

func errRevoked() *c3po.Error { return unauthorized("this token was revoked") }
func errExpired() *c3po.Error { return unauthorized("this token has expired") }

// Challenge says in HTTP's own words what a refused caller lacks.
func Challenge(header http.Header, err *c3po.Error) {
	if err.Code == c3po.Unauthorized {
		header.Set("WWW-Authenticate", `Bearer realm="c3po"`)
	}
}

// peerGrant is what the user at the other end of our own socket may do: be any
// agent of this machine. What is a person's to do needs a token there too.
func peerGrant() Grant {
	g := LocalGrant(c3po.RoleAgent, "")
	g.Local = true
	return g
}

// everySpace is every space, and the default one for a caller that names no space.
func everySpace() []string { return []string{string(c3po.DefaultSpace), "*"} }

// bind holds what a caller says of itself against what it was granted.
func (g Grant) bind(c c3po.Caller, spaceGiven bool) (c3po.Caller, error) {
	c.Role, c.KID, c.Expires, c.AllSpaces = g.Role, g.KID, g.Expires, slices.Contains(g.Spaces, "*")
	if !c.Person() {
		c.Account = g.account()
	}
	if g.Role == c3po.RoleAgent || g.Role == c3po.RoleRunner {
		c.Agents = c3po.Pattern(g.Pattern)
	}
	if !spaceGiven {
		home, ok := homeSpace(g.Spaces)
		if !ok {
			return c3po.Caller{}, c3po.Errorf(c3po.InvalidRequest, "this token is for several spaces").
				Suggest("Say which one with the header %s, or C3PO_SPACE for our own clients.", SpaceHeader)
		}
		c.Space = home
	}
	if !inSpaces(g.Spaces, c.Space) {
		// The same words whether or not there is such a space.
		return c3po.Caller{}, c3po.Errorf(c3po.Forbidden, "this token is not for the space '%s'", c.Space).
			Suggest("Use a space the token is for, or a token of that space.")
	}
	var err error
	c.ID, err = g.actAs(c.ID)
	return c, err
}

// account is whose budgets the holder draws on. All callers over the coordinator's own
// socket without a token are processes of its user, and share one account.
func (g Grant) account() string { return cmp.Or(g.Account, g.KID, "uid "+strconv.Itoa(os.Getuid())) }

// Known says on whose account a request is before it was admitted, if it shows what
// was let in here before; it asks no store. Any text can be shown as a token.
func (k *Keeper) Known(r *http.Request) (account string, ok bool) {
	if k.mode == None {
		return RemoteOf(r), true
	}
	text, given, err := bearer(r.Header)
	if _, local := peerIn(r.Context()); !given && err == nil && local {
		return peerGrant().account(), true
	}
	token, err := ParseToken(text)
	if err != nil {
		return "", false
	}
	k.mu.Lock()
	entry := k.cache[token.KID]
	k.mu.Unlock()
	if k.judge(token, entry.grant) != nil {
		return "", false
	}
	return entry.grant.account(), true
}

// actAs is the id the holder has if it asks for one.
func (g Grant) actAs(id c3po.AgentID) (c3po.AgentID, error) {
	switch g.Role {
	case c3po.RoleObserver:
		// Looking makes no agent of anybody.
		return "", nil
	case c3po.RoleHuman:
		if id != "" && id != c3po.Human {
			return "", c3po.Errorf(c3po.Forbidden, "a person's token is not for acting as the agent '%s'", id).
				Suggest("Leave out %s: a person acts as '%s'.", AgentHeader, c3po.Human)
		}
		return c3po.Human, nil
	case c3po.RoleAdmin:
		return id, nil
	}
	if id == "" {
		return "", nil
	}
	if host := hostOf(g.Pattern); host != "" && id.Host() == "" && !id.Reserved() {
		id = c3po.AgentID(host + "/" + string(id))
	}
	if !c3po.Pattern(g.Pattern).Covers(id) {
		return "", c3po.Errorf(c3po.Forbidden, "this token is not for acting as '%s'", id).
			Suggest("It is for %s.", c3po.Pattern(g.Pattern).Words())
	}
	return id, nil
}

var processRun = regexp.MustCompile(`^[^:]+:[0-9]+:[0-9]+$`)

const (
	noteRunEvery = 24 * time.Hour
	// maxNoted keeps programs that come and go from filling memory. What is forgotten
	// is asked of the store once more.
	maxNoted = 10_000
)

// checkRun remembers the processes of agents, and refuses a person's acts that
// come out of one of them, and a run that is not the caller's own.
func (k *Keeper) checkRun(ctx context.Context, r *http.Request, caller c3po.Caller, grant Grant) (c3po.Caller, error) {
	started := k.startedBy(r)
	if started.nobody != nil && (caller.Person() || grant.Local || processRun.MatchString(caller.Run)) {
		return caller, started.nobody
	}
	if caller.Person() {
		return caller, k.checkAncestors(ctx, started.runs)
	}
	if grant.Role != c3po.RoleAgent {
		return caller, nil
	}
	if processRun.MatchString(caller.Run) {
		if err := k.checkOwn(ctx, started, caller.Run, grant); err != nil {
			return caller, err
		}
		k.noteRun(ctx, caller.Run)
		if client := started.client(caller); client != "" && !k.isPersonal(client) {
			k.noteRun(ctx, client)
		}
	}
	if !grant.Local || caller.ID == "" || started.proved && slices.Contains(started.runs, caller.Run) {
		return caller, nil
	}
	return k.confine(ctx, r, caller, started)
}

// confine marks a caller of the coordinator's user that does not name its own process.
// Somebody at a shell may act as any agent; a program that an agent has started, or that
// may have been, is held to what its own session holds.
func (k *Keeper) confine(ctx context.Context, r *http.Request, caller c3po.Caller, started origins) (c3po.Caller, error) {
	if started.proved {
		above, err := k.store.AgentRun(ctx, started.runs)
		if err == nil && above != "" {
			caller.Confined, caller.Lineage = true, started.runs
		}
		return caller, err
	}
	// On a socket of a system that cannot tell, callers are believed.
	_, onSocket := peerIn(r.Context())
	caller.Confined = !onSocket && k.lineage != nil
	return caller, nil
}

// noteRun remembers that a process is an agent's.
func (k *Keeper) noteRun(ctx context.Context, run string) {
	if !k.claimDaily(run) {
		return
	}
	if err := k.store.NoteRun(context.WithoutCancel(ctx), run); err != nil {
		k.log.WarnContext(ctx, "cannot note the run of an agent", "run", run, "err", err)
		k.forget(run)
	}
}

// claimDaily says that something was not done for a day, and takes it for done.
func (k *Keeper) claimDaily(what string) bool {
	now := k.now()
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.noted[what]) < noteRunEvery {
		return false
	}
	if len(k.noted) >= maxNoted {
		clear(k.noted)
	}
	k.noted[what] = now
	return true
}

func (k *Keeper) forget(what string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.noted, what)
}

// origins are the runs that the processes before a request would have.
type origins struct {
	runs   []string
	proved bool // the kernel named them, not the caller
	// nobody is why it cannot be told on a socket where it should be: such a caller
	// may be an agent, and is no person's nor a session's.
	nobody *c3po.Error
}

// SharedDaemon is the client one process of which has several sessions. Each is held
// by a process of ours beside what the client starts, and not above it.
const SharedDaemon = "codex"

// client is the run of the coding agent, where its session process has a different one;
// else empty.
func (o origins) client(caller c3po.Caller) string {
	at := slices.Index(o.runs, caller.Run)
	if !o.proved || at < 0 || at+1 >= len(o.runs) || !strings.HasSuffix(caller.Client, " "+SharedDaemon) {
		return ""
	}
	return o.runs[at+1]
}

// startedBy finds out what has started the process that makes a request. On our
// own socket the kernel says which process that is. Elsewhere the caller does, and
// may leave out what it likes.
func (k *Keeper) startedBy(r *http.Request) origins {
	if p, local := peerIn(r.Context()); local && p.pid > 0 && k.lineage != nil {
		runs, whole := k.lineage(p.pid)
		switch {
		case len(runs) == 0 || p.start == 0 || startIn(runs[0]) != p.start:
			return origins{nobody: c3po.Errorf(c3po.Forbidden, "the process that opened this connection has ended, so nobody can tell who calls").
				Suggest("This call was not carried out. Call again over a connection of your own.")}
		case !whole:
			return origins{nobody: c3po.Errorf(c3po.Forbidden, "nobody can tell what has started this process: it stands below too many, or one of them cannot be seen").
				Suggest("This call was not carried out. Call again; if it stays so, call from nearer to the terminal or the session.")}
		}
		return origins{runs: runs, proved: true}
	}
	given := r.Header.Get(AncestorsHeader)
	if given == "" {
		return origins{}
	}
	return origins{runs: strings.Split(given, ",")}
}

// startIn is when the process of a run started.
func startIn(run string) int64 {
	process, _ := c3po.ParseProcessRun(run)
	return process.Start
}

// checkOwn refuses the run of a process of this machine that has not started the caller,
// or that stands above the agent that has: claiming the run of a person's shell would
// lock the person out.
func (k *Keeper) checkOwn(ctx context.Context, started origins, run string, grant Grant) error {
	if !started.proved {
		if !grant.Local || k.lineage == nil || hostIn(run) != k.host {
			return nil
		}
		return c3po.Errorf(c3po.Forbidden, "nothing proves here that the process %s calls", run).
			Suggest("Call over the coordinator's socket, as the c3po command does; elsewhere use a token made with `c3po token create`.")
	}
	at := slices.Index(started.runs, run)
	if at == 0 || at < 0 && hostIn(run) != hostIn(started.runs[0]) {
		return nil
	}
	if at > 0 {
		// The parents of a process do not change, so one answer is good for a while.
		asked := started.runs[0] + " " + run
		if !k.claimDaily(asked) {
			return nil
		}
		if slices.ContainsFunc(started.runs[1:at+1], k.isPersonal) {
			k.forget(asked)
			return c3po.Errorf(c3po.Forbidden, "the process %s is no agent: a person types into it, or into one below it", run).
				Suggest("Leave out %s, or name the process of the agent.", RunHeader)
		}
		between, err := k.store.AgentRun(ctx, started.runs[:at])
		if err == nil && between == "" {
			return nil
		}
		k.forget(asked)
		if err != nil {
			return err
		}
	}
	return c3po.Errorf(c3po.Forbidden, "the process %s has not started this one, or an agent stands between them", run).
		Suggest("Leave out %s, or name a process that has started this one.", RunHeader)
}

// isPersonal says that the process of a run is a person's own.
func (k *Keeper) isPersonal(run string) bool {
	process, ok := c3po.ParseProcessRun(run)
	return ok && k.personal != nil && k.personal(process.PID)
}

func hostIn(run string) string {
	host, _, _ := strings.Cut(run, ":")
	return host
}

// OwnTerminal is what a person is told who is taken for an agent.
const OwnTerminal = "Run it in a terminal of your own, outside the program that runs the agent: a terminal inside an editor counts as its agents'. " +
	"What you do often, do on the dashboard: `c3po open` there."

// checkAncestors refuses a person's act if an agent is among what has started it.
func (k *Keeper) checkAncestors(ctx context.Context, runs []string) error {
	run, err := k.store.AgentRun(ctx, runs)
	if err != nil || run == "" {
		return err
	}
	return c3po.Errorf(c3po.Forbidden, "this is for a person to do, and it was started by an agent (process %s)", run).
		Suggest("%s", OwnTerminal)
}
