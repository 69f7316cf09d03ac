// Command api is a client written from the API reference alone: two agents exchange a
// message and a reply over MCP and REST. MCP_URL is the coordinator's /mcp endpoint and
// COORDINATOR its address.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
)

func main() {
	must := func(ok bool, what string, got any) {
		if !ok {
			panic(fmt.Sprintf("%s: %v", what, got))
		}
	}
	pong := tool("homeassistant", "ping", nil)
	must(pong["pong"] == true && pong["timestamp"] != nil, "ping", pong)
	me := tool("meshtastic", "register_agent", map[string]any{"capabilities": []string{"mqtt"}})
	must(me["id"] == "meshtastic" && me["status"] == "online" && me["registered_at"] != nil && me["last_seen"] != nil, "register_agent", me)

	refused := tool("homeassistant", "send_message", map[string]any{"target": "nobody-here", "message": "hello"})
	must(refused["code"] == "AGENT_NOT_FOUND", "an unknown target", refused)
	refused = tool("homeassistant", "send_message", map[string]any{"target": "meshtastic", "message": ""})
	must(refused["code"] == "INVALID_REQUEST", "an empty message", refused)

	sent := tool("homeassistant", "send_message", map[string]any{"target": "meshtastic", "message": "What MQTT topics are available?", "context": "Building a sensor dashboard"})
	id, _ := sent["id"].(string)
	must(regexp.MustCompile(`^homeassistant::meshtastic::[0-9a-f]{8}$`).MatchString(id) && sent["status"] == "pending", "send_message", sent)
	timeout := tool("homeassistant", "wait_for_message", map[string]any{"message_id": id, "timeout": 1})
	must(timeout["status"] == "timeout" && timeout["code"] == "TIMEOUT" && timeout["message"] == "No response received within 1 seconds", "a timeout", timeout)

	pending := rest("GET", "/api/pending", "meshtastic")
	must(pending["count"] == 1.0, "pending", pending)
	got := tool("meshtastic", "wait_for_message", map[string]any{"timeout": 10})
	must(got["id"] == id && got["from_agent"] == "homeassistant" && got["context"] == "Building a sensor dashboard", "wait_for_message", got)
	list, _ := value("meshtastic", "get_messages", nil).([]any)
	must(len(list) == 1, "get_messages", list)
	reply := tool("meshtastic", "reply", map[string]any{"message_id": id, "response": "mesh/node/#, mesh/stat/#"})
	must(reply["message_id"] == id && reply["to_agent"] == "homeassistant" && reply["status"] == "success", "reply", reply)
	answer := tool("homeassistant", "wait_for_message", map[string]any{"message_id": id, "timeout": 10})
	must(answer["response"] == "mesh/node/#, mesh/stat/#" && answer["from_agent"] == "meshtastic", "the reply", answer)
	agents, _ := value("homeassistant", "list_agents", nil).([]any)
	must(len(agents) == 2, "list_agents", agents)

	must(rest("GET", "/api/pending", "")["error"] == "Missing X-Agent-ID header", "no header", nil)
	gone := rest("POST", "/api/unregister", "meshtastic")
	must(gone["status"] == "ok" && gone["message"] == "Agent 'meshtastic' unregistered", "unregister", gone)
	health := rest("GET", "/api/health", "")
	must(health["status"] == "ok" && health["agents_online"] == 1.0, "health", health)
	fmt.Println("the API reference: all as it should be")
}

// tool calls one and returns its object.
func tool(agent, name string, arguments map[string]any) map[string]any {
	object, _ := value(agent, name, arguments).(map[string]any)
	return object
}

// value calls a tool and returns what it answers.
func value(agent, name string, arguments map[string]any) (answer any) {
	if arguments == nil {
		arguments = map[string]any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": arguments}})
	if err != nil {
		panic(fmt.Sprint(err))
	}
	text := request("POST", os.Getenv("MCP_URL"), agent, body)
	if i := strings.Index(text, "{"); i > 0 { // an event
		text = text[i:]
	}
	var out struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil || len(out.Result.Content) == 0 {
		panic(fmt.Sprint(name, ": ", err, " ", text))
	}
	if err := json.Unmarshal([]byte(out.Result.Content[0].Text), &answer); err != nil {
		panic(fmt.Sprint(name, ": ", err, " ", text))
	}
	return answer
}

func rest(method, path, agent string) (object map[string]any) {
	text := request(method, os.Getenv("COORDINATOR")+path, agent, nil)
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		panic(fmt.Sprint(path, ": ", err, " ", text))
	}
	return object
}

func request(method, url, agent string, body []byte) string {
	r, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		panic(fmt.Sprint(err))
	}
	if agent != "" {
		r.Header.Set("X-Agent-ID", agent)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		panic(fmt.Sprint(err))
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return string(text)
}
