package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// newCall is a call as clients of that version of the protocol make it. An empty
// version sends no header at all; meta is added to the call's metadata.
func newCall(ctx context.Context, version, tool, arguments, meta string) *http.Request {
	described := meta
	if version >= "2026" {
		described = `"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},` +
			`"io.modelcontextprotocol/clientCapabilities":{}`
		if meta != "" {
			described += "," + meta
		}
	}
	if described != "" {
		described = `"_meta":{` + described + `},`
	}
	return newPost(ctx, version, "tools/call", tool,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{%s"name":%q,"arguments":%s}}`, described, tool, arguments))
}

// newPost is a request with the headers that go with that version of the
// protocol.
func newPost(ctx context.Context, version, method, name, body string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp?tools=core,more,rooms,diag,compat", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("X-Agent-ID", "web")
	if version != "" {
		r.Header.Set("Mcp-Protocol-Version", version)
	}
	if version >= "2026" {
		r.Header.Set("Mcp-Method", method)
		if name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
	return r
}
