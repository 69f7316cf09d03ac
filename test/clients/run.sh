#!/usr/bin/env bash
# Installs real coding agents from npm and runs c3po in them, in a network that
# has nothing but loopback: test/clients/run.sh [go test flags]
# They are kept in C3PO_CLIENTS, or in the user's cache. One that cannot be
# installed is named at the end, and is a failure where CI=true.
set -euo pipefail
cd "$(dirname "$0")/../.."

declare -A packages=(
	[claude]=$(sed -n 's/^package=//p' test/claude/run.sh) # for the test with all of them
	[codex]=@openai/codex@0.166.0
	[gemini]=@google/gemini-cli@0.61.0
	[opencode]="opencode-ai@1.18.33 @opencode-ai/plugin@1.18.33 typescript@7.0.2 @types/node@20.19.43" # and what its plugin is checked with
	[copilot]=@github/copilot@1.0.102
	[kimi]="@moonshot-ai/kimi-code@2.1.0 node@24.21.0" # and a Node that it runs on
)
export C3PO_CLIENTS=${C3PO_CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/c3po/clients}

give_up() { # give_up WHAT REASON
	printf '\n*** the tests with %s were NOT run: %s ***\n\n' "$1" "$2" >&2
	[ "${CI:-}" != true ] || exit 1
}

for tool in unshare ip tmux npm; do
	command -v "$tool" >/dev/null || { give_up "coding agents" "$tool is not installed"; exit 0; }
done
missing=()
# Claude Code is the one of its own tests.
claude=${C3PO_CLAUDE:-${XDG_CACHE_HOME:-$HOME/.cache}/c3po/claude}
mkdir -p "$claude" "$C3PO_CLIENTS"
[ -e "$C3PO_CLIENTS/claude" ] || ln -s "$claude" "$C3PO_CLIENTS/claude"
for client in "${!packages[@]}"; do
	at=$C3PO_CLIENTS/$client package=${packages[$client]}
	[ "$(cat "$at/installed" 2>/dev/null || true)" != "$package" ] || continue
	mkdir -p "$at"
	# A lock would name the hosts of one registry.
	if npm install --prefix "$at" --no-package-lock --no-audit --no-fund --loglevel=error $package && # several words are several packages
		PATH=$at/node_modules/.bin:$PATH XDG_CACHE_HOME=$at/cache "$client" --version; then # some unpack themselves there
		printf '%s' "$package" >"$at/installed"
	else
		missing+=("$client")
	fi
done

# Compiled before the network goes away.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
go test -c -o "$folder/clients.test" ./test/clients
own=(unshare -n)
[ "$(id -u)" -eq 0 ] || own=(unshare -rn)
limit=20m
[ -z "${C3PO_TORTURE:-}" ] || limit=120m
(
	cd test/clients
	"${own[@]}" sh -c 'ip link set lo up && exec "$@"' sh "$folder/clients.test" -test.timeout="$limit" -test.parallel="${PARALLEL:-2}" "$@"
)
for client in "${missing[@]}"; do
	give_up "$client" "npm could not install it"
done
