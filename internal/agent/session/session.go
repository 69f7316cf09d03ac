// Package session is the MCP server that a coding agent starts on its own host
// and speaks to over stdin and stdout. It is the session: it knows the run and
// the project, holds the one connection to the coordinator, lists its tools
// whether or not there is a coordinator, and answers the client's hooks from
// what it already knows.
//
// It registers nothing because it was started: some clients start a server for
// a moment to see what it offers. A hook or a call makes it begin.
package session

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/transport/mcpserver"
)

// Timeouts bound how long the client waits for the coordinator before it continues
// without an answer. A zero field has its default.
type Timeouts struct {
	// Hook is how long hooks together wait for the agent to be registered; 150 ms.
	Hook time.Duration
	// Refresh bounds the look at the mail that a hook is about to mention; 150 ms.
	Refresh time.Duration
	// FirstAnswer is how long a coordinator is slow before the person reads that it is
	// away. A run without a person waits as long at its end; 2 s.
	FirstAnswer time.Duration
	// Ask bounds the request for an approval; 5 s.
	Ask time.Duration
	// BlockedAsk is Ask for a client that opens its dialog when the hook has ended: with the
	// start of the hook it is short enough to go unnoticed; 120 ms.
	BlockedAsk time.Duration
	// Lease bounds the request for a lease, and with it how long an edit waits; 1 s.
	Lease time.Duration
	// MinLease is the least an edit waits for its lease. It waits no longer for a coordinator
	// that was too late before; 100 ms.
	MinLease time.Duration
	// Commit is how long a commit waits for the leases against it; 2 s.
	Commit time.Duration
	// Register is how long a call waits for the agent to be registered with its whole
	// profile. The call registers it in any case; 1 s.
	Register time.Duration
	// Reach bounds the look that shows whether a session hears of mail; 500 ms.
	Reach time.Duration
	// Goodbye bounds the end of a session: Claude Code gives the hooks of a plugin 1.5 s
	// for it; 1 s.
	Goodbye time.Duration
	// HurriedGoodbye is Goodbye for a coordinator that was silent when it was last asked. It
	// will see that the connection is closed; 50 ms.
	HurriedGoodbye time.Duration
}

func (t Timeouts) withDefaults() Timeouts {
	t.Hook = cmp.Or(t.Hook, 150*time.Millisecond)
	t.Refresh = cmp.Or(t.Refresh, 150*time.Millisecond)
	t.FirstAnswer = cmp.Or(t.FirstAnswer, 2*time.Second)
	t.Ask = cmp.Or(t.Ask, 5*time.Second)
	t.BlockedAsk = cmp.Or(t.BlockedAsk, 120*time.Millisecond)
	t.Lease = cmp.Or(t.Lease, time.Second)
	t.MinLease = cmp.Or(t.MinLease, 100*time.Millisecond)
	t.Commit = cmp.Or(t.Commit, 2*time.Second)
	t.Register = cmp.Or(t.Register, time.Second)
	t.Reach = cmp.Or(t.Reach, 500*time.Millisecond)
	t.Goodbye = cmp.Or(t.Goodbye, time.Second)
	t.HurriedGoodbye = cmp.Or(t.HurriedGoodbye, 50*time.Millisecond)
	return t
}

