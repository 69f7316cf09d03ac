#!/bin/sh
# Installs c3po, from the page of releases:
#   curl -fsSL https://github.com/c3po-dev/c3po/releases/latest/download/install.sh | sh
# or from a coordinator, which is then joined:
#   curl -fsSk --pinnedpubkey 'sha256//...' https://HOST:PORT/install | C3PO_INVITATION=c3po://... sh
# A coordinator writes into it how it is known and the hashes of its programs; from
# the page of releases the hashes are those of checksums.txt.
# C3PO_BIN is the folder it installs into, C3PO_VERSION a release other than the
# newest (v1.2.3), C3PO_RELEASES another page of releases.
set -eu

pin='@PIN@'
programs='@PROGRAMS@'

fail() {
	printf 'c3po: %s\n' "$1" >&2
	exit 1
}

sum() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum "$1" | cut -d ' ' -f 1
	elif command -v shasum >/dev/null 2>&1; then
		shasum -a 256 "$1" | cut -d ' ' -f 1
	else
		openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
	fi
}

# here finds out what to fetch and where it goes.
here() {
	system=$(uname -s | tr '[:upper:]' '[:lower:]')
	machine=$(uname -m)
	case $machine in
	x86_64 | amd64) machine=amd64 ;;
	aarch64 | arm64) machine=arm64 ;;
	armv6* | armv7*) machine=arm ;;
	i?86) machine=386 ;;
	esac
	name=c3po-$system-$machine
	if [ "$(id -u)" -eq 0 ]; then
		folder=${C3PO_BIN:-/usr/local/bin}
	else
		folder=${C3PO_BIN:-$HOME/.local/bin}
	fi
	command -v curl >/dev/null 2>&1 || fail "curl is not installed"
}

# make_room makes a place beside the program, so that the new one replaces it in one step.
make_room() {
	mkdir -p "$folder"
	room=$(mktemp -d "$folder/.c3po-XXXXXX")
	trap 'rm -rf "$room"' EXIT
	trap 'exit 1' HUP INT TERM
}

put() { # put FILE
	chmod 755 "$1"
	mv -f "$1" "$folder/c3po"
	printf 'c3po is in %s\n' "$folder/c3po"
	case :$PATH: in
	*:"$folder":*) ;;
	*) printf 'add it to your PATH: export PATH="%s:$PATH"\n' "$folder" ;;
	esac
}

from_coordinator() {
	# The invitation comes in a variable: others can read arguments.
	invitation=${C3PO_INVITATION:-}
	unset C3PO_INVITATION
	case $invitation in
	'') fail "there is no invitation; use the whole line that c3po invite printed, with C3PO_INVITATION in it" ;;
	c3po://*/*) ;;
	*) fail "C3PO_INVITATION is not an invitation; use the whole line that c3po invite printed" ;;
	esac
	address=${invitation#c3po://}
	address=${address%%/*}
	case $address in
	*[!A-Za-z0-9._:-]*)
		case $address in
		*[!0-9a-fA-F.:\[\]]*) fail "this is not an address: $address" ;;
		esac
		;;
	esac
	here
	want=$(printf '%s\n' "$programs" | sed -n "s/^$name //p")
	[ -n "$want" ] || fail "the coordinator has no program for $system on $machine; put $name beside its own"
	make_room
	if [ -n "$pin" ]; then
		curl -fsSk --pinnedpubkey "$pin" -o "$room/c3po" "https://$address/install/$name"
	else
		curl -fsS -o "$room/c3po" "https://$address/install/$name"
	fi
	[ "$(sum "$room/c3po")" = "$want" ] || fail "the program is not the one the coordinator offers; nothing was installed"
	put "$room/c3po"
	"$folder/c3po" join - "$@" <<-END
		$invitation
	END
}

from_releases() {
	[ $# -eq 0 ] || fail "this script is from the page of releases and takes no argument; for an invitation, use the line that c3po invite printed"
	here
	page=${C3PO_RELEASES:-https://github.com/c3po-dev/c3po/releases}
	case ${C3PO_VERSION:-latest} in
	latest) page=$page/latest/download ;;
	v[0-9]*) page=$page/download/$C3PO_VERSION ;;
	*) fail "C3PO_VERSION is $C3PO_VERSION, not a version such as v1.2.3" ;;
	esac
	case $(uname -m) in
	armv6*) fail "there is no release for this processor; nothing was installed" ;;
	esac
	archive=$name.tar.gz
	make_room
	curl -fsSL -o "$room/checksums.txt" "$page/checksums.txt" || fail "there is no release at $page; nothing was installed"
	want=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$room/checksums.txt")
	[ -n "$want" ] || fail "there is no release for $system on $machine; nothing was installed"
	curl -fsSL -o "$room/$archive" "$page/$archive" || fail "$page/$archive cannot be fetched; nothing was installed"
	[ "$(sum "$room/$archive")" = "$want" ] || fail "$archive is not what checksums.txt says; nothing was installed"
	tar -xzf "$room/$archive" -C "$room" c3po || fail "$archive holds no c3po; nothing was installed"
	put "$room/c3po"
	command -v redis-server >/dev/null 2>&1 || command -v valkey-server >/dev/null 2>&1 ||
		printf 'c3po up also needs redis-server (7.0 or newer) or valkey-server, for example: apt install redis-server\n'
}

main() {
	case $programs in
	@*) from_releases "$@" ;;
	*) from_coordinator "$@" ;;
	esac
}

main "$@"
