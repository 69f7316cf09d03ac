// Package attend resumes closed sessions: it waits for the mail of agents whose session has
// ended and whose person has agreed, and for mail that expects an answer it starts the
// session's own client once, without a terminal, to answer and end. A session that is open
// is the person's, and is left alone.
package attend

import (
	"context"
	"log/slog"
	"os/exec"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

const (
	// scanEvery is how often it is seen which sessions there are and which are allowed.
	scanEvery = time.Second
	// lookEvery is how often it is seen whether one is open: a look reads a small file.
	lookEvery = 250 * time.Millisecond
	// seekEvery is how often all processes are looked at for a client that waits.
	seekEvery = time.Second
)

// Config says what is attended to, and how.
type Config struct {
	Folders paths.Folders
	// Client acts for the agent of a session, which stays closed.
	Client func(paths.Session) (*client.Client, error)
	// Command resumes a session with a prompt, in the mode that the person chose or a more
	// restrictive one, which it tells; an error says that its client cannot.
	Command func(s paths.Session, chosen, prompt string) (cmd *exec.Cmd, mode string, err error)
	// Lives says that the process of a run is there.
	Lives func(run string) bool
	// Awaited says that a person's client waits at its terminal for a session that another
	// process has. Nobody waits if nil.
	Awaited func(paths.Session) bool
	// ReportEnded tells the coordinator of runs on this host that are over.
	ReportEnded func(ctx context.Context, s paths.Session) error
	Host        string
	Log         *slog.Logger
}

// A Service attends to the closed sessions of one user on one host.
type Service struct {
	cfg Config

	mu     sync.Mutex
	starts map[c3po.AgentID][]time.Time
}

// New makes a Service. It starts nothing.
func New(cfg Config) *Service {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Awaited == nil {
		cfg.Awaited = func(paths.Session) bool { return false }
	}
	return &Service{cfg: cfg}
}

// A running keeper is for one session, as long as that is the one to resume.
type running struct {
	session paths.Session
	stop    context.CancelFunc
	done    chan struct{}
}

// Run attends to sessions until ctx ends. Another process that does so keeps it from
// beginning.
func (s *Service) Run(ctx context.Context) error {
	lock, err := s.cfg.Folders.AttendLock()
	if err != nil {
		return err
	}
	if lock == nil {
		return c3po.Errorf(c3po.InvalidRequest, "closed sessions are attended to already on this host").
			Suggest("`c3po attend list` shows them. c3po up attends to them too.")
	}
	defer lock.Release()
	if s.starts, err = s.cfg.Folders.Starts(); err != nil {
		return err
	}
	keepers := map[c3po.AgentID]running{}
	defer func() {
		for _, k := range keepers {
			k.stop()
			<-k.done
		}
	}()
	tick := time.NewTicker(scanEvery)
	defer tick.Stop()
	trouble := ""
	for {
		wanted, err := s.wanted()
		if err != nil && err.Error() != trouble {
			trouble = err.Error()
			s.cfg.Log.ErrorContext(ctx, "cannot see which sessions may be resumed", "err", err)
		}
		for id, k := range keepers {
			if now, still := wanted[id]; !still || now.ID != k.session.ID {
				k.stop()
				<-k.done
				delete(keepers, id)
			}
		}
		for id, w := range wanted {
			if _, kept := keepers[id]; !kept {
				keepers[id] = s.keep(ctx, w)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// wanted are the sessions that mail may resume: of each agent the last, if its person has
// agreed and not switched c3po off there.
func (s *Service) wanted() (map[c3po.AgentID]paths.Session, error) {
	consents, err := s.cfg.Folders.Consents()
	if err != nil || len(consents) == 0 {
		return nil, err
	}
	all := map[c3po.AgentID]paths.Session{}
	for _, one := range Last(s.cfg.Folders.Sessions()) {
		if _, ok := Permitted(one, consents); ok && !s.cfg.Folders.Off(one.Folder) {
			all[one.Agent] = one
		}
	}
	return all, nil
}

// Permitted is the mode in which mail may resume a session, if it may.
func Permitted(s paths.Session, by paths.Consents) (mode string, ok bool) {
	consent, ok := by.For(s.Agent)
	if !ok {
		return "", false
	}
	return Clients()[s.Client].Mode(consent.Mode)
}

// Last is of each agent the session it had last, if something was said in it.
func Last(sessions []paths.Session) []paths.Session {
	at := map[c3po.AgentID]int{}
	var last []paths.Session
	for _, one := range sessions {
		if one.Agent == "" || !one.Said {
			continue
		}
		if i, known := at[one.Agent]; known {
			last[i] = one
			continue
		}
		at[one.Agent] = len(last)
		last = append(last, one)
	}
	return last
}

func (s *Service) keep(ctx context.Context, session paths.Session) running {
	ctx, stop := context.WithCancel(ctx)
	k := &keeper{Service: s, session: session, left: map[c3po.MessageID]bool{}, log: s.cfg.Log.With("agent", session.Agent, "session", session.ID)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.run(ctx)
	}()
	return running{session: session, stop: stop, done: done}
}
