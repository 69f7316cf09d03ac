#!/usr/bin/env bash
# Two hosts in network namespaces of their own, from no program at all on one of
# them to a message answered across both:
#   test/join/run.sh PROGRAM IMPOSTOR FOLDER
# PROGRAM is c3po. IMPOSTOR poses as the coordinator (go test ./test/join gives
# its own binary). Everything is written below FOLDER. Needs root and iproute2.
set -euo pipefail

program=$1 impostor=$2 work=$3
tag=c3j$$
hub=$tag-hub laptop=$tag-lap evil=$tag-evl
address=192.0.2.1
began=0

say() { printf '%s\n' "$*"; }
fail() {
	say "FAILED: $*"
	say "-- log of the coordinator"
	tail -n 20 "$work/hub.log" 2>/dev/null || true
	exit 1
}
now() { date +%s%3N; }

on() { # on NAMESPACE HOME COMMAND…: with nothing of ours in the environment
	local where=$1 home=$2
	shift 2
	ip netns exec "$where" env -i HOME="$home" PATH="$home/bin:/usr/sbin:/usr/bin:/sbin:/bin" C3PO_BIN="$home/bin" "$@"
}
hub() { on "$hub" "$work/hub" "$@"; }
laptop() { on "$laptop" "$work/laptop" "$@"; }

children=()
clean() {
	hub "$program" down >/dev/null 2>&1 || true
	for pid in "${children[@]}"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	for space in "$hub" "$laptop" "$evil"; do ip netns del "$space" 2>/dev/null || true; done
}
trap clean EXIT

refused() { # refused NAME COMMAND…: it ends with an error
	local name=$1
	shift
	if "$@" >"$work/refused.out" 2>&1; then
		cat "$work/refused.out"
		fail "$name was let in"
	fi
	say "refused: $name: $(tail -n 2 "$work/refused.out" | head -n 1)"
}

# ---- the network: hub and laptop on one wire, and another wire to the impostor,
# who has the address of the hub.
for space in "$hub" "$laptop" "$evil"; do
	ip netns add "$space"
	ip -n "$space" link set lo up
done
ip -n "$laptop" link add wire type veth peer name wire netns "$hub"
ip -n "$laptop" link add other type veth peer name wire netns "$evil"
ip -n "$hub" address add $address/24 dev wire
ip -n "$laptop" address add 192.0.2.2/24 dev wire
ip -n "$evil" address add $address/24 dev wire
for space in "$hub" "$laptop" "$evil"; do ip -n "$space" link set wire up; done
ip -n "$laptop" link set other up
mkdir -p "$work/hub/bin" "$work/laptop/bin"

# ---- the coordinator, with a Redis of its own
hub "$program" up --listen $address:8420 >"$work/up.out" 2>&1 || fail "up: $(cat "$work/up.out")"
ln -s "$work/hub/.local/state/c3po/coordinator.log" "$work/hub.log"
grep -q "https://$address:8420" "$work/up.out" || fail "it listens without TLS: $(cat "$work/up.out")"

