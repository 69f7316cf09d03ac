package console

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/reach"
)

// TokenVariable holds a token. There is no flag for it: everybody can read the
// arguments of a process.
const TokenVariable = "C3PO_TOKEN" // #nosec G101 -- a name

// Reach is how an agent of this user reaches the coordinator.
func (a *Console) Reach() (client.Config, error) {
	return reach.Agents(a.Folders, a.URL, a.Getenv(TokenVariable))
}

// Elsewhere is where the coordinators of other hosts are that the agents of this host,
// and its user, have been let into; empty if there are none. A coordinator of this host
// gives its agents no name of a host, and its user an admin's token.
func (a *Console) Elsewhere() (agents, person string, err error) {
	joined, err := a.Folders.Credentials()
	if err != nil {
		return "", "", err
	}
	signedIn, err := a.Folders.Person()
	if err != nil {
		return "", "", err
	}
	if joined != nil && !joined.OwnHost() {
		agents = joined.URL
	}
	if signedIn != nil && !signedIn.OwnHost() {
		person = signedIn.URL
	}
	return agents, person, nil
}

// OwnCoordinator is the note of this user's coordinator, if that runs.
func (a *Console) OwnCoordinator() (*paths.Coordinator, error) {
	note, err := a.Folders.Coordinator()
	if err != nil || note == nil || note.Started == 0 || engine.Started(note.PID) != note.Started {
		return nil, err
	}
	return note, nil
}

// Answering is the client of a command that may leave it to the coordinator as
// whom it acts.
func (a *Console) Answering() (*client.Client, error) {
	if a.As != "" {
		return a.Looking()
	}
	return a.clientAs("")
}

// HumanToken and adminToken pick one of the person's credentials.
func HumanToken(p paths.Person) string { return p.Human }
func AdminToken(p paths.Person) string { return p.Admin }

// Person is the client of a command that acts for the person. It is refused
// where an agent runs.
func (a *Console) Person(pick func(paths.Person) string) (*client.Client, error) {
	if err := errors.Join(a.RefuseAgents(), a.RefuseUnsigned()); err != nil {
		return nil, err
	}
	return a.Personal(pick)
}

// RefuseUnjoined refuses what is an agent's on a host where only its user has signed in:
// an agent has no token there.
func (a *Console) RefuseUnjoined() error {
	agents, person, err := a.Elsewhere()
	if err != nil || person == "" || agents != "" || a.Getenv(TokenVariable) != "" || a.URL != "" {
		return err
	}
	return c3po.Errorf(c3po.InvalidRequest, "you are signed in at %s, but this host's agents have not joined it", person).
		Suggest("Run `c3po invite --host NAME` where it runs, then the line it prints here.")
}

// RefuseUnsigned refuses what is a person's on a host that has only joined: its token is
// its agents'.
func (a *Console) RefuseUnsigned() error {
	agents, person, err := a.Elsewhere()
	if err != nil || agents == "" || person != "" || a.Getenv(TokenVariable) != "" || a.URL != "" && !paths.SameAddress(a.URL, agents) {
		return err
	}
	if note, err := a.Folders.Coordinator(); err != nil || note != nil {
		return err
	}
	return c3po.Errorf(c3po.Forbidden, "only a person may do this").Suggest(c3po.AskPerson)
}

// ActingOrPerson is the client of a command that is also a person's: theirs, where
// no agent was named and none runs.
func (a *Console) ActingOrPerson() (*client.Client, error) {
	if mine, err := a.Folders.Person(); err == nil && mine != nil && a.As == "" && a.RefuseAgents() == nil {
		return a.Personal(HumanToken)
	}
	return a.Acting()
}

// Personal is a client with a credential of the person, if there is one for
// this coordinator.
func (a *Console) Personal(pick func(paths.Person) string) (*client.Client, error) {
	cfg, err := a.ClientConfig("")
	if err != nil {
		return nil, err
	}
	cfg.Ancestors, _ = Ancestors(os.Getppid())
	mine, err := a.Folders.Person()
	if err != nil {
		return nil, err
	}
	if mine == nil || !mine.For(cfg.URL) {
		return client.New(cfg), nil
	}
	if a.Getenv(TokenVariable) == "" {
		if err := reach.CheckProved(cfg); err != nil {
			return nil, err
		}
		if cfg.Token = pick(*mine); cfg.Token == "" {
			return nil, c3po.Errorf(c3po.Forbidden, "you are signed in at %s as a person, and this is for its admin", mine.URL).
				Suggest("Run it on the host where the coordinator runs.")
		}
	}
	if cfg.TLS, err = reach.Trust(mine.CA); err != nil {
		return nil, err
	}
	var svc *client.Client
	cfg.Confirm = func(ctx context.Context, act c3po.ProofRequest, page, id string) { a.confirm(ctx, svc, act, page, id) }
	svc = client.New(cfg)
	return svc, nil
}

// confirm asks the person to confirm an act in a browser, which it also lets in.
func (a *Console) confirm(ctx context.Context, svc *client.Client, act c3po.ProofRequest, page, id string) {
	address := page + "/#/prove/" + id
	if made, err := svc.LoginLink(ctx); err == nil {
		address = page + "/#/login/" + made.Code + "/prove/" + id
	}
	fmt.Fprintf(a.Stderr, "This needs your passkey. Open this address, check that it shows the code %s, and confirm:\n  %s\n", Inline(act.Code), Inline(address))
}

// AgentHere is the variable by which we know that an agent runs this command:
// one of those that coding agents give the commands they run.
func (a *Console) AgentHere() string {
	for _, name := range agentVariables {
		if a.Getenv(name) != "" {
			return name
		}
	}
	return ""
}

// Ancestors are the runs that a process and those before it would have, and whether
// these are all of them.
func Ancestors(pid int) (runs []string, whole bool) {
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

// BelowAgent says that a process before this one is an agent: its session process has a
// socket here, or it looks like one. The coordinator would refuse it what is a
// person's, and to look needs none of that.
func (a *Console) BelowAgent() bool {
	_, below := a.SessionAbove()
	return below || a.agentAbove() != ""
}
