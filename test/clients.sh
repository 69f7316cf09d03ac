# Real coding agents for tests: installs them from npm, and runs tests with them in a
# network that has nothing but loopback. The run.sh of test/claude, test/clients and
# test/runner source it. The clients are kept in C3PO_CLIENTS, or in the user's cache.
# What cannot be had is said loudly, and is a failure where CI=true.
export C3PO_CLIENTS=${C3PO_CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/c3po/clients}

# Exact versions: without one, npm chooses an old one for the Node it runs on.
declare -A packages=(
	[claude]=@anthropic-ai/claude-code@2.1.325
	[codex]=@openai/codex@0.166.0
	[gemini]=@google/gemini-cli@0.61.0
	[opencode]="opencode-ai@1.18.33 @opencode-ai/plugin@1.18.33 typescript@7.0.2 @types/node@20.19.43" # and what its plugin is checked with
	[copilot]=@github/copilot@1.0.102
	[kimi]="@moonshot-ai/kimi-code@2.1.0 node@24.21.0" # and a Node that it runs on
)

patiently=$PWD/.ci/patiently # a program that is not ours may miss a second
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

give_up() { # give_up WHAT REASON: nothing was shown of it today
	printf '\n*** the tests with %s were NOT run: %s ***\n\n' "$1" "$2" >&2
	[ "${CI:-}" != true ] || exit 1
	exit 0
}

need() { # need WHAT TOOL…
	local what=$1 tool
	shift
	for tool; do
		command -v "$tool" >/dev/null || give_up "$what" "$tool is not installed"
	done
}

missing=() # clients that could not be installed; their tests are skipped
install() { # install CLIENT…
	local client at package
	for client; do
		at=$C3PO_CLIENTS/$client package=${packages[$client]}
		[ "$(cat "$at/installed" 2>/dev/null || true)" != "$package" ] || continue
		mkdir -p "$at"
		# A lock would name the hosts of one registry.
		if npm install --prefix "$at" --no-package-lock --no-audit --no-fund --loglevel=error $package && # several words are several packages
			PATH=$at/node_modules/.bin:$PATH XDG_CACHE_HOME=$at/cache "$client" --version; then # some unpack themselves there
			printf '%s' "$package" >"$at/installed"
		else
			missing+=("$client")
		fi
	done
}

offline() { # offline COMMAND…
	local own=(unshare -n)
	[ "$(id -u)" -eq 0 ] || own=(unshare -rn)
	"${own[@]}" sh -c 'ip link set lo up && exec "$@"' sh "$@"
}

run_tests() { # run_tests FOLDER [go test flags]: those of test/FOLDER
	local name=$1 limit=30m
	shift
	[ -z "${C3PO_TORTURE:-}" ] || limit=120m
	# Before the network goes away.
	go test -c -o "$folder/$name.test" "./test/$name"
	export C3PO_BUILT=${C3PO_BUILT:-$(.ci/built)}
	(cd "test/$name" && offline "$patiently" "$folder/$name.test" -test.timeout="$limit" -test.parallel="${PARALLEL:-2}" "$@")
	[ ${#missing[@]} -eq 0 ] || give_up "${missing[*]}" "npm could not install it"
}
