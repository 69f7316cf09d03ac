package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

// actingAsFolder is the client of the agent that the current folder names. Where another
// folder has given that name before, the person hears that both are one agent.
func (a *Console) actingAsFolder() (*client.Client, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, BadUsage("the current folder has no name", "Say who you are with --as.")
	}
	id := c3po.AgentIDFromFolder(filepath.Base(folder))
	svc, err := a.clientAs(id)
	if err != nil {
		return nil, err
	}
	a.named = true
	space, err := a.InSpace()
	if err != nil {
		return nil, err
	}
	a.noteFolder = func() { _ = a.Folders.NoteFolder(space, id, folder) } // that it cannot be kept is no reason not to act
	if other, err := a.Folders.OtherFolder(space, id, folder); err == nil && other != "" && !a.JSON {
		fmt.Fprintf(a.Stderr, "%s %s is called %s too, and both are one agent. Name this one with --as or C3PO_AGENT_ID.\n",
			InkFor(a.Stderr, a.Getenv).Warn("hint:"), Inline(other), Inline(string(id)))
	}
	return svc, nil
}

// IsKnown says whether the agent that a command acts as may be used to look: a name must
// not become an agent because somebody looked.
func (a *Console) IsKnown(ctx context.Context, svc *client.Client) (bool, error) {
	if !a.named && a.As == "" || svc.ID().Reserved() {
		return true, nil // its session runs; or the coordinator refuses the name
	}
	look := a.Looking
	if a.As != "" {
		look = func() (*client.Client, error) { return a.clientAs("") }
	}
	looker, err := look()
	if err != nil {
		return false, err
	}
	_, err = looker.GetAgentStatus(ctx, c3po.AgentInput{AgentID: string(svc.ID())})
	if errors.Is(err, c3po.AgentNotFound) {
		a.onlyLooked = true
		return false, nil
	}
	if a.As != "" {
		return true, nil // what is asked of the coordinator next says what is wrong
	}
	return true, err
}

// ActingIfKnown is Acting for a command that only an agent with mail has a use for.
func (a *Console) ActingIfKnown() (*client.Client, error) {
	svc, err := a.Acting()
	if err != nil {
		return nil, err
	}
	if known, err := a.IsKnown(context.Background(), svc); err != nil || known {
		return svc, err
	}
	as := ""
	if a.named {
		as = ", as this folder is"
	}
	return nil, c3po.Errorf(c3po.AgentNotFound, "no agent is called %s%s", svc.ID(), as).
		Suggest("Say whose mail it is with --as; `c3po agents` lists the agents.")
}

// Home is the user's folder, in which coding agents keep their files; empty if none is
// known. HOME comes first, even on Windows, where another variable usually names it.
func (a *Console) Home() string {
	if home := a.Getenv("HOME"); home != "" {
		return home
	}
	home, _ := os.UserHomeDir()
	return home
}
