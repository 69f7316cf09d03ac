#!/usr/bin/env bash
# Packs the TypeScript client and uses it in Node before a real coordinator:
# test/typescript/run.sh [go test flags]
# The compiler is that of the dashboard. Without it nothing is shown, which is said loudly, and
# is a failure where CI=true.
set -euo pipefail
cd "$(dirname "$0")/../.."

# give_up says that nothing was shown today.
give_up() {
	printf '\n*** the TypeScript client was NOT run: %s ***\n\n' "$1" >&2
	[ "${CI:-}" != true ] || exit 1
	exit 0
}

command -v npm >/dev/null || give_up "npm is not installed"
make -s web-modules || give_up "npm could not install the compiler"
C3PO_TYPESCRIPT=$PWD/web/node_modules go test -count=1 -timeout="$([ -z "${C3PO_TORTURE:-}" ] && echo 5m || echo 30m)" "$@" ./test/typescript
