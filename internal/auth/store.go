package auth

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Grant is what the coordinator knows of a token. The token itself is known
// to its holder alone.
type Grant struct {
	KID  string // names the token; no secret
	Hash string // hex SHA-256 of the secret
	Role c3po.Role
	// Spaces are names or patterns ("team", "repo-*"). The first, if it is a name, is the
	// space of a caller that names none.
	Spaces []string
	// Pattern says which agent ids the holder may act as: "build-box/*". A * is
	// any text within one part, never across the slash. Empty is every id, which
	// only an admin may have, and none for all others.
	Pattern     string
	Label       string
	Created     time.Time
	Expires     time.Time
	LastUsed    time.Time // zero if never
	Fixed       bool      // use does not move its end away
	SuccessorOf string    // the KID this one replaces, if it does
	Revoked     bool
	// Local is a token that lies in a file of the coordinator's own user. A
	// person's or an admin's is good over the socket alone, where the kernel says
	// which process shows it.
	Local bool
	// Account is the KID whose budgets its holder draws on, if not its own: a runner's
	// tokens share the runner's, and a rotated token keeps the ones it had.
	Account string
}

// Live says whether the grant is worth anything at that time.
func (g Grant) Live(now time.Time) bool { return !g.Revoked && now.Before(g.Expires) }

// An Invite lets one host in, once.
type Invite struct {
	ID      string
	Hash    string // hex SHA-256 of the secret
	Host    string // the host it is for; empty leaves the name to the host
	Person  bool   // it is for the person who uses the host, and not for its agents
	Runner  bool   // the host also gets a runner's token
	Spaces  []string
	Expires time.Time
	Tries   int // wrong ones, so far
	Used    bool
}

// InviteTries is how many wrong secrets an invite bears before it is burned.
const InviteTries = 10

// An InviteOutcome is how an attempt to use an invite ended.
type InviteOutcome string

// The outcomes. Only the first one lets a host in; a caller that may be guessing sees no
// difference between the others.
const (
	InviteSpent   InviteOutcome = "spent"
	InviteUnknown InviteOutcome = "unknown"
	InviteWrong   InviteOutcome = "wrong"
	InviteExpired InviteOutcome = "expired"
	InviteUsed    InviteOutcome = "used"
	InviteBurned  InviteOutcome = "burned"
)

// An AuditEntry is one thing that somebody will ask about later.
type AuditEntry struct {
	ID     string    `json:"id"` // given by the store; goes up
	At     time.Time `json:"at"` // given by the store
	Event  string    `json:"event"`
	KID    string    `json:"kid,omitempty"` // the token it was done with, or to
	Role   c3po.Role `json:"role,omitempty"`
	Space  string    `json:"space,omitempty"`
	Agent  string    `json:"agent,omitempty"`
	Remote string    `json:"remote,omitempty"` // address it came from
	Detail string    `json:"detail,omitempty"` // words of ours, never a secret
	N      int64     `json:"n,omitempty"`      // given by the store, with what follows: its place in the chain
	Prev   string    `json:"prev,omitempty"`
	Hash   string    `json:"hash,omitempty"`
}

// The events of the audit.
const (
	EventTokenCreated  = "token_created"
	EventTokenRevoked  = "token_revoked"
	EventTokenRotated  = "token_rotated"
	EventAuthFailed    = "auth_failed"
	EventForbidden     = "forbidden"
	EventPersonAct     = "person_act"
	EventInvited       = "invited"
	EventJoined        = "joined"
	EventJoinRefused   = "join_refused"
	EventLinkMade      = "link_made"
	EventLogin         = "login"
	EventLoginRefused  = "login_refused"
	EventImported      = "imported"
	EventButtonRefused = "button_refused"
	EventPasskey       = "passkey"
	EventProofRefused  = "proof_refused"
)

// Refusal says that an entry tells of somebody who was not let in or not heard.
func (e AuditEntry) Refusal() bool { return c3po.AuditEntry(e).Refusal() }

// Store keeps what authentication needs, for all coordinators alike. It has no
// spaces: a grant may be for several.
type Store interface {
	// PutGrant stores a new grant, or replaces one of the same KID. Created is
	// the store's time if zero.
	PutGrant(ctx context.Context, g Grant) error
	// Grant finds a grant; false if there is none.
	Grant(ctx context.Context, kid string) (Grant, bool, error)
	// Grants are all of them, oldest first, the ended ones included for a month.
	Grants(ctx context.Context) ([]Grant, error)
	// Revoke ends a grant for good. It reports whether there is one.
	Revoke(ctx context.Context, kid string) (bool, error)
	// Changes names the grants that were put or revoked after a revision, and
	// gives the present one. A negative revision asks for the present one alone.
	Changes(ctx context.Context, after int64) (kids []string, revision int64, err error)
	// TouchGrant notes that a grant was used, and unless it is Fixed moves its end
	// to that life from now. What has ended stays so.
	TouchGrant(ctx context.Context, kid string, life time.Duration) error

	// NoteRun remembers for a week that a run is an agent's.
	NoteRun(ctx context.Context, run string) error
	// AgentRun gives the first of these runs that is an agent's; empty if none is.
	AgentRun(ctx context.Context, runs []string) (string, error)

	PutInvite(ctx context.Context, i Invite) error
	// SpendInvite uses an invite up, in one step: it is for one use, until its
	// end, and burned by InviteTries wrong hashes.
	SpendInvite(ctx context.Context, id, hash string) (Invite, InviteOutcome, error)

	PutLink(ctx context.Context, l Link) error
	// SpendLink uses a link up, in one step and by the rules of invites.
	SpendLink(ctx context.Context, id, hash string) (Link, InviteOutcome, error)

	// PutPasskey stores a text about a passkey, or about all of them, under a name.
	PutPasskey(ctx context.Context, name, text string) error
	// Passkeys are these texts by their names.
	Passkeys(ctx context.Context) (map[string]string, error)

	// PutProof stores an act that waits for a signature, and gives its end.
	PutProof(ctx context.Context, id, act string, life time.Duration) (time.Time, error)
	// Proof finds one; false if there is none.
	Proof(ctx context.Context, id string) (ProofRecord, bool, error)
	// SignProof adds the signature, once and before the end.
	SignProof(ctx context.Context, id, signature string) (ProofOutcome, error)
	// SpendProof uses a proof up, in one step: it is for one use, until its end.
	SpendProof(ctx context.Context, id string) (ProofOutcome, error)

	// Authority gives the one secret all coordinators share (CA and leaf key, as
	// one opaque text). If there is none it stores what propose makes; if several
	// do so at once the first one wins, for all of them.
	Authority(ctx context.Context, propose func() ([]byte, error)) ([]byte, error)

	// Audit appends an entry to its chain, in one step, and gives it with its place
	// there. The newest c3po.AuditKept of each chain are kept.
	Audit(ctx context.Context, e AuditEntry) (AuditEntry, error)
	// AuditHeads says how far the chains go, whatever is kept of them.
	AuditHeads(ctx context.Context) (c3po.AuditHeads, error)
	// AuditTail gives entries after an ID, oldest first; after the empty ID the
	// newest ones.
	AuditTail(ctx context.Context, after string, limit int) ([]AuditEntry, error)
}
