#!/usr/bin/env bash
# Runs c3po in real coding agents: test/clients/run.sh [go test flags]
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/clients.sh
need "coding agents" unshare ip tmux
install "${!packages[@]}"
run_tests clients "$@"
