#!/bin/sh
# A role: work for any one agent that can do it. Three reviewers share six tasks; each
# task is done once, by whoever takes it first. curl and a token are all that it needs,
# or a coordinator with --auth none:
#
#   URL=http://localhost:8420 TOKEN=… examples/role-queue.sh
set -eu
url=${URL:-http://localhost:8420}

# op AGENT OPERATION JSON: one operation, as an agent.
op() {
	curl -fsS --max-time 60 -H 'Content-Type: application/json' -H "X-Agent-ID: $1" -H "Authorization: Bearer ${TOKEN:-none}" \
		-d "$3" "$url/api/op/$2"
}

for n in 1 2 3; do
	op "reviewer-$n" register_agent '{"capabilities":["review"]}' >/dev/null
done
for n in 1 2 3 4 5 6; do
	op lead send_message "{\"target\":\"role:review\",\"message\":\"Please review change $n\"}" >/dev/null
done

# Each looks at the queue, takes the first task that nobody has, and answers it.
done=0
while [ "$done" -lt 6 ]; do
	for n in 1 2 3; do
		for id in $(op "reviewer-$n" get_messages '{}' | grep -o '"id":"lead::role/review::[0-9a-f]*"' | cut -d'"' -f4); do
			op "reviewer-$n" claim "{\"message_id\":\"$id\"}" >/dev/null 2>&1 || continue
			op "reviewer-$n" reply "{\"message_id\":\"$id\",\"response\":\"looks good\"}" >/dev/null
			done=$((done + 1))
			echo "reviewer-$n did $id"
			break
		done
	done
done
