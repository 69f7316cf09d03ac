#!/usr/bin/env bash
# A client written from the design document alone: two agents, one request, one response.
# MCP_URL is the coordinator's /mcp endpoint and COORDINATOR its address.
set -euo pipefail
fail() {
	printf 'FAILED: %s\n' "$*" >&2
	exit 1
}

# tool AGENT NAME ARGUMENTS: what a tool returns, as the document prints it (4.1).
tool() {
	curl -fsS "$MCP_URL" -H "X-Agent-ID: $1" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
		-d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"$2\",\"arguments\":$3}}" |
		sed 's/^data: //' | python3 -c 'import json, sys
text = sys.stdin.read()
print(json.loads(text[text.index("{"):])["result"]["content"][0]["text"])'
}
field() { python3 -c 'import json, sys; value = json.load(sys.stdin); print(eval("value" + sys.argv[1]))' "$1"; }

curl -fsS "$COORDINATOR/api/health" >/dev/null || fail "no health"
tool meshtastic register_agent '{"capabilities":["mqtt"]}' | field '["id"]' | grep -qx meshtastic || fail "not registered"
tool homeassistant list_agents '{}' | field '[0]["status"]' >/dev/null || fail "no list"

tool homeassistant send_request '{"target":"nobody-here","message":"hello"}' | field '["code"]' | grep -qx AGENT_UNAVAILABLE || fail "an unknown agent is available"
request=$(tool homeassistant send_request '{"target":"meshtastic","message":"What MQTT topic does node 0x1234 publish to?","context":"a sensor"}' | field '["request_id"]')
tool homeassistant wait_for_response "{\"request_id\":\"$request\",\"timeout\":1}" | field '["timeout"]' | grep -qx True || fail "no timeout"
curl -fsS "$COORDINATOR/api/pending" -H 'X-Agent-ID: meshtastic' | field '["count"]' | grep -qx 1 || fail "the stop hook sees nothing"
[ "$(tool meshtastic get_pending_requests '{}' | field '[0]["id"]')" = "$request" ] || fail "the request is not pending"
tool meshtastic respond_to_request "{\"request_id\":\"$request\",\"response\":\"mesh/node/1234/sensors\"}" | field '["success"]' | grep -qx True || fail "no response"
tool homeassistant wait_for_response "{\"request_id\":\"$request\",\"timeout\":10}" | field '["response"]' | grep -qx mesh/node/1234/sensors || fail "the response did not come"

again=$(tool homeassistant send_request '{"target":"meshtastic","message":"And node 0x5678?"}' | field '["request_id"]')
[ "$(tool meshtastic wait_for_request '{"timeout":10}' | field '["request"]["id"]')" = "$again" ] || fail "the second request did not come"
tool meshtastic set_status '{"status":"busy"}' | field '["success"]' | grep -qx True || fail "no status"
tool meshtastic escalate_to_human '{"reason":"which node?"}' | field '["success"]' | grep -qx True || fail "no escalation"
tool homeassistant get_agent_status '{"agent_id":"meshtastic"}' | field '["status"]' >/dev/null || fail "no status of an agent"
curl -fsS "$COORDINATOR/api/agents" | field '[0]["id"]' >/dev/null || fail "no agents"
echo "the design document: all as it should be"