// Config says whose session process it is. Client is required.
type Config struct {
	Client *client.Client
	// Reach makes another client when the coordinator cannot be reached: it may be
	// elsewhere by now, or have been started only now. Nil, or a nil client, keeps
	// the one there is.
	Reach   func() *client.Client
	Asked   c3po.AgentID       // the id the client asks for
	Profile c3po.RegisterInput // what others are told of the agent
	Rooms   []c3po.RoomName    // that the agent joins whenever it registers
	Run     string             // what holds the id, as the client says it
	// Socket is where the other processes of the run find the session process; nowhere if
	// empty. A file of that name and ".lock" is held by it.
	Socket string
	// Stranger says that what has connected to the socket belongs to another session,
	// which must not hear of this one's mail. If nil, nothing is a stranger.
	Stranger func(net.Conn) bool
	// Off says that the person has switched c3po off here; never if nil.
	Off func() bool
	// Switch lets agents take part, or not, in this project or everywhere; if nil, the
	// session cannot switch it.
	Switch func(on, everywhere bool) error
	// Before is done each time before the agent registers, with the client's session as far
	// as it is known; if it fails the agent does not register. Registered is done when it
	// has an id. Nothing if nil.
	Before     func(ctx context.Context, to *client.Client, session string) error
	Registered func(c3po.AgentID)
	// Approves says that the person wants to decide the client's dialogs from elsewhere
	// too; never if nil.
	Approves func() bool
	// Resumed says that c3po attend has resumed the client's session: a dialog that nobody
	// could answer there is a question to the person.
	Resumed bool
	// Closing says at the end that c3po attend waits for mail in the session's place; never
	// if nil.
	Closing func() bool
	// ApprovalWait is how long a client that opens its dialog only after the hook has ended
	// is kept from it; a minute if zero.
	ApprovalWait time.Duration
	// StalledAfter is how long the session may work on a question without a step before who
	// asked hears of it; DefaultStalledAfter if zero.
	StalledAfter time.Duration
	// Dialect is how the client takes what its hooks are answered.
	Dialect hook.Dialect
	// Rouse starts a turn of an idle session with a line, for a client that has no
	// monitor; nil if it has one, or no such way. It may be long until the turn
	// begins.
	Rouse func(ctx context.Context, session, line string) error
	// Attended says that somebody will give the session further prompts, as far as
	// its client tells.
	Attended bool
	// Unattended says that a script runs the client for its output: mail must not
	// change what it prints. A SessionStart that says otherwise is believed.
	Unattended bool
	// Answers says that the client's owner wants mail answered, attended or not.
	Answers bool
	// Sees looks at the client's process, and at what the client says of itself; may be
	// nil.
	Sees func() Sight
	// Note records when a hook last ran, so that it is known after the session too; may
	// be nil.
	Note func(HookRun)
	// Keep records what it takes to resume the session once it is closed; may be nil.
	Keep  func(Kept)
	Tools []c3po.Toolset // core if none
	// Timeouts bound what the client waits for.
	Timeouts Timeouts
	// Defaults are the values of arguments that a model leaves out, by operation.
	Defaults map[string]map[string]any
	Version  string
	Log      *slog.Logger // discarded if nil
}

// A Session process serves one run of one client.
type Server struct {
	reach        func() *client.Client
	asked        c3po.AgentID
	profile      c3po.RegisterInput
	rooms        []c3po.RoomName
	run          string
	socket       string
	stranger     func(net.Conn) bool
	off          func() bool
	switched     func(on, everywhere bool) error
	before       func(ctx context.Context, to *client.Client, session string) error
	holds        func(c3po.AgentID)
	approves     func() bool
	resumed      bool
	closing      func() bool
	patience     time.Duration
	stalledAfter time.Duration
	timeouts     Timeouts
	dialect      hook.Dialect
	rouse        func(ctx context.Context, conversation, line string) error
	attended     bool
	answers      bool
	sees         func() Sight
	note         func(HookRun)
	keep         func(Kept)
	tools        []c3po.Toolset
	defaults     map[string]map[string]any
	version      string
	log          *slog.Logger

	wanted     chan struct{} // a hook or a call wants the agent to be there
	reportable chan struct{} // there is something to report
	notable    chan struct{} // a hook has run
	keepable   chan struct{} // there may be more to keep of the session
	settling   chan struct{} // there may be questions to withdraw

	leases leases

	counting   sync.Mutex // held while the transcript is read
	transcript transcript

	mu           sync.Mutex
	client       *client.Client
	conversation conversation
	leave        context.CancelFunc // ends the stay of the agent
	wantedOff    bool               // it was wanted while c3po was off
	owes         bool               // the coordinator may have the run, and not know that it is over
	rewait       context.CancelFunc // ends the wait, so that another is held
	state        c3po.SessionState  // what the wait says of the session
	plain        bool               // the coordinator is of a version that knows no states
	settled      chan struct{}      // closed while the agent is registered and its mail known
	tried        chan struct{}      // closed when that is so, or when it has failed
	trouble      error              // why it has
	patient      time.Duration      // how long hooks may still wait for it

	wantedAt   time.Time         // when the agent was wanted that is not there yet
	silent     bool              // the coordinator did not answer the last hook in time
	ran        HookRun           // the last one
	requests   map[*request]bool // dialogs that the person can decide elsewhere
	watched    time.Time         // when the transcript was last looked at for refusals
	typed      time.Time         // when somebody last typed at the terminal; zero if that is not known
	doubtful   map[string]string // keys of calls that failed and may have been carried out, by what they said
	unanswered bool              // nothing shows that the coordinator answers
}

