#!/bin/sh
# Two agents: one asks, the other answers, and the asker gets the answer in the
# command it asked with. Run it where `c3po up` has been run.
set -eu

# The one that will be asked. wait ends when mail is there; its JSON says what came.
c3po register --as api >/dev/null
(
	question=$(c3po wait --as api --timeout 60 --json)
	id=$(printf '%s' "$question" | sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' | head -n 1)
	c3po reply "$id" "8443, see deploy/gateway.yaml" --as api >/dev/null
) &

c3po send api "Which port does the gateway use?" --as web --wait 60
wait
