// Package verify proves that mail arrives. It sends a probe through each way by
// which this host delivers, as its clients would use it, and believes only what
// the coordinator has recorded: the trace of that probe.
//
// Probes go from an agent of its own to itself, so nobody else is woken.
package verify

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Service is what is asked of the coordinator, as the probe agent.
type Service interface {
	RegisterAgent(context.Context, c3po.RegisterInput) (c3po.Self, error)
	Unregister(context.Context, c3po.None) (c3po.Unregistered, error)
	SendMessage(context.Context, c3po.SendInput) (c3po.Receipt, error)
	GetMessages(context.Context, c3po.GetMessagesInput) (c3po.MessageList, error)
	Peek(context.Context, c3po.GetMessagesInput) (c3po.MessageList, error)
	WaitForMessage(context.Context, c3po.WaitInput) (c3po.WaitResult, error)
	AckMessages(context.Context, c3po.AckInput) (c3po.AckResult, error)
	Cancel(context.Context, c3po.MessageInput) (c3po.CancelResult, error)
	Trace(context.Context, c3po.MessageInput) (c3po.Trace, error)
}

// A Verdict is how a path did.
type Verdict string

// The verdicts. A path is skipped when what it stands on has failed.
const (
	Passed  Verdict = "passed"
	Failed  Verdict = "failed"
	Skipped Verdict = "skipped"
)

// A Result is what was found about one path.
type Result struct {
	Path    string         `json:"path"`
	Verdict Verdict        `json:"verdict"`
	Says    string         `json:"says"`
	Fix     string         `json:"fix,omitempty"`
	Probe   c3po.MessageID `json:"probe,omitempty"`
	TookMS  int64          `json:"took_ms"`
	Code    c3po.Code      `json:"code,omitempty"` // of an error of the coordinator's
}

// Config says what to verify. Service, Session and Own are required.
type Config struct {
	Service Service
	Profile c3po.RegisterInput // of the probe agent
	Session string             // by which the coordinator knows the reader that Service is
	Own     Command            // starts the tools of this program itself
	Clients []Client           // that are installed on this host
	Limit   time.Duration      // for one path; 10 s if 0
}

// The paths that every host has.
const (
	PathREST  = "rest"
	PathWait  = "wait"
	PathTools = "tools"
)

const (
	defaultLimit = 10 * time.Second
	pollEvery    = 50 * time.Millisecond
	cleanTimeout = 5 * time.Second
)

// run is one verification.
type run struct {
	Config
	self c3po.AgentID
	tell func(Result)
	all  []Result
	// asked are the probes that expect an answer.
	asked []c3po.MessageID
}

// Run tries every path and tells of each result when it is known.
func Run(ctx context.Context, cfg Config, tell func(Result)) []Result {
	cfg.Limit = cmp.Or(cfg.Limit, defaultLimit)
	r := &run{Config: cfg, tell: tell}
	defer r.clean(ctx)
	if !r.try(ctx, PathREST, "", r.probeREST) {
		// Every other path ends at the same door.
		r.skipAll(PathREST)
		return r.all
	}
	r.try(ctx, PathWait, "", r.wait)
	if len(cfg.Clients) == 0 {
		r.session(ctx, Client{Server: &cfg.Own, Fix: "c3po doctor"})
	}
	for _, c := range cfg.Clients {
		r.session(ctx, c)
	}
	return r.all
}

// A failure is why a path failed, in words for a person.
type failure struct {
	says string
	fix  string
	code c3po.Code
}

func (f *failure) Error() string { return f.says }

func failuref(format string, args ...any) *failure {
	return &failure{says: fmt.Sprintf(format, args...)}
}