// New makes a Server. It does not connect.
func New(cfg Config) *Server {
	s := &Server{
		client: cfg.Client, reach: cfg.Reach, asked: cfg.Asked, profile: cfg.Profile, rooms: cfg.Rooms, run: cfg.Run, socket: cfg.Socket, stranger: cfg.Stranger, off: cfg.Off, switched: cfg.Switch, before: cfg.Before, holds: cfg.Registered,
		approves: cfg.Approves, resumed: cfg.Resumed, closing: cfg.Closing, patience: cmp.Or(cfg.ApprovalWait, DefaultApprovalWait), stalledAfter: cmp.Or(cfg.StalledAfter, DefaultStalledAfter), requests: map[*request]bool{},
		timeouts: cfg.Timeouts.withDefaults(), dialect: cfg.Dialect, rouse: cfg.Rouse, attended: cfg.Attended, answers: cfg.Answers, sees: cfg.Sees, note: cfg.Note, keep: cfg.Keep, tools: cfg.Tools, defaults: cfg.Defaults, version: cfg.Version, log: cfg.Log,
		wanted: make(chan struct{}, 1), reportable: make(chan struct{}, 1), notable: make(chan struct{}, 1), keepable: make(chan struct{}, 1), settling: make(chan struct{}, 1), settled: make(chan struct{}),
		tried:  make(chan struct{}),
		leases: leases{trees: map[string]*leasedTree{}, underWay: map[string][]string{}, due: make(chan struct{}, 1)},
	}
	s.patient, s.leases.pace.min, s.leases.pace.max = s.timeouts.Hook, s.timeouts.MinLease, s.timeouts.Lease
	if s.before == nil {
		s.before = func(context.Context, *client.Client, string) error { return nil }
	}
	if s.holds == nil {
		s.holds = func(c3po.AgentID) {}
	}
	if s.approves == nil {
		s.approves = func() bool { return false }
	}
	if s.off == nil {
		s.off = func() bool { return false }
	}
	if s.switched == nil {
		s.switched = func(bool, bool) error { return nil }
	}
	if len(s.tools) == 0 {
		s.tools = []c3po.Toolset{c3po.Core}
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.conversation.begin("")
	s.conversation.armsItself = cfg.Dialect.IsClaude() || cfg.Dialect == hook.OpenCode
	s.conversation.alone, s.conversation.scripted = cfg.Unattended && !cfg.Answers, cfg.Unattended
	return s
}

// Run serves until the client closes its end or ctx ends, then ends the session
// of the agent. What the agent was sent stays for the next one.
func (s *Server) Run(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { s.attend(ctx) })
	running.Go(func() { s.report(ctx) })
	running.Go(func() { s.observe(ctx) })
	running.Go(func() { s.settleAsks(ctx) })
	running.Go(func() { s.tidyLeases(ctx) })
	if s.note != nil {
		running.Go(func() { s.noteRuns(ctx) })
	}
	if s.keep != nil {
		running.Go(func() { s.keepSession(ctx) })
	}
	if s.rouse != nil {
		running.Go(func() { s.rousing(ctx) })
	}
	if s.socket != "" {
		running.Go(func() { s.receive(ctx) })
	}
	err := s.server().Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
	if ctx.Err() != nil || hungUp(err) {
		return nil
	}
	return err
}

// hungUp says that the client has closed its end, perhaps while it was being
// answered.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE)
}

func (s *Server) server() *mcp.Server {
	server := mcpserver.New(mcpserver.Config{
		Version: s.version, Features: c3po.Features(), Instructions: s.instructions(), Unshown: loaded, Defaults: s.defaults, Brief: true, Acks: s.acks, Log: s.log,
	}).
		ServerOf(func() c3po.Service { return voice{s.to(), s} }, s.tools)
	server.AddTool(&mcp.Tool{
		Name:        hookTool,
		Description: "For the hooks of the c3po plugin; not for you.",
		InputSchema: map[string]any{"type": "object"},
	}, s.hookCall)
	if s.resumed {
		s.addPromptTool(server)
	}
	server.AddReceivingMiddleware(s.listing, s.calling)
	return server
}

// Owes says that the coordinator still has to be told that the run is over.
func (s *Server) Owes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owes
}

// to is the client of the coordinator as it was last found.
func (s *Server) to() *client.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// search looks for the coordinator anew.
func (s *Server) search() {
	if s.reach == nil {
		return
	}
	found := s.reach()
	if found == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found.SetSession(s.conversation.id)
	s.client = found
}

// remember changes what the session has been told.
func (s *Server) remember(change func(hook.Memory) hook.Memory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conversation.memory = change(s.conversation.memory)
}