lines=$(hub "$program" invite --host laptop 2>"$work/invite.err") || fail "invite: $(cat "$work/invite.err")"
join=$(sed -n 1p <<<"$lines")
install=$(sed -n 2p <<<"$lines")
[[ $join == "echo c3po://$address:8420/"*" | c3po join -" ]] || fail "the first line is $join"
[[ $install == "curl -fsSk --pinnedpubkey 'sha256//"*"' https://$address:8420/install | C3PO_INVITATION=c3po://"*" sh" ]] || fail "the second line is $install"
invitation=${join#echo }
invitation=${invitation% | *}

# ---- an impostor at the hub's address
ip -n "$laptop" route add $address/32 dev other
ip netns exec "$evil" env IMPOSTOR="$address:8420" IMPOSTOR_FOLDER="$work" "$impostor" >"$work/evil.log" 2>&1 &
children+=($!)
for _ in $(seq 100); do
	if laptop curl -fsSk -o "$work/evil.sh" "https://$address:8420/install" 2>/dev/null; then break; fi
	sleep 0.05
done
grep -q "pwned" "$work/evil.sh" || fail "the impostor does not answer"
laptop sh -c "$install" >"$work/evil-install.out" 2>&1 || true
grep -q "pinned public key" "$work/evil-install.out" || fail "curl did not notice the impostor: $(cat "$work/evil-install.out")"
say "refused: the script of an impostor: $(tail -n 1 "$work/evil-install.out")"
refused "an impostor with an authority of its own" laptop "$program" join - <<<"$invitation"
hub curl -fsSk "https://$address:8420/api/ca" >"$work/true-ca.pem"
refused "an impostor that shows the true authority" laptop "$program" join - <<<"$invitation"
[ ! -e "$work/pwned" ] || fail "the script of the impostor was executed"
[ ! -e "$work/secrets" ] || fail "the impostor was sent a secret: $(cat "$work/secrets")"
[ ! -e "$work/laptop/.config/c3po/credentials.json" ] || fail "the impostor left credentials behind"
ip -n "$laptop" route del $address/32 dev other

# ---- the laptop joins, from nothing
[ -z "$(ls "$work/laptop/bin")" ] || fail "the laptop has a program already"
began=$(now)
laptop sh -c "$install" >"$work/join.out" 2>&1 || fail "join: $(cat "$work/join.out")"
joined=$(now)
cat "$work/join.out"
grep -q "joined https://$address:8420 as laptop" "$work/join.out" || fail "it does not say that it joined"
cmp -s "$program" "$work/laptop/bin/c3po" || fail "it has another program"
mode=$(stat -c '%a' "$work/laptop/.config/c3po/credentials.json" "$work/laptop/.config/c3po" | paste -sd ' ')
[ "$mode" = "600 700" ] || fail "modes of the credentials: $mode"

# ---- a question from the hub, answered on the laptop
laptop c3po inbox --as helper >/dev/null
hub "$program" send laptop/helper "What is the answer?" --as asker --wait 20 >"$work/answer.out" 2>&1 &
asking=$!
laptop c3po wait --as helper --json >"$work/question.json" || fail "the question did not come"
question=$(sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' "$work/question.json" | head -n 1)
laptop c3po reply "$question" "forty-two" --as helper >/dev/null || fail "the laptop cannot answer $question"
wait "$asking" || fail "no answer: $(cat "$work/answer.out")"
grep -q "forty-two" "$work/answer.out" || fail "the answer is $(cat "$work/answer.out")"
ended=$(now)

# ---- the person at the laptop signs in there, and answers an agent of that host
refused "the person before they signed in" laptop c3po human list
line=$(hub "$program" invite --person 2>/dev/null | sed -n 1p)
[[ $line == "echo c3po://$address:8420/"*" | c3po login -" ]] || fail "a person is invited with $line"
laptop sh -c "$line" >"$work/login.out" 2>&1 || fail "login: $(cat "$work/login.out")"
cat "$work/login.out"
[ "$(stat -c '%a' "$work/laptop/.config/c3po/person.json")" = 600 ] || fail "others can read the person's token"
laptop c3po ask-human "May I deploy?" --as helper --json >"$work/asked.json" || fail "the agent cannot ask"
asked=$(sed -n 's/.*"message_id": *"\([^"]*\)".*/\1/p' "$work/asked.json")
refused "an agent at the laptop that answers for the person" laptop env CLAUDECODE=1 c3po answer "${asked##*::}" yes
refused "an agent at the laptop that pauses others" laptop env CODEX_SANDBOX=1 c3po pause --all
laptop c3po answer "${asked##*::}" "after noon" >"$work/answered.out" 2>&1 || fail "answer: $(cat "$work/answered.out")"
laptop c3po wait --for "$asked" --as helper --timeout 20s >"$work/decided.out" || fail "the answer did not come"
grep -q "after noon" "$work/decided.out" || fail "the agent was answered $(cat "$work/decided.out")"
laptop c3po open --print >"$work/open.out" 2>&1 || fail "open: $(cat "$work/open.out")"
grep -q "^https://$address:8420/#/login/" "$work/open.out" || fail "the dashboard is at $(cat "$work/open.out")"
refused "an admin's command of who is a person" laptop c3po token list
laptop c3po leave --person >/dev/null || fail "signing out"
refused "the person after they signed out" laptop c3po human list
laptop c3po register --as helper >/dev/null || fail "the host left with its person"

# ---- and what else is refused
refused "the same invitation again" laptop c3po join - <<<"$invitation"
refused "an agent of another host" laptop c3po register --as hub/asker
refused "an invitation made by a joined host" laptop c3po invite
laptop c3po leave >/dev/null || fail "leaving"
refused "a host that has left" laptop c3po register --as helper

say "TIMES install_and_join_ms=$((joined - began)) until_answered_ms=$((ended - began))"
