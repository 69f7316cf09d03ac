// Package doctor judges what was found out about a host and its coordinator: for
// each check a verdict, and for each that is not green what to do. It finds
// nothing out itself, so every verdict can be had without the trouble.
package doctor

import (
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Verdict is how bad it is.
type Verdict string

// Green is well. Yellow works, with something to mend. Red does not work.
const (
	Green  Verdict = "green"
	Yellow Verdict = "yellow"
	Red    Verdict = "red"
)

// A Finding is the result of one check.
type Finding struct {
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Says    string  `json:"says"`
	Fix     string  `json:"fix,omitempty"`
}

// Facts are what was found out.
type Facts struct {
	Now     time.Time
	Version string // of this program
	Program string // its file
	OnPath  string // what the PATH has under its name; empty if nothing
	Config  error  // why c3po.yaml cannot be used
	OffHere bool   // a person has switched c3po off, here or everywhere
	Files   []File
	Disk    *int64       // bytes that are free where c3po keeps its files; nil if nobody knows
	Name    c3po.AgentID // that an agent in this folder asks for
	Entries []Entry      // in files of this project
	Exposed []Exposed    // files of this project that hold a token
	Clients []Client

	Sessions []Session // of this host

	Coordinator Coordinator
}

// A File holds secrets, so only its owner may read it.
type File struct {
	Name string
	Open bool  // others may read it
	Err  error // it cannot be used
}

// A Client is a coding agent that is on this host.
type Client struct {
	Name      string
	Err       error // it could not be asked
	Installed bool
	Off       bool
	Stale     []string // files of the plugin that are not those of this program
	Missing   []string // hooks that its files should name, and do not
	Binary    string   // the program that its hooks start; empty if there is none
	Fix       string   // the command that installs
	Type      string   // as its sessions call it
	LastHook  *HookRun // nil if none is known
}

// A HookRun is the last time a hook was answered.
type HookRun struct {
	Event string
	Agent c3po.AgentID
	At    time.Time
	Took  time.Duration
}

// A Session is one of a coding agent on this host, as its session process knows it.
type Session struct {
	Agent     c3po.AgentID
	Asked     c3po.AgentID // the id it would rather have; empty if it has it
	PID       int
	Type      string // of the client
	Folder    string
	Trouble   string
	Connected bool
	Hooked    bool // a hook of it was answered
}

// A Coordinator is what was found out about it, as far as it could be asked.
type Coordinator struct {
	URL   string
	Other bool  // it is another host's, which this host has joined or where its user has signed in
	Err   error // it does not answer, or is unwell
	// NoRedis is why none can be started here; nil if one can, or none is needed.
	NoRedis error
	TLS     TLS
	Info    *c3po.ServerInfo
	Why     error         // there is no Info
	Round   time.Duration // of one call that asks Redis
	Skew    time.Duration // how far the clock of Redis is before ours
	// Person is why the credentials of the person do not work here.
	Person error
	// PasskeysEnd is when all passkeys are forgotten, if somebody asked for that.
	PasskeysEnd time.Time
	Trip        *Trip // nil if it was not tried
	Audit       *c3po.Audit
	Corrupt     int         // dead letters that were found damaged
	Holder      *c3po.Agent // who has the name that an agent in this folder asks for, and is online
}

// TLS is how the coordinator proves itself.
type TLS struct {
	Secure  bool      // it speaks TLS
	Near    bool      // on this machine, where nobody is in between
	Pinned  bool      // its authority was stored when this host joined
	Expires time.Time // of that authority
}

// A Trip is a message that was sent to oneself, read and acked.
type Trip struct {
	Took time.Duration
	Err  error
}

// Examine makes all checks, in the order a person would.
func Examine(f Facts) []Finding {
	all := []Finding{f.program(), f.config()}
	all = append(all, f.files()...)
	all = append(all, f.disk()...)
	all = append(all, f.coordinator()...)
	all = append(all, f.switchFinding())
	for _, c := range f.Clients {
		all = append(all, c.finding(), f.hooks(c))
	}
	all = append(all, f.project()...)
	return append(all, f.sessions()...)
}

// Worst is the verdict on all together.
func Worst(all []Finding) Verdict {
	worst := Green
	for _, f := range all {
		switch {
		case f.Verdict == Red:
			return Red
		case f.Verdict == Yellow:
			worst = Yellow
		}
	}
	return worst
}

func green(check, format string, args ...any) Finding {
	return Finding{Check: check, Verdict: Green, Says: fmt.Sprintf(format, args...)}
}

func yellow(check, fix, format string, args ...any) Finding {
	return Finding{Check: check, Verdict: Yellow, Says: fmt.Sprintf(format, args...), Fix: fix}
}

func red(check, fix, format string, args ...any) Finding {
	return Finding{Check: check, Verdict: Red, Says: fmt.Sprintf(format, args...), Fix: fix}
}

// trouble is an error of ours as a finding.
func trouble(check string, err error) Finding {
	e := c3po.AsError(err)
	return red(check, e.Suggestion, "%s", e.Message)
}
