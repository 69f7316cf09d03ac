package mcpserver_test

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/mcpserver"
)

// patient remembers how long it was asked to wait.
type patient struct {
	scripted
	waits []int
}

func (p *patient) WaitForMessage(ctx context.Context, in c3po.WaitInput) (c3po.WaitResult, error) {
	p.waits = append(p.waits, in.Timeout)
	return p.scripted.WaitForMessage(ctx, in)
}

func TestAnArgumentThatIsLeftOutIsWhatTheEnvironmentSays(t *testing.T) {
	t.Parallel()
	wait := map[string]any{"timeoutMs": 7000}
	s := mcpserver.New(mcpserver.Config{Defaults: map[string]map[string]any{"bridge_send_message": wait, "await_reply": wait}})
	here, there := mcp.NewInMemoryTransports()
	svc := &patient{}
	if _, err := s.ServerFor(svc, []c3po.Toolset{c3po.Bridge}).Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	for i, c := range []struct {
		tool, arguments string
		want            int
	}{
		{"send_message", `{"agentId":"api","payload":"x"}`, 7},
		{"send_message", `{"agentId":"api","payload":"x","timeoutMs":2500}`, 3},
		{"await_reply", `{"ticketId":"web::api::0000002b"}`, 7},
	} {
		if result := called(t, client, c.tool, c.arguments); result.IsError || len(svc.waits) != i+1 || svc.waits[i] != c.want {
			t.Errorf("%s(%s) waits %v, want %d at last: %s", c.tool, c.arguments, svc.waits, c.want, textOf(t, result))
		}
	}
}
