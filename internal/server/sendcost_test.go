package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// What a send over REST and one over MCP allocate in the coordinator. The client
// allocates nothing, and the coordinator does nothing else meanwhile, so these are
// counts, and not measurements. It does not run beside others. The limits leave room for
// the race detector, which adds fifteen to twenty-five.
func TestASendAllocatesLittle(t *testing.T) {
	n := faultrig.Size(500, 20_000)
	limits := c3po.DefaultLimits().Unbudgeted()
	limits.SendsPerMinute, limits.InboxMessages, limits.InboxBytes, limits.SenderShare, limits.SpaceBytes = 0, 1<<30, 1<<40, 1, 1<<40
	c := start(t, server.Config{RedisURL: redistest.Start(t), Limits: limits})
	c.must(t, "bob", "ping", c3po.None{}, nil)
	text := strings.Repeat("x", 1000)
	for _, door := range []struct {
		name, path, body, headers string
		allocations               int
		first                     int64
	}{
		{"REST", "/api/op/send_message", `{"target":"bob","message":"` + text + `","client_key":"KEY"}`, "", 120, 1e11},
		{"MCP", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_message","arguments":{"target":"bob","message":"` + text + `","client_key":"KEY"}}}`,
			"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n", 155, 2e11},
	} {
		address := strings.TrimPrefix(c.url, "http://")
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		body := strings.ReplaceAll(door.body, "KEY", strings.Repeat("0", 12))
		request := []byte(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%sX-Agent-ID: ann\r\nContent-Length: %d\r\n\r\n%s",
			door.path, address, door.headers, len(body), body))
		key := bytes.LastIndex(request, []byte(strings.Repeat("0", 12)))
		answers := bufio.NewReaderSize(conn, 64<<10)
		send := func(i int) {
			strconv.AppendInt(request[key:key], door.first+int64(i), 10) // in place
			if _, err := conn.Write(request); err != nil {
				t.Fatal(err)
			}
			if status := skipAnswer(t, answers); status != 200 {
				t.Fatalf("a send over %s answers %d", door.name, status)
			}
		}
		for i := range 50 {
			send(i)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range n {
			send(50 + i)
		}
		runtime.ReadMemStats(&after)
		allocations := int(after.Mallocs-before.Mallocs) / n
		t.Logf("a send over %s: %d allocations, %d bytes", door.name, allocations, int(after.TotalAlloc-before.TotalAlloc)/n)
		faultrig.Hold(t, "allocations of a send over "+door.name, allocations, door.allocations)
	}
}

// skipAnswer reads an answer and gives its status.
func skipAnswer(t *testing.T, from *bufio.Reader) (status int) {
	length, chunked := int64(0), false
	for {
		line, err := from.ReadSlice('\n')
		if err != nil {
			t.Fatal(err)
		}
		if after, is := bytes.CutPrefix(line, []byte("HTTP/1.1 ")); is {
			status, _ = strconv.Atoi(string(after[:3]))
		}
		if after, is := bytes.CutPrefix(line, []byte("Content-Length: ")); is {
			length, _ = strconv.ParseInt(string(bytes.TrimSpace(after)), 10, 64)
		}
		chunked = chunked || bytes.HasPrefix(line, []byte("Transfer-Encoding: chunked"))
		if len(line) == 2 {
			break
		}
	}
	for {
		if chunked {
			line, err := from.ReadSlice('\n')
			if err != nil {
				t.Fatal(err)
			}
			length, _ = strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 64)
		}
		last := length == 0
		if chunked {
			length += 2
		}
		if _, err := from.Discard(int(length)); err != nil {
			t.Fatal(err)
		}
		if !chunked || last {
			return status
		}
	}
}
