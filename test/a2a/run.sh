#!/usr/bin/env bash
# Installs the official A2A SDKs for JavaScript and Go and asks our agents with them:
# test/a2a/run.sh [go test flags]
# It is kept in C3PO_A2A, or in the user's cache. Without it nothing is shown, which is
# said loudly, and is a failure where CI=true.
set -euo pipefail
cd "$(dirname "$0")/../.."

. test/a2a/sdk.sh

# give_up says that nothing was shown today.
give_up() {
	printf '\n*** the A2A SDK was NOT run: %s ***\n\n' "$1" >&2
	[ "${CI:-}" != true ] || exit 1
	exit 0
}

command -v npm >/dev/null || give_up "npm is not installed"
install_sdk || give_up "npm could not install it"
# The SDK for Go is a module apart: it needs more than the whole program.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export C3PO_A2A_GO=$folder/gosdk
(cd test/a2a/gosdk && go build -o "$C3PO_A2A_GO" .)
go test -count=1 -timeout="$([ -z "${C3PO_TORTURE:-}" ] && echo 5m || echo 30m)" "$@" ./test/a2a
