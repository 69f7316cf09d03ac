package cli

import (
	"crypto/tls"
	"net/url"
	"os"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/auth/pki"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// tokenVariable holds a token. There is no flag for it: everybody can read the
// arguments of a process.
const tokenVariable = "C3PO_TOKEN" // #nosec G101 -- a name

// reach is how an agent of this user reaches the coordinator: at the address it
// was told; else the one that runs here; else the one this host has joined. A
// token is sent to no other coordinator than its own, and one of this user's own
// is reached through its socket: at its address anybody on this machine may
// listen once it is down.
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
	if err != nil {
		return cfg, err
	}
	if cfg.URL == "" && mine != nil {
		cfg.URL = mine.URL
	}
	if person, err := a.folders.Person(); err == nil && cfg.URL == "" && person != nil {
		// A host whose person has signed in, and that has not joined itself.
		cfg.URL = person.URL
		if cfg.TLS, err = trustIn(person.CA); err != nil {
			return cfg, err
		}
	}
	if cfg.Socket, err = a.socketOf(cfg.URL); err != nil || mine == nil || !mine.For(cfg.URL) {
		return cfg, err
	}
	if cfg.Token == "" {
		if err := checkProved(cfg); err != nil && !mine.Unproved {
			return cfg, err
		}
		cfg.Token = mine.Token
	}
	cfg.TLS, err = trustIn(mine.CA)
	return cfg, err
}

// socketOf is the socket of this user's own coordinator at an address; empty if it
// is another's. One that is down is not there, and nobody else can put it there.
func (a *app) socketOf(url string) (string, error) {
	mine, err := a.folders.Credentials()
	if err != nil {
		return "", err
	}
	if mine != nil && mine.SocketOf(url) != "" {
		return mine.SocketOf(url), nil
	}
	person, err := a.folders.Person()
	if err != nil {
		return "", err
	}
	if person != nil && person.SocketOf(url) != "" {
		return person.SocketOf(url), nil
	}
	note, err := a.folders.Coordinator()
	if err != nil || note == nil || !paths.SameAddress(note.URL, url) {
		return "", err
	}
	return note.Socket, nil
}

// checkProved refuses to send a token from a file to an address of this machine
// where nothing proves whose program listens.
func checkProved(cfg client.Config) error {
	at, err := url.Parse(cfg.URL)
	if cfg.Socket != "" || !auth.KnowsPeers || err != nil || at.Scheme != "http" || !auth.Loopback(at.Hostname()) {
		return nil
	}
	return c3po.Errorf(c3po.CoordDown, "nothing proves that your coordinator listens at %s, so no token was sent there", cfg.URL).
		Suggest("Start it with `c3po up`. One that runs and is older than this program has to be started again.")
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
	cfg.Ancestors, _ = ancestors(os.Getppid())
	mine, err := a.folders.Person()
	if err != nil {
		return nil, err
	}
	if mine == nil || !mine.For(cfg.URL) {
		return client.New(cfg), nil
	}
	if a.Getenv(tokenVariable) == "" {
		if err := checkProved(cfg); err != nil {
			return nil, err
		}
		if cfg.Token = pick(*mine); cfg.Token == "" {
			return nil, c3po.Errorf(c3po.Forbidden, "you are signed in at %s as a person, and this is for its admin", mine.URL).
				Suggest("Run it on the host where the coordinator runs.")
		}
	}
	if cfg.TLS, err = trustIn(mine.CA); err != nil {
		return nil, err
	}
	return client.New(cfg), nil
}

// agentHere is the variable by which we know that an agent runs this command:
// one of those that coding agents give the commands they run.
func (a *app) agentHere() string {
	for _, name := range agentVariables {
		if a.Getenv(name) != "" {
			return name
		}
	}
	return ""
}

// ancestors are the runs that a process and those before it would have, and whether
// these are all of them.
func ancestors(pid int) (runs []string, whole bool) {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	line, whole := engine.Lineage(pid)
	for _, process := range line {
		process.Host = host
		runs = append(runs, process.String())
	}
	return runs, whole
}

// belowAgent says that a process before this one is an agent: its session process has a
// socket here, or it looks like one. The coordinator would refuse it what is a
// person's, and to look needs none of that.
func (a *app) belowAgent() bool {
	_, below := a.sessionAbove()
	return below || a.agentAbove() != ""
}

// trustIn is how a coordinator proves itself whose authority was stored; as the
// system says if there is none.
func trustIn(authority string) (*tls.Config, error) {
	if authority == "" {
		return nil, nil
	}
	return pki.Trust([]byte(authority))
}
