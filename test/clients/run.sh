#!/usr/bin/env bash
# Runs c3po in real coding agents: test/clients/run.sh [go test flags]
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/clients.sh
. test/a2a/sdk.sh # for an agent of another system
need "coding agents" unshare ip tmux
install "${!packages[@]}"
install_sdk || missing+=("the A2A SDK")
run_tests clients "$@"