// try runs one path and keeps its result. It says whether the path works.
func (r *run) try(ctx context.Context, path, fix string, do func(context.Context) (c3po.MessageID, string, error)) bool {
	limited, cancel := context.WithTimeout(ctx, r.Limit)
	defer cancel()
	began := time.Now()
	probe, says, err := do(limited)
	result := Result{Path: path, Verdict: Passed, Says: says, Probe: probe, TookMS: time.Since(began).Milliseconds()}
	if err != nil {
		result.Verdict, result.Says, result.Fix = Failed, err.Error(), fix
		switch e := err.(type) {
		case *failure:
			result.Fix, result.Code = cmp.Or(e.fix, fix), e.code
		case *c3po.Error:
			result.Fix, result.Code = cmp.Or(e.Suggestion, fix), e.Code
		}
		if limited.Err() != nil && ctx.Err() == nil {
			result.Says = fmt.Sprintf("nothing after %s: %s", r.Limit, result.Says)
		}
	}
	r.keep(result)
	return err == nil
}

func (r *run) keep(result Result) {
	r.all = append(r.all, result)
	r.tell(result)
}

func (r *run) skip(path, because string) {
	r.keep(Result{Path: path, Verdict: Skipped, Says: "not tried, because " + because + " does not work"})
}

// skipAll is every path that needs one that has failed.
func (r *run) skipAll(because string) {
	r.skip(PathWait, because)
	if len(r.Clients) == 0 {
		r.skip(PathTools, because)
	}
	for _, c := range r.Clients {
		for _, path := range c.paths() {
			r.skip(path, because)
		}
	}
}

// send makes a probe. One that is to wake a session expects an answer, and is
// cancelled in the end: a question that nobody will answer is left to nobody.
func (r *run) send(ctx context.Context, path string, wakes bool) (c3po.MessageID, error) {
	receipt, err := r.Service.SendMessage(ctx, c3po.SendInput{
		Target: string(r.self), Message: "a probe of c3po verify, for " + path + ", " + rand.Text(), ExpectsReply: &wakes,
	})
	if err == nil && wakes {
		r.asked = append(r.asked, receipt.ID)
	}
	return receipt.ID, err
}

// probeREST is the plain way: send, read, ack.
func (r *run) probeREST(ctx context.Context) (c3po.MessageID, string, error) {
	self, err := r.Service.RegisterAgent(ctx, r.Profile)
	if err != nil {
		return "", "", err
	}
	r.self = self.ID
	r.ackAll(ctx) // what an earlier run that was interrupted has left
	probe, err := r.send(ctx, PathREST, false)
	if err != nil {
		return "", "", err
	}
	list, err := r.Service.GetMessages(ctx, c3po.GetMessagesInput{})
	if err != nil {
		return probe, "", err
	}
	if !has(list.Messages, probe) {
		return probe, "", failuref("the inbox does not show the probe")
	}
	if err := r.servedTo(ctx, probe, r.Session); err != nil {
		return probe, "", err
	}
	return probe, "sent, served and acked", r.ack(ctx, probe)
}

// wait is a wait that sleeps until the probe comes.
func (r *run) wait(ctx context.Context) (c3po.MessageID, string, error) {
	type end struct {
		got c3po.WaitResult
		err error
	}
	ended := make(chan end, 1)
	seconds := max(1, int(r.Limit/time.Second))
	go func() {
		got, err := r.Service.WaitForMessage(ctx, c3po.WaitInput{Timeout: seconds})
		ended <- end{got, err}
	}()
	probe, err := r.send(ctx, PathWait, false)
	if err != nil {
		return "", "", err
	}
	select {
	case <-ctx.Done():
		return probe, "", failuref("the wait did not end when the probe came; does a proxy on the way hold back long requests?")
	case e := <-ended:
		if e.err != nil {
			return probe, "", e.err
		}
		if e.got.Outcome != nil || e.got.ID != probe {
			return probe, "", failuref("the wait ended without the probe; does a proxy on the way hold back long requests?")
		}
	}
	if err := r.servedTo(ctx, probe, r.Session); err != nil {
		return probe, "", err
	}
	return probe, "a wait was woken", r.ack(ctx, probe)
}

func has(list []c3po.Message, id c3po.MessageID) bool {
	for _, m := range list {
		if m.ID == id {
			return true
		}
	}
	return false
}
