#!/usr/bin/env bash
# A client written from the architecture of c2c alone: two sessions send, poll and meet in a
# room. MCP_URL is the broker's endpoint.
set -euo pipefail
fail() {
	printf 'FAILED: %s\n' "$*" >&2
	exit 1
}
tool() { # tool SESSION NAME ARGUMENTS
	curl -fsS "$MCP_URL" -H "X-Agent-ID: $1" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
		-d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"$2\",\"arguments\":$3}}" |
		sed 's/^data: //' | python3 -c 'import json, sys
text = sys.stdin.read()
print(json.loads(text[text.index("{"):])["result"]["content"][0]["text"])'
}
field() { python3 -c 'import json, sys; value = json.load(sys.stdin); print(eval("value" + sys.argv[1]))' "$1"; }

tool storm-beacon register '{"alias":"storm-beacon"}' >/dev/null
tool opencode-local register '{"alias":"opencode-local"}' >/dev/null
tool storm-beacon whoami '{}' | grep -q storm-beacon || fail "whoami"
tool storm-beacon list '{}' | python3 -c 'import json, sys
rows = {r["alias"]: r for r in json.load(sys.stdin)}
assert set(rows) == {"storm-beacon", "opencode-local"} and all(r["alive"] in (True, False, None) for r in rows.values()), rows' || fail "list"

tool storm-beacon send '{"to_alias":"opencode-local","content":"hello"}' >/dev/null
want='{"from_alias": "storm-beacon", "to_alias": "opencode-local", "content": "hello"}'
for read in peek_inbox poll_inbox; do
	tool opencode-local $read '{}' | python3 -c 'import json, sys
assert json.load(sys.stdin) == [json.loads(sys.argv[1])]' "$want" || fail "$read"
done
[ "$(tool opencode-local poll_inbox '{}')" = '[]' ] || fail "the inbox was not drained"

tool storm-beacon join_room '{"room_id":"swarm-lounge"}' >/dev/null
tool opencode-local join_room '{"room_id":"swarm-lounge"}' >/dev/null
tool storm-beacon send_room '{"room_id":"swarm-lounge","content":"to all"}' >/dev/null
tool opencode-local poll_inbox '{}' | field '[0]["to_alias"]' | grep -qx 'opencode-local#swarm-lounge' || fail "the room's message"
tool opencode-local room_history '{"room_id":"swarm-lounge"}' | field '[-1]["content"]' | grep -qx 'to all' || fail "the history"
tool storm-beacon my_rooms '{}' | grep -q swarm-lounge || fail "my_rooms"
tool storm-beacon list_rooms '{}' | grep -q swarm-lounge || fail "list_rooms"
tool storm-beacon set_room_visibility '{"room_id":"swarm-lounge","visibility":"invite_only"}' >/dev/null
tool storm-beacon send_room_invite '{"room_id":"swarm-lounge","to_alias":"opencode-local"}' >/dev/null
tool storm-beacon send_all '{"content":"everybody"}' >/dev/null
tool opencode-local poll_inbox '{}' | grep -q everybody || fail "send_all"
tool opencode-local leave_room '{"room_id":"swarm-lounge"}' >/dev/null
echo "the architecture of c2c: all as it should be"
