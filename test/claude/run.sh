#!/usr/bin/env bash
# Installs the real Claude Code from npm and runs our plugin in it, in a network
# that has nothing but loopback: test/claude/run.sh [go test flags]
# It is kept in C3PO_CLAUDE, or in the user's cache. Without it nothing is shown,
# which is said loudly, and is a failure where CI=true.
set -euo pipefail
cd "$(dirname "$0")/../.."

# The exact version: without one, npm chooses an old one for the Node it runs on.
# The program itself is native and needs no Node.
package=@anthropic-ai/claude-code@2.1.325
export C3PO_CLAUDE=${C3PO_CLAUDE:-${XDG_CACHE_HOME:-$HOME/.cache}/c3po/claude}

# give_up says that nothing was shown today.
give_up() {
	printf '\n*** the tests with Claude Code were NOT run: %s ***\n\n' "$1" >&2
	[ "${CI:-}" != true ] || exit 1
	exit 0
}

for tool in unshare nsenter ip tmux hostname; do
	command -v "$tool" >/dev/null || give_up "$tool is not installed"
done
if [ "$(cat "$C3PO_CLAUDE/installed" 2>/dev/null || true)" != "$package" ]; then
	command -v npm >/dev/null || give_up "npm is not installed"
	mkdir -p "$C3PO_CLAUDE"
	# A lock would name the hosts of one registry.
	npm install --prefix "$C3PO_CLAUDE" --no-package-lock --no-audit --no-fund --loglevel=error "$package" ||
		give_up "npm could not install it"
	"$C3PO_CLAUDE/node_modules/.bin/claude" --version || give_up "what npm installed does not run"
	printf '%s' "$package" >"$C3PO_CLAUDE/installed"
fi

# Compiled before the network goes away, also what the tests build themselves.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
go test -c -o "$folder/claude.test" ./test/claude
go build -o /dev/null ./cmd/c3po
own=(unshare -n)
[ "$(id -u)" -eq 0 ] || own=(unshare -rn)
cd test/claude
limit=20m
[ -z "${C3PO_TORTURE:-}" ] || limit=120m
"${own[@]}" sh -c 'ip link set lo up && exec "$@"' sh "$folder/claude.test" -test.timeout="$limit" -test.parallel="${PARALLEL:-2}" "$@"
