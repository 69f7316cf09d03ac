#!/usr/bin/env bash
# The program for Windows, in Wine: test/windows/run.sh
# First the tests of what differs there (paths, locks, processes, the files of other
# programs, time zones), then a person's way: c3po.exe joins a coordinator on Linux, sends,
# waits, serves tools and is installed into coding agents. Wine is of Debian 13, in a
# folder of its own; C3PO_WINE names one to keep it in. Needs root.
set -euo pipefail
cd "$(dirname "$0")/../.."

give_up() {
	printf '\n*** the program for Windows was NOT tried: %s ***\n\n' "$1" >&2
	[ "${CI:-}" != true ] || exit 1
	exit 0
}
for tool in mmdebstrap redis-server unshare ip; do
	command -v "$tool" >/dev/null || give_up "$tool is not installed"
done
[ "$(id -u)" -eq 0 ] || give_up "only root can have a Debian in a folder"

began=$SECONDS
said() { printf '%3d s  %s\n' "$((SECONDS - began))" "$*"; }
fail() {
	printf 'FAILED: %s\n' "$*" >&2
	exit 1
}

# 1. Wine, the programs and the tests, while there is a network.
if [ -z "${C3PO_WINE_WORK:-}" ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	wine=${C3PO_WINE:-$work/debian}
	if [ ! -x "$wine/usr/lib/wine/wine64" ]; then
		mmdebstrap --quiet --variant=apt --aptopt='APT::Install-Recommends "false"' --include=wine64 trixie "$wine" "$(.ci/mirror)" || give_up "Wine could not be had"
	fi
	said "Wine of Debian $(cat "$wine/etc/debian_version")"
	mkdir -p "$work/tests"
	go build -o "$work/c3po" ./cmd/c3po
	GOOS=windows go build -o "$work/c3po.exe" ./cmd/c3po
	for package in internal/host/{clients,configedit,doctor,engine,liveness,paths,settings,unit} internal/agent/hook internal/client internal/cli/mail internal/person/top; do
		GOOS=windows go test -c -vet=off -o "$work/tests/${package//\//-}.test.exe" "./$package"
	done
	said "programs and tests"
	C3PO_WINE_WORK=$work C3PO_WINE=$wine unshare --net --mount --pid --fork "$0"
	exit
fi

# 2. In a network that has nothing but loopback, beside the folders that Wine sees.
work=$C3PO_WINE_WORK wine=$C3PO_WINE
ip link set lo up
mount -t proc proc /proc
mount -t proc proc "$wine/proc"
mount --bind /dev "$wine/dev"
mkdir -p "$wine/repository" "$wine/built" "$wine/root"
mount --bind . "$wine/repository"
mount --bind "$work" "$wine/built"
echo '127.0.0.1 localhost' >"$wine/etc/hosts"
rm -rf "$wine/root/prefix"
mkdir "$wine/root/prefix"
home=$wine/root/prefix/drive_c/users/root

# debian runs a program in a folder of that Debian.
debian() { # debian FOLDER PROGRAM ARGUMENT…
	timeout 300 chroot "$wine" env -i HOME=/root XDG_RUNTIME_DIR=/run PATH=/usr/lib/wine:/usr/bin:/bin LANG=C.UTF-8 \
		WINEPREFIX=/root/prefix WINEDEBUG=-all DISPLAY= sh -c 'cd "$0" && exec "$@"' "$@"
}
# in_wine runs a program for Windows there.
in_wine() { debian "$1" wine64 "${@:2}"; }
debian / wineserver -p >/dev/null 2>&1 # by itself: whose output it had would never end
in_wine / wineboot -i >/dev/null 2>&1 || true # it looks for a 32-bit half that is not there

# What Wine or this Debian lacks: git and sh as programs of Windows, links, and rights, which
# are access lists there.
lacking='TestALinkInPlaceOfAFolderIsRefused|TestAFolderOpenToOthersIsClosed|TestAProjectIsOffUntilItIsSwitchedOnAgain|TestTheNoteOfACoordinatorComesAndGoes|TestAFileKeepsItsRightsAndTheLinkToIt|Repository|TestEveryFormOfARemote'
for test in "$work"/tests/*.exe; do
	name=$(basename "$test" .test.exe)
	in_wine "/repository/${name//-//}" "/built/tests/$name.test.exe" -test.timeout 200s -test.skip "$lacking" >"$work/test.log" 2>&1 ||
		{ tail -n 60 "$work/test.log"; fail "$name"; }
	said "passes: $name"
done

# 3. A person's way.
export HOME=$work/home
mkdir -p "$HOME"
trap '"$work/c3po" down >/dev/null 2>&1 || true' EXIT
project=/root/prefix/drive_c/project
mkdir -p "$wine$project"
c3po() { in_wine "$project" /built/c3po.exe "$@" 2>&1 | sed -u 's/\r$//'; }
has() { # has NAME PATTERN COMMAND…: what it says holds the pattern
	local name=$1 pattern=$2 out
	shift 2
	out=$("$@") || true
	grep -E -- "$pattern" <<<"$out" >/dev/null || fail "$name: $out"
	said "$name"
}

has "it says what it is" 'windows/amd64' c3po version
has "a coordinator is refused, with what to do" 'in WSL' c3po up
has "the demo too" 'in WSL' c3po demo
has "without one it says how to join" 'c3po join' c3po status
"$work/c3po" up --listen :8420 >/dev/null
invitation=$("$work/c3po" invite --at 127.0.0.1:8420 2>/dev/null | grep -o 'c3po://[^ ]*' | head -n 1)
# What cmd.exe pipes ends with a space and a carriage return.
has "it joins" 'credentials\.json' c3po join - < <(printf '%s \r\n' "$invitation")
has "its doctor finds mail going round" 'green +round trip' c3po doctor
c3po register --as reviewer >/dev/null
c3po register --as builder >/dev/null
has "it sends, in any script" 'on disk' c3po send reviewer 'Größe ✓ 日本?' --as builder
has "it reads" 'Größe ✓ 日本' c3po inbox --as reviewer
(c3po wait --as builder --timeout 1m >"$work/woken") &
waiting=$!
message=$(c3po inbox --as reviewer --json | grep -o '"id": *"[^"]*"' | head -n 1 | cut -d'"' -f4)
has "it answers" '^answered' c3po reply "$message" 'C:\src\port.go: 8443' --as reviewer
wait "$waiting"
grep -F 'C:\src\port.go: 8443' "$work/woken" >/dev/null || fail "the wait ended with: $(cat "$work/woken")"
said "a wait is woken"
has "it is switched off for a folder" 'off in C:' c3po off
has "and on" 'on in C:' c3po on

calls='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_agents","arguments":{}}}'
tools() { # its input stays open until it has answered
	{
		printf '%s\n' "$calls"
		for _ in $(seq 100); do
			! grep '"id":2' "$work/tools.out" >/dev/null 2>&1 || break
			sleep 0.1
		done
	} | c3po mcp --client codex | tee "$work/tools.out"
}
has "its tools answer" 'reviewer' tools

# outside is what is there besides what Windows and c3po keep for themselves.
outside() { find "$home" \( -path '*/AppData' -o -path '*/.local' \) -prune -o -print | sort; }
for client in codex opencode; do
	outside >"$work/before"
	has "it is installed into $client" '^write C:' c3po install "$client"
	c3po uninstall "$client" >/dev/null
	outside >"$work/after"
	left=$(comm -13 "$work/before" "$work/after")
	[ -z "$left" ] || fail "of $client is left: $left"
done
for client in gemini copilot kimi; do # Claude Code too, if it were in the PATH
	has "what needs a shell is not installed into $client" 'in WSL' c3po install "$client"
done
has "and it leaves" 'left' c3po leave
locks=$(find "$home/.local" -name 'run-*')
[ -z "$locks" ] || fail "of its sessions is left: $locks"
