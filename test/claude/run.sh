#!/usr/bin/env bash
# Runs our plugin in the real Claude Code: test/claude/run.sh [go test flags]
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/clients.sh
need "Claude Code" unshare nsenter ip tmux hostname npm
install claude
run_tests claude "$@"
