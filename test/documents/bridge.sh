#!/usr/bin/env bash
# A client written from the bridge's specification alone. BRIDGE_BROKER_URL is its broker.
set -euo pipefail
broker=${BRIDGE_BROKER_URL:-http://127.0.0.1:5050}
fail() {
	printf 'FAILED: %s\n' "$*" >&2
	exit 1
}
post() { curl -sS -o "$body" -w '%{http_code}' -H 'Content-Type: application/json' -d "$2" "$broker$1"; }
get() { curl -sS -o "$body" -w '%{http_code}' "$broker$1"; }
field() { python3 -c 'import json, sys; value = json.load(open(sys.argv[2])); print(eval("value" + sys.argv[1]))' "$1" "$body"; }
body=$(mktemp)
trap 'rm -f "$body"' EXIT

[ "$(post /agents/register '{"agentId":"Jerry","type":"codex","metadata":{"paneId":"%0","capabilities":["review"]},"heartbeatIntervalMs":30000}')" = 200 ] || fail "register"
[ "$(field '["status"]')" = registered ] || fail "registered: $(cat "$body")"
[ "$(post /agents/Spock/send '{"ticketId":"uuid-0","payload":"hello","expectReply":true}')" = 404 ] || fail "an unknown agent"

[ "$(post /agents/Jerry/send '{"ticketId":"uuid-123","payload":"Please review diff X","metadata":{"origin":"claude"},"expectReply":true,"timeoutMs":30000}')" = 200 ] || fail "send: $(cat "$body")"
[ "$(field '["status"]')" = pending ] || fail "pending: $(cat "$body")"
[ "$(field '["waitEndpoint"]')" = /replies/uuid-123/stream ] || fail "wait endpoint"
[ "$(get '/replies/uuid-123?waitMs=100')" = 204 ] || fail "a reply before there is one: $(cat "$body")"
curl -sSN "$broker/replies/uuid-123/stream" >"$body.stream" &
stream=$!
[ "$(post /replies '{"ticketId":"uuid-123","payload":"Here is the review","metadata":{"agent":"codex","status":"completed"}}')" = 204 ] || fail "reply: $(cat "$body")"
wait $stream
grep -q '^data: .*Here is the review' "$body.stream" || fail "the stream: $(cat "$body.stream")"
rm -f "$body.stream"
[ "$(get '/replies/uuid-123?waitMs=5000')" = 200 ] || fail "the reply: $(cat "$body")"
[ "$(field '["status"]')" = responded ] && [ "$(field '["payload"]')" = 'Here is the review' ] && [ "$(field '["latencyMs"]')" -ge 0 ] || fail "the reply: $(cat "$body")"

[ "$(get '/agents?type=codex&status=online')" = 200 ] || fail "agents"
[ "$(field '[0]["agentId"]')" = Jerry ] || fail "agents: $(cat "$body")"
[ "$(post /agents/Jerry/heartbeat '{}')" = 200 ] || fail "heartbeat"
[ "$(get /replies/uuid-999)" = 404 ] || fail "an unknown ticket"
echo "the bridge's specification: all as it should be"
