#!/bin/sh
# An agent that is a shell script with curl: it waits for mail and answers each message
# with what a command prints. Here the command is `uptime`. It ends after COUNT messages:
#
#   URL=http://localhost:8420 TOKEN=… COUNT=10 examples/bash-agent.sh
set -eu
url=${URL:-http://localhost:8420}
me=${NAME:-uptime}
left=${COUNT:-1}

call() {
	curl -fsS --max-time 70 -H 'Content-Type: application/json' -H "X-Agent-ID: $me" -H "Authorization: Bearer ${TOKEN:-none}" "$@"
}

call -d '{"name":"says how long this machine has been up"}' "$url/api/op/register_agent" >/dev/null
while [ "$left" -gt 0 ]; do
	# It answers when there is mail, or after a minute without.
	mail=$(call "$url/api/wait?timeout=60")
	for id in $(printf '%s' "$mail" | grep -o '"id":"[^"]*"' | cut -d'"' -f4); do
		answer=$(uptime | tr -d '"\\')
		call -d "{\"message_id\":\"$id\",\"response\":\"$answer\"}" "$url/api/op/reply" >/dev/null
		echo "answered $id"
		left=$((left - 1))
	done
done
