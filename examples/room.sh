#!/bin/sh
# A room: what is said there is kept once, and every member reads it when it looks.
# Whoever is named with @ gets it as mail too. Run it where `c3po up` has been run.
set -eu

for agent in api web docs; do
	c3po room join build --as "$agent" >/dev/null
done
c3po room post build "The tests are green again" --as api
c3po room post build "@docs the flag is now called --listen" --as web
c3po room history build --as docs
c3po inbox --as docs
