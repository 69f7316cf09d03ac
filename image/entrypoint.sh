#!/bin/bash
# What runs before the client of a container: entrypoint.sh CLIENT ARGUMENT…
# It updates plugins, checks the credentials of an agent, runs the agent's init
# commands, and then becomes the client.
#
#   C3PO_MODE                      prompt (if not set) or agent
#   C3PO_ENV_FILE                  a script that sets the variables that are secret
#   AGENT_INIT                     the init commands, a JSON array in base64
#   C3PO_AGENT_ID                  who the client is
#   CLAUDE_DOCKER_TRIGGER_HANDOFF  a file that gets that id
#
# Exit codes besides the client's: 64 it was called wrongly, 70 an init command
# failed, 78 the credentials do not work.

# The first process of a container ignores what it does not ask for.
trap 'kill "$child" 2>/dev/null; exit 143' TERM INT
child=

say() { printf 'c3po: %s\n' "$*" >&2; }

if [ -n "${C3PO_ENV_FILE:-}" ]; then
	if [ ! -r "$C3PO_ENV_FILE" ]; then
		say "the variables of this container cannot be read: $C3PO_ENV_FILE"
		exit 78
	fi
	. "$C3PO_ENV_FILE"
fi

case "${C3PO_MODE:-prompt}" in
prompt | agent) ;;
*)
	say "there is no mode $C3PO_MODE"
	exit 64
	;;
esac
if [ $# -eq 0 ]; then
	say "there is nothing to run"
	exit 64
fi

# interruptibly runs a command so that a signal need not wait for it.
interruptibly() {
	"$@" </dev/null >/dev/null 2>&1 &
	child=$!
	wait "$child"
	local code=$?
	child=
	return "$code"
}

# Plugins are brought up to date as far as that goes: nothing depends on it.
plugins=${CLAUDE_CONFIG_DIR:-$HOME/.claude}/plugins/installed_plugins.json
if [ -r "$plugins" ]; then
	while IFS= read -r plugin; do
		interruptibly timeout 30 claude plugin update "$plugin"
	done < <(jq -r '.plugins // {} | keys[]' "$plugins" 2>/dev/null)
fi

# An agent that nobody can reach must not start: it would cost and answer nobody.
if [ "${C3PO_MODE:-prompt}" = agent ]; then
	if ! command -v c3po >/dev/null; then
		say "c3po is not in this container, so nobody could reach the agent"
		exit 78
	fi
	if ! why=$(timeout 30 c3po whoami </dev/null 2>&1 >/dev/null); then
		say "the credentials of this agent do not work"
		printf '%s\n' "$why" >&2
		exit 78
	fi
fi

# The init commands run one after the other in this shell, so that what they set
# is there for the client. None of them reads what is meant for it.
if [ -n "${AGENT_INIT:-}" ]; then
	if ! quoted=$(printf '%s' "$AGENT_INIT" | base64 -d | jq -er '@sh'); then
		say "AGENT_INIT is no list of commands"
		exit 64
	fi
	eval "init_commands=($quoted)"
	unset AGENT_INIT quoted
	init_number=0
	trap 'say "init command $init_number ended the shell: ${init_commands[$((init_number - 1))]}"; exit 70' EXIT
	for init_command in "${init_commands[@]}"; do
		init_number=$((init_number + 1))
		eval "$init_command" </dev/null || {
			init_code=$?
			trap - EXIT
			say "init command $init_number failed with $init_code: $init_command"
			exit 70
		}
	done
	trap - EXIT
	unset init_commands init_command init_number
fi

# An image or an init command may have made another agent of it.
if [ -n "${CLAUDE_DOCKER_TRIGGER_HANDOFF:-}" ] && [ -w "$CLAUDE_DOCKER_TRIGGER_HANDOFF" ]; then
	printf '%s\n' "${C3PO_AGENT_ID:-}" >"$CLAUDE_DOCKER_TRIGGER_HANDOFF"
fi

exec "$@"
