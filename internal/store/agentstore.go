package store

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Record is what is kept of an agent.
type Record struct {
	ID           c3po.AgentID
	RegisteredAt time.Time
	RegSeq       int64  // registration order within the space
	Run          string // what holds the id; empty for the one anonymous run
	Session      string
	Sighted      bool // a coordinator on its host has seen the process of the run
	Epoch        int64
	Seen         time.Time
	Attached     bool              // a live node holds a connection or wait of it
	Node         string            // that one; empty unless it is attached
	State        c3po.SessionState // of its session; empty unless it is attached
	StateAt      time.Time         // since when
	Died         time.Time         // when its host saw that the process of the run has ended; zero if it has not
	Left         bool              // it ended its session, hung up or died, and was not seen since
	Watched      bool              // this node sees the process it declared run; no store keeps that
	Online       bool              // attached; or seen within the online window, if no node claims it; and not gone
	Profile      Profile
	Availability c3po.Availability // "" = available
	CurrentTask  string
	Paused       string           // why; empty if not paused. The space's pause is included
	OutOfQuota   *c3po.OutOfQuota // nil unless it is so now
	Gone         bool             // it ended its session itself, or its host saw its process end
	Rooms        []c3po.RoomName
	Former       []c3po.AgentID // what it was called before, the latest first
}

// Told is what of a record a receipt tells its sender, or is made from.
func (r Record) Told() Record {
	return Record{
		ID: r.ID, Seen: r.Seen, Attached: r.Attached, Node: r.Node, State: r.State, StateAt: r.StateAt, Left: r.Left, Online: r.Online, Availability: r.Availability,
		Paused: r.Paused, Gone: r.Gone, OutOfQuota: r.OutOfQuota,
		Profile: Profile{Capabilities: r.Profile.Capabilities, PID: r.Profile.PID, PIDStart: r.Profile.PIDStart, Heartbeat: r.Profile.Heartbeat},
	}
}

// A QuotaStep says that an agent's model is refused to it because its quota is used up.
type QuotaStep struct {
	Agent    c3po.AgentID  // who says so of itself
	Run      string        // SUPERSEDED if another run holds Agent; empty passes
	For      time.Duration // from now on; 0: it no longer is
	Exact    bool          // its provider has named that time
	Evidence string
}

// A Profile is what an agent says of itself when it registers.
type Profile struct {
	Name         string
	Capabilities []string
	Type         string
	Cwd          string
	Host         string
	PID          int
	PIDStart     int64  // of that process: it is replaced with it
	Metadata     []byte // JSON object or nil
	Heartbeat    int    // seconds; NoHeartbeat takes back one that was declared
	Client       string
}

// NoHeartbeat is an interval that a profile takes back.
const NoHeartbeat = -1

// RegisterStep asks for an id.
type RegisterStep struct {
	Want    c3po.AgentID
	Run     string
	Session string
	// Sighted says that the caller's process was seen on this host. The run stays sighted.
	Sighted bool
	Epoch   int64
	// Explicit is a call of register_agent: it may start over after SUPERSEDED,
	// and what its Profile says replaces what is stored. A field that is zero says
	// nothing; capabilities that are empty and not nil are none.
	Explicit bool
	Profile  Profile
	// Agents covers the ids that may be given; all if empty.
	Agents c3po.Pattern
}

// Registration is the id that was given.
type Registration struct {
	Record Record
	Unread int
	Owed   int // dead letters that come back with their recipient
	Now    time.Time
}

type agentStore interface {
	// Register gives the caller an id. With an empty Run it is Want itself,
	// created if need be, never a collision, and the stored run is untouched.
	// Otherwise, in this order:
	//  1. the id among Want, Want-2, Want-3, … that this run already holds;
	//  2. if not Explicit and this run was ousted from Want, or Epoch is given and lower
	//     than that of Want while another run holds it: SUPERSEDED;
	//  3. the id this session last had (if it derives from Want), if its run is not online;
	//  4. the first of Want, Want-2, … that does not exist, has the anonymous
	//     run, or whose run is not online. Taking an existing id over raises its
	//     epoch; the run before is ousted.
	// An id that Agents does not cover is never given: FORBIDDEN if no other is left,
	// or if the caller follows an agent that is called so now.
	// The agent is seen now and no longer gone. A non-explicit call of a known
	// agent leaves its profile alone (Client is always stored). It works for an
	// agent that exists when the store is full; a new one is STORE_FULL.
	Register(ctx context.Context, space c3po.Space, step RegisterStep) (Registration, error)
	// Unregister ends the session: offline at once. It reports whether there was one.
	// A run other than the one that holds the id ends nothing. A session that ends because
	// it is closed has the host that stands in for it attached at once, at the node standIn;
	// that is empty for all others.
	Unregister(ctx context.Context, space c3po.Space, id c3po.AgentID, run, standIn string) (bool, error)
	// Die says that the process of a run has ended: the agent is offline at once. It
	// reports whether the run held the id and was not known to be dead. The next run
	// that registers ends it. The host of a session that had closed before stays attached. It
	// works when the store is full.
	Die(ctx context.Context, space c3po.Space, id c3po.AgentID, run string) (bool, error)
	// DieDeclared says that the process an agent declared is not there: the agent is
	// offline at once, until it calls again. Only one that holds a connection stays, if
	// the process never was there: it lives elsewhere. It reports whether that
	// is still the process it declares, and was not known to be dead. Declaring one
	// again ends it.
	DieDeclared(ctx context.Context, space c3po.Space, id c3po.AgentID, process Declared) (bool, error)
	// SetStatus stores availability and task.
	SetStatus(ctx context.Context, space c3po.Space, id c3po.AgentID, run string, a c3po.Availability, task string) error
	// SetQuota records for how long an agent is out of quota. That ends by itself, with
	// the next run of the agent, or when it says so. It works when the store is full.
	SetQuota(ctx context.Context, space c3po.Space, step QuotaStep) error
	// SetPaused pauses (why not empty) or resumes an agent; an empty id means the
	// whole space. AGENT_NOT_FOUND if there is no such agent. It works when the
	// store is full.
	SetPaused(ctx context.Context, space c3po.Space, id c3po.AgentID, why string) error

	// Reads.

	// Agents returns the records of ids, in that order, leaving out unknown ones.
	Agents(ctx context.Context, space c3po.Space, ids []c3po.AgentID) ([]Record, error)
	// AgentPage returns up to limit records that registered after RegSeq after.
	AgentPage(ctx context.Context, space c3po.Space, after int64, limit int) ([]Record, error)
	// Named returns up to limit ids whose bare name is name.
	Named(ctx context.Context, space c3po.Space, name string, limit int) ([]c3po.AgentID, error)
	// Neighbours returns up to limit ids whose bare names sort just before and
	// after name, and Recent the ids seen last.
	Neighbours(ctx context.Context, space c3po.Space, name string, limit int) ([]c3po.AgentID, error)
	Recent(ctx context.Context, space c3po.Space, limit int) ([]c3po.AgentID, error)
	// OnlineCount is the number of agents online.
	OnlineCount(ctx context.Context, space c3po.Space) (int, error)
}
