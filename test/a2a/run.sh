#!/usr/bin/env bash
# Installs the official A2A SDKs for JavaScript and Go and asks our agents with them:
# test/a2a/run.sh [go test flags]
# It is kept in C3PO_A2A, or in the user's cache. Without it nothing is shown, which is
# said loudly, and is a failure where CI=true.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Exact versions: an SDK that changes by itself cannot be a bar. It needs a Node that not
# every system has.
packages=(@a2a-js/sdk@1.3.0 express@5.2.1 node@22.23.3)
export C3PO_A2A=${C3PO_A2A:-${XDG_CACHE_HOME:-$HOME/.cache}/c3po/a2a}

# give_up says that nothing was shown today.
give_up() {
	printf '\n*** the A2A SDK was NOT run: %s ***\n\n' "$1" >&2
	[ "${CI:-}" != true ] || exit 1
	exit 0
}

wanted="${packages[*]}"
if [ "$(cat "$C3PO_A2A/installed" 2>/dev/null || true)" != "$wanted" ]; then
	command -v npm >/dev/null || give_up "npm is not installed"
	mkdir -p "$C3PO_A2A"
	# A lock would name the hosts of one registry.
	npm install --prefix "$C3PO_A2A" --no-package-lock --no-audit --no-fund --loglevel=error "${packages[@]}" ||
		give_up "npm could not install it"
	"$C3PO_A2A/node_modules/.bin/node" --version || give_up "npm installed no Node that runs"
	printf '%s' "$wanted" >"$C3PO_A2A/installed"
fi
# The SDK for Go is a module apart: it needs more than the whole program.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export C3PO_A2A_GO=$folder/gosdk
(cd test/a2a/gosdk && go build -o "$C3PO_A2A_GO" .)
go test -count=1 -timeout="$([ -z "${C3PO_TORTURE:-}" ] && echo 5m || echo 30m)" "$@" ./test/a2a
