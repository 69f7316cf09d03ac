package c3po

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
	Role    Role
}

// A Role says what a caller may do.
type Role string

// The roles. Agents act for themselves; a person answers questions and pauses.
const (
	RoleAgent Role = "agent"
	RoleHuman Role = "human"
	RoleAdmin Role = "admin"
)

// Person says whether the caller may act for a person.
func (c Caller) Person() bool { return c.Role == RoleHuman || c.Role == RoleAdmin }

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
