#!/usr/bin/env bash
# Installs the MCP conformance suites and runs them against our stack:
# test/conformance/run.sh
# They are kept in C3PO_CONFORMANCE, or in the user's cache. Without them nothing is
# shown, which is said loudly, and is a failure where CI=true.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Exact versions: a suite that changes by itself cannot be a bar. It needs Node 22,
# which is not what every system has.
packages=(
	conformance-2026@npm:@modelcontextprotocol/conformance@0.2.0-alpha.12
	conformance-2025@npm:@modelcontextprotocol/conformance@0.1.16
	node@22.23.3
)
export C3PO_CONFORMANCE=${C3PO_CONFORMANCE:-${XDG_CACHE_HOME:-$HOME/.cache}/c3po/conformance}

# give_up says that nothing was shown today.
give_up() {
	printf '\n*** the conformance suite was NOT run: %s ***\n\n' "$1" >&2
	[ "${CI:-}" != true ] || exit 1
	exit 0
}

wanted="${packages[*]}"
if [ "$(cat "$C3PO_CONFORMANCE/installed" 2>/dev/null || true)" != "$wanted" ]; then
	command -v npm >/dev/null || give_up "npm is not installed"
	mkdir -p "$C3PO_CONFORMANCE"
	# A lock would name the hosts of one registry.
	npm install --prefix "$C3PO_CONFORMANCE" --no-package-lock --no-audit --no-fund --loglevel=error "${packages[@]}" ||
		give_up "npm could not install it"
	"$C3PO_CONFORMANCE/node_modules/.bin/node" --version || give_up "npm installed no Node that runs"
	printf '%s' "$wanted" >"$C3PO_CONFORMANCE/installed"
fi
go test -count=1 -timeout=5m -run 'Conform' ./test/conformance ./internal/transport/mcpserver
