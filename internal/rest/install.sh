#!/bin/sh
# Installs c3po from a coordinator and joins it:
#   curl -fsSk --pinnedpubkey 'sha256//...' https://HOST:PORT/install | sh -s -- INVITATION
# It came over a connection to a coordinator that is known, and brings the
# hashes of the programs with it.
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

fetch() { # fetch URL FILE
	if [ -n "$pin" ]; then
		curl -fsSk --pinnedpubkey "$pin" -o "$2" "$1"
	else
		curl -fsS -o "$2" "$1"
	fi
}

main() {
	[ $# -ge 1 ] || fail "give the invitation that c3po invite printed"
	case $1 in
	c3po://*/*) ;;
	*) fail "this is not an invitation: $1" ;;
	esac
	address=${1#c3po://}
	address=${address%%/*}
	case $address in
	*[!A-Za-z0-9._:-]*)
		case $address in
		*[!0-9a-fA-F.:\[\]]*) fail "this is not an address: $address" ;;
		esac
		;;
	esac

	system=$(uname -s | tr '[:upper:]' '[:lower:]')
	machine=$(uname -m)
	case $machine in
	x86_64 | amd64) machine=amd64 ;;
	aarch64 | arm64) machine=arm64 ;;
	armv6* | armv7*) machine=arm ;;
	i?86) machine=386 ;;
	esac
	name=c3po-$system-$machine
	want=$(printf '%s\n' "$programs" | sed -n "s/^$name //p")
	[ -n "$want" ] || fail "the coordinator has no program for $system on $machine; put $name beside its own"

	if [ "$(id -u)" -eq 0 ]; then
		folder=${C3PO_BIN:-/usr/local/bin}
	else
		folder=${C3PO_BIN:-$HOME/.local/bin}
	fi
	mkdir -p "$folder"
	new=$(mktemp "$folder/.c3po-XXXXXX")
	trap 'rm -f "$new"' EXIT
	trap 'exit 1' HUP INT TERM
	fetch "https://$address/install/$name" "$new"
	[ "$(sum "$new")" = "$want" ] || fail "the program is not the one the coordinator offers; nothing was installed"
	chmod 755 "$new"
	mv -f "$new" "$folder/c3po"
	printf 'c3po is in %s\n' "$folder/c3po"
	case :$PATH: in
	*:"$folder":*) ;;
	*) printf 'add it to your PATH: export PATH="%s:$PATH"\n' "$folder" ;;
	esac
	"$folder/c3po" join "$@"
}

main "$@"
