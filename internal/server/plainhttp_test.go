package server_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// What docs/dev/adr/0015-a-session-process-on-each-host.md says can be done without one.
func TestAgentsTalkOverPlainHTTPWithNothingInstalledOnTheirHosts(t *testing.T) {
	t.Parallel()
	c := start(t, server.Config{RedisURL: redistest.Start(t), Auth: auth.None})
	mcp := func(agent, method, params string) string {
		t.Helper()
		return curl(t, c.url+"/mcp", "-H", "X-Agent-ID: "+agent, "-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream",
			"-d", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`)
	}
	tool := func(agent, name, arguments string) string {
		t.Helper()
		return mcp(agent, "tools/call", `{"name":"`+name+`","arguments":`+arguments+`}`)
	}
	hello := mcp("ha", "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	hello = hello[strings.Index(hello, "{") : strings.LastIndex(hello, "}")+1]
	var greeting struct {
		Result struct {
			ServerInfo struct {
				Name     string   `json:"name"`
				Version  string   `json:"version"`
				Features []string `json:"features"`
			} `json:"serverInfo"`
			Capabilities struct {
				Experimental map[string]struct {
					Features []string `json:"features"`
				} `json:"experimental"`
			} `json:"capabilities"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(hello), &greeting); err != nil {
		t.Fatal(err, hello)
	}
	info := greeting.Result.ServerInfo
	if info.Name != "c3po" || !slices.Equal(info.Features, c3po.Features()) || !slices.Equal(info.Features, greeting.Result.Capabilities.Experimental["c3po"].Features) {
		t.Errorf("initialize answers %s", hello)
	}
	for _, feature := range []string{"rooms", "broadcast", "liveness", "budgets", "pid_start_time", "atomic_write"} {
		if !slices.Contains(info.Features, feature) {
			t.Errorf("the features lack %s", feature)
		}
	}
	tool("meshtastic", "register_agent", `{"capabilities":["mqtt"]}`)
	tool("ha", "send_message", `{"target":"meshtastic","message":"Which MQTT topics do you use?"}`)
	mail := tool("meshtastic", "get_messages", `{}`)
	id := regexp.MustCompile(`ha::meshtastic::[0-9a-f]{8}`).FindString(mail)
	if id == "" || !strings.Contains(mail, "Which MQTT topics") {
		t.Fatalf("the mail is %s", mail)
	}
	tool("meshtastic", "reply", `{"message_id":"`+id+`","response":"mesh/# for all of them"}`)
	if got := tool("ha", "wait_for_message", `{"message_id":"`+id+`","timeout":5}`); !strings.Contains(got, "mesh/# for all of them") {
		t.Errorf("the answer is %s", got)
	}
}
