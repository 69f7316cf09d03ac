# The official A2A SDK for JavaScript, for tests: sourced by those that ask agents with it, or
# have an agent on it. It is kept in C3PO_A2A, or in the user's cache.

# Exact versions: an SDK that changes by itself cannot be a bar. It needs a Node that not
# every system has.
sdk=(@a2a-js/sdk@1.3.0 express@5.2.1 node@22.23.3)
export C3PO_A2A=${C3PO_A2A:-${XDG_CACHE_HOME:-$HOME/.cache}/c3po/a2a}

install_sdk() { # fails if it cannot be had
	local wanted="${sdk[*]}"
	[ "$(cat "$C3PO_A2A/installed" 2>/dev/null || true)" != "$wanted" ] || return 0
	mkdir -p "$C3PO_A2A"
	# A lock would name the hosts of one registry.
	npm install --prefix "$C3PO_A2A" --no-package-lock --no-audit --no-fund --loglevel=error "${sdk[@]}" &&
		"$C3PO_A2A/node_modules/.bin/node" --version &&
		printf '%s' "$wanted" >"$C3PO_A2A/installed"
}
