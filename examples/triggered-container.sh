#!/bin/sh
# A container that mail starts: nothing of it runs until somebody asks. It answers how many
# files it finds in its folder, and ends. A script answers here; with `client: claude` and a
# sentence as its prompt it is a model. Run it where `c3po up` has been run, with Docker,
# Podman or Finch.
#
# WORKSPACE is the one folder of yours that the container sees; an empty one if not set.
set -eu
agents=${XDG_CONFIG_HOME:-$HOME/.config}/c3po/agents.yaml
if [ -e "$agents" ]; then
	echo "$agents is there already: add the agent below to it, and run c3po agent run counter" >&2
	exit 1
fi
workspace=${WORKSPACE:-$(mktemp -d)}

cat >"$agents" <<END
counter:
  workspace: $workspace
  client: shell
  image: docker.io/library/debian:bookworm-slim
  triggers: [c3po]
  prompt: |
    for id in \$(c3po inbox --json | grep -o '"id": *"[^"]*"' | cut -d'"' -f4); do
      c3po reply "\$id" "There are \$(ls /workspace | wc -l) files."
    done
END

# The runner waits on this host, and starts a container for each mail.
c3po agent run counter >"$agents.log" 2>&1 &
runner=$!
trap 'kill "$runner"; wait "$runner" || true; rm -f "$agents" "$agents.log"' EXIT
until c3po agents | grep -q '/counter '; do
	kill -0 "$runner" 2>/dev/null || { cat "$agents.log" >&2; exit 1; }
	sleep 0.2
done

counter=$(c3po agents | grep -o '[^ ]*/counter ')
c3po send $counter "How many files do you see?" --as web --wait 300
c3po agent status
