#!/usr/bin/env bash
# Builds the OpenTelemetry collector from its modules and sends it what coordinators do:
# test/otel/run.sh [go test flags]
# Without it nothing is shown, which is said loudly, and is a failure where CI=true.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export C3PO_OTEL=$folder/collector
if ! (cd test/otel/collector && go build -o "$C3PO_OTEL" .); then
	printf '\n*** the OpenTelemetry collector was NOT run: it could not be built ***\n\n' >&2
	[ "${CI:-}" != true ] || exit 1
	exit 0
fi
go test -count=1 -timeout="$([ -z "${C3PO_TORTURE:-}" ] && echo 5m || echo 30m)" "$@" ./test/otel
