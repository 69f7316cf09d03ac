package cli

import (
	"cmp"
	"fmt"
	"os"

	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/engine"
	"github.com/c3po-dev/c3po/internal/paths"
)

// tokenVariable holds a token. There is no flag for it: everybody can read the
// arguments of a process.
const tokenVariable = "C3PO_TOKEN" // #nosec G101 -- a name

// reach is how an agent of this user reaches the coordinator: at the address it
// was told; else the one that runs here, through its socket; else the one this
// host has joined. A token is sent to no other coordinator than its own.
func (a *app) reach() (client.Config, error) {
	cfg := client.Config{URL: a.url, Token: a.Getenv(tokenVariable)}
	if a.url == "" {
		note, err := a.folders.Coordinator()
		if err != nil {
			return cfg, err
		}
		if note != nil && note.URL != "" {
			cfg.URL, cfg.Socket = note.URL, note.Socket
			return cfg, nil
		}
	}
	mine, err := a.folders.Credentials()
	if err != nil || mine == nil {
		return cfg, err
	}
	if cfg.URL == "" {
		cfg.URL = mine.URL
	}
	if !mine.For(cfg.URL) {
		return cfg, nil
	}
	cfg.Token, cfg.Socket = cmp.Or(cfg.Token, mine.Token), mine.Socket
	cfg.TLS, err = trustIn(mine.CA)
	return cfg, err
}

// answering is the client of a command that may leave it to the coordinator as
// whom it acts.
func (a *app) answering() (*client.Client, error) {
	if a.as != "" {
		return a.looking()
	}
	return a.clientAs("")
}

// humanToken and adminToken pick one of the person's credentials.
func humanToken(p paths.Person) string { return p.Human }
func adminToken(p paths.Person) string { return p.Admin }

// person is the client of a command that acts for the person. It is refused
// where an agent runs.
func (a *app) person(pick func(paths.Person) string) (*client.Client, error) {
	if err := a.refuseAgents(); err != nil {
		return nil, err
	}
	return a.personal(pick)
}

// actingOrPerson is the client of a command that is also a person's: theirs, where
// no agent was named and none runs.
func (a *app) actingOrPerson() (*client.Client, error) {
	if mine, err := a.folders.Person(); err == nil && mine != nil && a.as == "" && a.refuseAgents() == nil {
		return a.personal(humanToken)
	}
	return a.acting()
}

// personal is a client with a credential of the person, if there is one for
// this coordinator.
func (a *app) personal(pick func(paths.Person) string) (*client.Client, error) {
	cfg, err := a.clientConfig("")
	if err != nil {
		return nil, err
	}
	cfg.Ancestors = ancestors()
	mine, err := a.folders.Person()
	if err != nil {
		return nil, err
	}
	if mine == nil || !mine.For(cfg.URL) {
		return client.New(cfg), nil
	}
	if a.Getenv(tokenVariable) == "" {
		cfg.Token = pick(*mine)
	}
	if cfg.TLS, err = trustIn(mine.CA); err != nil {
		return nil, err
	}
	return client.New(cfg), nil
}

// agentHere is the variable by which we know that an agent runs this command:
// one of those that coding agents give the commands they run.
func (a *app) agentHere() string {
	for _, name := range []string{
		"CLAUDECODE", "CLAUDE_PID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID",
		"OPENCODE", "OPENCODE_PID", "GEMINI_CLI", "C3PO_RUN",
	} {
		if a.Getenv(name) != "" {
			return name
		}
	}
	return ""
}

// mostAncestors is more than any terminal is deep.
const mostAncestors = 32

// ancestors are the runs that the processes before this one would have.
func ancestors() []string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	var runs []string
	for pid := os.Getppid(); pid > 1 && len(runs) < mostAncestors; pid = engine.Parent(pid) {
		runs = append(runs, fmt.Sprintf("%s:%d:%d", host, pid, engine.Started(pid)))
	}
	return runs
}

// belowAgent says that a process before this one is an agent: its bridge has a
// socket here. The coordinator would refuse it what is a person's, and to look
// needs none of that.
func (a *app) belowAgent() bool {
	_, below := a.bridgeAbove()
	return below
}
