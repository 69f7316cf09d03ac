package c3po

import "time"

// A Caller is who makes a call, as proved by the door it came through. Only
// package auth makes one; a test holds everybody else to that.
type Caller struct {
	Space   Space
	ID      AgentID // as asked for; empty if the caller named none
	Session string  // the client's own session id, an attribute of the run
	Run     string  // what holds the id: "host:pid:start", a runner's word, or the session
	Epoch   int64   // the epoch the caller believes it has; 0 if it did not say
	Client  string  // "c3po/1.2 claude-code"
	Route   string  // the door: "rest" or "mcp"
	Local   bool    // it is on the coordinator's own host, so that its process numbers mean something here
	PID     int     // the process of that host at the other end, as the kernel says; 0 if nobody can tell
	Role    Role
	Agents  Pattern   // as whom it may act; empty: as anybody
	KID     string    // of its token; empty if it showed none
	Account string    // whose budgets it draws on, whatever it calls itself; empty for a person
	Payer   string    // whose sends are counted, if not the agent's: of callers that share an id
	Expires time.Time // of its token
	// Confined is a program of the coordinator's own user that an agent may have
	// started. It does not act as an agent that another live process here holds.
	Confined bool
	// Closed is the host of a session that has ended, calling for it: the agent stays as it
	// is, offline as a rule, and its name free for whoever opens the session.
	Closed bool
	// Lineage are the runs that the processes before it would have, the nearest
	// first, as the kernel says; empty if nobody can tell.
	Lineage   []string
	AllSpaces bool // it may call in every space, so that it may know what all of them add up to
}

// MayBe says whether the caller may act as an agent.
func (c Caller) MayBe(id AgentID) bool { return c.Agents == "" || c.Agents.Covers(id) }

// A Role says what a caller may do; Operation.Allows says it exactly.
type Role string

// The roles. Agents act for themselves. A runner starts agents and looks after
// them without reading their mail. An observer reads and changes nothing. A
// person answers questions, writes and pauses. An admin may do everything.
const (
	RoleAgent    Role = "agent"
	RoleRunner   Role = "runner"
	RoleObserver Role = "observer"
	RoleHuman    Role = "human"
	RoleAdmin    Role = "admin"
)

// Roles are all of them.
func Roles() []Role { return []Role{RoleAgent, RoleRunner, RoleObserver, RoleHuman, RoleAdmin} }

// Person says whether the caller may act for a person.
func (c Caller) Person() bool { return c.Role == RoleHuman || c.Role == RoleAdmin }

// SeesAll says whether the caller may read what it has no part in.
func (c Caller) SeesAll() bool { return c.Person() || c.Role == RoleObserver }

// Reader names the reader whose mail is remembered as served: the session if
// there is one, else the run, else the one anonymous reader of the id.
func (c Caller) Reader() string {
	switch {
	case c.Session != "":
		return c.Session
	case c.Run != "":
		return c.Run
	default:
		return "anonymous"
	}
}
