#!/usr/bin/env bash
# The dashboard in Chromium before a real coordinator: test/web/run.sh [NAME…], the names of tests such as size
# C3PO_TORTURE=1 for the full size, C3PO_EXACT=1 to fail at the limits themselves.
set -euo pipefail
cd "$(dirname "$0")/../.."

have=$(node --version)
if [ "$(printf '%s\n' v20.19.0 "$have" | sort -V | head -n 1)" != v20.19.0 ]; then
	echo "the dashboard is built with Node 20.19 or later; here is $have" >&2
	exit 1
fi
make -s "${WEB:-web}" # WEB=web-once takes what was just built
built=${C3PO_BUILT:-$(.ci/built)}
cd web
tests=(e2e/*.test.mjs)
[ $# -eq 0 ] || tests=("${@/%/.test.mjs}")
[ $# -eq 0 ] || tests=("${tests[@]/#/e2e/}")
C3PO_BIN=${built%:*} ../.ci/patiently node --test --test-concurrency=1 "${tests[@]}"
