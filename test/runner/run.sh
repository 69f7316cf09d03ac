#!/usr/bin/env bash
# Runs agents in real containers: podman from apt, an image with the real Claude
# Code, and a network that has nothing but loopback: test/runner/run.sh [go test flags]
# No image is pulled: the base is made of Debian packages. All that is made is kept
# in C3PO_RUNNER, or in the user's cache. What is missing is said loudly, and is a
# failure where CI=true.
set -euo pipefail
cd "$(dirname "$0")/../.."

export C3PO_RUNNER=${C3PO_RUNNER:-${XDG_CACHE_HOME:-$HOME/.cache}/c3po/runner}
base=docker.io/library/debian:bookworm-slim

. test/clients.sh
need containers podman runc mmdebstrap unshare ip
[ "$(id -u)" -eq 0 ] || give_up containers "only root can have containers in a network of their own here"

# A storage and settings of our own: those of the machine are left alone. runc,
# because crun refuses a machine with both kinds of cgroups; the limits, because
# podman asks for more than it may have where it is itself in a container. The
# network is ours: that of the machine for the build, and later nothing but loopback.
mkdir -p "$C3PO_RUNNER"
most() { # most LIMIT: what may be had of it, and no more than is enough
	[ "$1" != unlimited ] && [ "$1" -le 20000 ] && echo "$1" || echo 20000
}
files=$(most "$(ulimit -Hn)") processes=$(most "$(ulimit -Hu)")
cat >"$C3PO_RUNNER/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=$files:$files", "nproc=$processes:$processes"]
netns = "host"
[engine]
runtime = "runc"
events_logger = "file"
cgroup_manager = "cgroupfs"
[network]
network_backend = "netavark"
CONF
cat >"$C3PO_RUNNER/storage.conf" <<CONF
[storage]
driver = "overlay"
graphroot = "$C3PO_RUNNER/storage"
runroot = "$C3PO_RUNNER/state"
CONF
export CONTAINERS_CONF=$C3PO_RUNNER/containers.conf CONTAINERS_STORAGE_CONF=$C3PO_RUNNER/storage.conf

if ! podman image exists "$base"; then
	mmdebstrap --quiet --variant=minbase --include=ca-certificates,curl,git,jq,openssh-client,procps,ripgrep bookworm "$C3PO_RUNNER/rootfs.tar" || give_up containers "the base image could not be made"
	podman import --quiet --change 'CMD ["/bin/bash"]' "$C3PO_RUNNER/rootfs.tar" "$base" || give_up containers "the base image could not be imported"
	rm -f "$C3PO_RUNNER/rootfs.tar"
fi

# The same Claude Code that the tests of the plugin use.
need containers npm
install claude
[ ${#missing[@]} -eq 0 ] || give_up containers "npm could not install Claude Code"
C3PO_CLAUDE_BINARY=$(readlink -f "$C3PO_CLIENTS/claude/node_modules/.bin/claude")
export C3PO_CLAUDE_BINARY

go test -c -o "$folder/runner.test" ./test/runner
go test -c -o "$folder/container.test" ./internal/runner/container
export C3PO_BUILT=${C3PO_BUILT:-$(.ci/built)}
export C3PO_RUNNER_BINARY=${C3PO_BUILT%:*}

cd test/runner
C3PO_RUNTIME=podman "$folder/container.test" -test.timeout=5m -test.run '^TestARealRuntime'
# Docker is for the long form, with a daemon of its own.
if [ "${C3PO_TORTURE:-}" = 1 ]; then
	command -v dockerd >/dev/null || give_up containers "dockerd is not installed"
	export DOCKER_HOST=unix://$folder/docker.sock
	dockerd --data-root "$folder/docker" --exec-root "$folder/exec" -H "$DOCKER_HOST" --pidfile "$folder/dockerd.pid" \
		--iptables=false --ip6tables=false --bridge=none >"$folder/dockerd.log" 2>&1 &
	daemon=$!
	trap 'kill "$daemon"; wait "$daemon" || true; rm -rf "$folder"' EXIT
	timeout 30 sh -c 'until docker ps >/dev/null 2>&1; do sleep 0.2; done' || give_up containers "dockerd does not start"
	podman image save "$base" | docker load
	C3PO_RUNTIME=docker "$folder/container.test" -test.timeout=5m -test.run '^TestARealRuntime'
	unset DOCKER_HOST
fi
# The image is built while there is a network.
C3PO_RUNNER_STAGE=image "$folder/runner.test" -test.timeout=10m -test.run '^TestTheImage' "$@"
for stage in agents checks; do # the latter puts another program in the image
	C3PO_RUNNER_STAGE=$stage offline "$patiently" "$folder/runner.test" -test.timeout=20m -test.parallel="${PARALLEL:-2}" "$@"
done
