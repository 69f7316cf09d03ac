package session

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// SelfTest starts a session process as a client would and says how many tools it offers.
// It registers no agent.
func SelfTest(ctx context.Context, version string, command *exec.Cmd) (tools int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second) // a busy machine starts it slowly
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "c3po-self-test", Version: version}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: command, TerminateDuration: time.Second}, nil)
	if err != nil {
		return 0, fmt.Errorf("the tools do not start: %w", err)
	}
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("the tools cannot be listed: %w", err)
	}
	return len(list.Tools), nil
}
