package peers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/tools/bench"
)

// memory is all that a plain server keeps: mail in a map, gone with the process.
type memory struct {
	mu      sync.Mutex
	boxes   map[string]chan string
	unacked map[string]string
	last    int
}

func (m *memory) box(name string) chan string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.boxes[name] == nil {
		m.boxes[name] = make(chan string, 1024)
	}
	return m.boxes[name]
}

type (
	sendArguments struct {
		To   string `json:"to"`
		Text string `json:"text"`
	}
	takeArguments struct {
		Name string `json:"name"`
	}
	ackArguments struct {
		ID string `json:"id"`
	}
	letter struct {
		ID   string `json:"id"`
		Text string `json:"text,omitempty"`
	}
)

func (m *memory) send(_ context.Context, _ *mcp.CallToolRequest, in sendArguments) (*mcp.CallToolResult, letter, error) {
	m.mu.Lock()
	m.last++
	id := fmt.Sprint(m.last)
	m.unacked[id] = in.Text
	m.mu.Unlock()
	m.box(in.To) <- id
	return nil, letter{ID: id}, nil
}

func (m *memory) take(ctx context.Context, _ *mcp.CallToolRequest, in takeArguments) (*mcp.CallToolResult, letter, error) {
	select {
	case id := <-m.box(in.Name):
		m.mu.Lock()
		defer m.mu.Unlock()
		return nil, letter{ID: id, Text: m.unacked[id]}, nil
	case <-ctx.Done():
		return nil, letter{}, ctx.Err()
	}
}

func (m *memory) ack(_ context.Context, _ *mcp.CallToolRequest, in ackArguments) (*mcp.CallToolResult, letter, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.unacked, in.ID)
	return nil, letter{ID: in.ID}, nil
}

// serveMCP is the other process: three tools on the official SDK, as one writes
// them first. It ends with its input.
func serveMCP(string) error {
	kept := &memory{boxes: map[string]chan string{}, unacked: map[string]string{}}
	s := mcp.NewServer(&mcp.Implementation{Name: "plain", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "send", Description: "Send a message."}, kept.send)
	mcp.AddTool(s, &mcp.Tool{Name: "take", Description: "Wait for a message."}, kept.take)
	mcp.AddTool(s, &mcp.Tool{Name: "ack", Description: "Ack a message."}, kept.ack)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	go func() { _ = (&http.Server{Handler: handler}).Serve(listener) }()
	fmt.Println(listener.Addr())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

type mcpDoor struct{ *process }

func startMCP(context.Context, []string) (bench.PeerDoor, error) {
	p, err := startProcess("mcp")
	return &mcpDoor{p}, err
}

func (d *mcpDoor) Open(ctx context.Context, name string) (bench.PeerSeat, error) {
	conn, err := net.Dial("tcp", d.address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	return &mcpSeat{name: name, address: d.address, conn: conn, answers: bufio.NewReader(conn)}, nil
}

// An mcpSeat speaks HTTP by itself, as those that measure ours do.
type mcpSeat struct {
	name, address string
	conn          net.Conn
	answers       *bufio.Reader
	calls         int
}

func (s *mcpSeat) call(tool string, arguments any) (letter, error) {
	s.calls++
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": s.calls, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		return letter{}, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2025-06-18\r\nContent-Length: %d\r\n\r\n",
		s.address, len(body))
	out.Write(body)
	if _, err := s.conn.Write(out.Bytes()); err != nil {
		return letter{}, err
	}
	answer, err := http.ReadResponse(s.answers, nil)
	if err != nil {
		return letter{}, err
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return letter{}, err
	}
	var said struct {
		Result struct {
			IsError bool   `json:"isError"`
			Letter  letter `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(text, &said); err != nil || said.Result.IsError || said.Result.Letter.ID == "" {
		return letter{}, errors.Join(err, fmt.Errorf("%s was answered with %d: %s", tool, answer.StatusCode, text))
	}
	return said.Result.Letter, nil
}

func (s *mcpSeat) Send(_ context.Context, to, text string) error {
	_, err := s.call("send", sendArguments{to, text})
	return err
}

func (s *mcpSeat) Take(context.Context) (ack func(context.Context) error, err error) {
	taken, err := s.call("take", takeArguments{s.name})
	return func(context.Context) error {
		_, err := s.call("ack", ackArguments{taken.ID})
		return err
	}, err
}
