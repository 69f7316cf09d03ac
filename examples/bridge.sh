#!/bin/sh
# The agent-to-agent bridge with curl alone: every exchange, each with what it
# must answer. Give it a coordinator and, unless that runs with --auth none, a
# token for the agents it plays:
#
#   BRIDGE_BROKER_URL=http://localhost:8420 TOKEN=$(cat token) examples/bridge.sh
#
# PREFIX goes before the names of the agents, for a token that is good for the
# agents of one host only: PREFIX=box/
set -eu
url=${BRIDGE_BROKER_URL:-http://localhost:8420}
prefix=${PREFIX:-}
run=$$ # so that it can be run twice against the same coordinator
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT

# call METHOD PATH [BODY]: a request, as $me if that is set. Prints the answer
# and, on a line of its own, the status.
me=
call() {
	method=$1 path=$2
	shift 2
	[ $# -eq 0 ] || set -- -H 'Content-Type: application/json' -d "$1"
	[ -z "${TOKEN:-}" ] || set -- "$@" -H "Authorization: Bearer $TOKEN"
	[ -z "$me" ] || set -- "$@" -H "X-Agent-ID: $me"
	curl -sS -N --max-time 60 -X "$method" -w '\n%{http_code}\n' "$@" "$url$path"
}

# ask METHOD PATH [BODY]: the same, kept for expect.
ask() { call "$@" >"$scratch"; }

# expect WORD...: each of the words is in the last answer, or the script ends.
expect() {
	answer=$(cat "$scratch")
	for word in "$@"; do
		case $answer in
		*"$word"*) ;;
		*)
			printf 'FAILED: no %s in\n%s\n' "$word" "$answer" >&2
			exit 1
			;;
		esac
	done
	printf '   %s\n' "$(printf %s "$answer" | tr '\n' ' ')"
}

# value NAME: the text of that name in the last answer.
value() { printf %s "$answer" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

# path TEXT: an id as it is written in a path.
path() { printf %s "$1" | sed 's,/,%2F,g'; }

jerry=${prefix}jerry$run
claude=${prefix}claude$run
to=$(path "$jerry")

step() { printf '%s\n' "$1"; }

step 'Nobody has registered'
me=$claude
ask POST "/agents/$to/send" '{"payload":"anybody there?"}'
expect 404 'agent not registered' suggestion

step 'An agent registers, and again: it has reconnected'
me=
for type in claude-code codex; do
	ask POST /agents/register '{"agentId":"'"$jerry"'","type":"'$type'","metadata":{"paneId":"%0","cwd":"/src","capabilities":["review","tests"]},"heartbeatIntervalMs":30000}'
	expect 200 '"agentId":"'"$jerry"'"' '"status":"registered"' '"expiresAt":"'
done
ask POST "/agents/$to/heartbeat"
expect 200 '"expiresAt":"'
ask GET '/agents?type=codex&status=online'
expect 200 '"agentId":"'"$jerry"'","type":"codex","status":"online","lastHeartbeat":"' '"paneId":"%0"'

step 'Non-blocking: send, look, answer, come back for it'
me=$claude
ask POST "/agents/$to/send" '{"payload":"a joke, please","metadata":{"origin":"claude"}}'
expect 200 '"ticketId":"'"$claude::$jerry::" '"status":"pending"' '"waitEndpoint":"/replies/'
ticket=$(value ticketId)
at=/replies/$(path "$ticket")
ask GET "$at?waitMs=0"
expect 204
me=$jerry
ask POST /replies '{"ticketId":"'"$ticket"'","payload":"knock knock","metadata":{"agent":"codex","status":"completed"}}'
expect 204
me=$claude
ask GET "$at"
expect 200 '"ticketId":"'"$ticket"'","payload":"knock knock","status":"responded","latencyMs":'

step 'Blocking: the wait is there before the answer'
ask POST "/agents/$to/send" '{"payload":"another one"}'
expect 200 '"status":"pending"'
ticket=$(value ticketId)
at=/replies/$(path "$ticket")
(
	me=$jerry
	sleep 1
	call POST /replies '{"ticketId":"'"$ticket"'","payload":"who is there?"}' >/dev/null
) &
ask GET "$at?waitMs=30000"
expect 200 '"payload":"who is there?"' '"status":"responded"'
wait

step 'A ticketId of your own: it never sends twice, and every path takes it'
mine=uuid-$run
for time in first second; do
	ask POST "/agents/$to/send" '{"ticketId":"'$mine'","payload":"only once","expectReply":true,"timeoutMs":30000}'
	expect 200 '"ticketId":"'$mine'","status":"pending","waitEndpoint":"/replies/'$mine'/stream"'
done
ask POST "/agents/$to/send" '{"ticketId":"'$mine'","payload":"something else"}'
expect 409 KEY_CONFLICT

step 'Server-sent events: one event, with the answer'
(
	sleep 1
	me=$jerry
	call POST /replies '{"ticketId":"'$mine'","payload":"here it is"}' >/dev/null
) &
ask GET "/replies/$mine/stream"
expect 200 'event: reply' '"ticketId":"'$mine'","payload":"here it is","status":"responded"'
wait

step 'JSON goes in and comes out as it is'
ask POST "/agents/$to/send" '{"ticketId":"json-'$run'","payload":{"files":[],"big":12345678901234567890}}'
expect 200 '"status":"pending"'
me=$jerry
ask POST /replies '{"ticketId":"json-'$run'","payload":{"ok":true,"found":[1,2]}}'
expect 204
me=$claude
ask GET "/replies/json-$run"
expect 200 '"payload":{"ok":true,"found":[1,2]}'

step 'Nothing comes in time'
ask POST "/agents/$to/send" '{"ticketId":"late-'$run'","payload":"take your time","timeoutMs":1000}'
expect 200 '"status":"pending"'
ask GET "/replies/late-$run?waitMs=300"
expect 204
ask GET "/replies/late-$run/stream"
expect 200 'event: timeout' '"ticketId":"late-'$run'","status":"timeout"'
me=$jerry
ask POST /replies '{"ticketId":"late-'$run'","payload":"better late than never"}'
expect 204
me=$claude
ask GET "/replies/late-$run?waitMs=0"
expect 200 '"status":"responded"'

step 'A ticket is cancelled'
ask POST "/agents/$to/send" '{"ticketId":"stop-'$run'","payload":"never mind"}'
expect 200 '"status":"pending"'
ask POST /api/op/cancel_ticket '{"ticketId":"stop-'$run'"}'
expect 200 '"status":"cancelled"'
ask GET "/replies/stop-$run"
expect 200 '"ticketId":"stop-'$run'","status":"cancelled"'

step 'There is no such ticket'
ask GET "/replies/nothing-$run"
expect 404 TICKET_NOT_FOUND suggestion

echo 'All as it should be.'
