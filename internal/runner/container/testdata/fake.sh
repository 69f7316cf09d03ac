#!/bin/sh
# A program that runs containers, as far as one can tell from outside. What it is
# called decides which one it is; its state is in $FAKE.
#   $FAKE/calls        every call, its arguments parted by tabs
#   $FAKE/NAME.state   "status code" of a container
#   $FAKE/image        the label of the only image
name=$(basename "$0")
{ printf '%s' "$1"; for arg in "$@"; do [ -z "${shifted:-}" ] && shifted=1 && continue; printf '\t%s' "$arg"; done; printf '\n'; } >>"$FAKE/calls"

no_engine() { [ -e "$FAKE/$name.down" ]; }

case "$1" in
--version)
	cat "$FAKE/$name.version"
	exit
	;;
esac
if no_engine; then
	echo "Cannot connect to the engine." >&2
	exit 1
fi
case "$1" in
ps)
	for state in "$FAKE"/*.state; do
		[ -e "$state" ] && basename "$state" .state
	done
	exit 0
	;;
inspect)
	[ "$2" = --format ] && format=1 && shift 2
	[ -e "$FAKE/$2.state" ] || { echo "no such object: $2" >&2; exit 1; }
	read -r status code <"$FAKE/$2.state"
	if [ -n "${format:-}" ]; then
		echo "$status $code"
	else
		printf '[{"Id":"f00","Name":"/%s","State":{"Status":"%s","ExitCode":%s,"StartedAt":"2026-11-15T08:00:00.5Z"},"Config":{"Image":"img","Labels":{"c3po.agent":"a"}}}]\n' "$2" "$status" "$code"
	fi
	exit 0
	;;
image)
	[ -e "$FAKE/image" ] || { [ "$name" = podman ] && exit 125; exit 1; }
	cat "$FAKE/image"
	exit 0
	;;
build)
	echo "STEP 1"
	exit "${FAKE_BUILD:-0}"
	;;
stop)
	[ -e "$FAKE/$4.state" ] || exit 1
	: >"$FAKE/$4.stop"
	exit 0
	;;
rm)
	rm -f "$FAKE/$3.state"
	exit 0
	;;
logs)
	echo "a line"
	exit 0
	;;
esac

# run: what it was given, then what it does.
env >"$FAKE/environ"
shift
while [ $# -gt 0 ]; do
	case "$1" in
	--name) container=$2 && shift ;;
	--env-file) cp "$2" "$FAKE/envfile" && find "$2" -perm 600 >"$FAKE/envfile.private" && shift ;;
	esac
	shift
done
case "${FAKE_RUN:-}" in
missing) # the engine could not make the container
	echo "Error: no such image" >&2
	[ "$name" = finch ] && exit 1
	exit 125
	;;
created) # it was made and could not be started
	echo "created 127" >"$FAKE/$container.state"
	echo "Error: exec: nothing: not found" >&2
	exit 127
	;;
hang) # until it is stopped
	while [ -e "$FAKE/late" ]; do sleep 0.02; done
	echo "running 0" >"$FAKE/$container.state"
	: >"$FAKE/started"
	until [ -e "$FAKE/$container.stop" ]; do sleep 0.02; done
	echo "exited 143" >"$FAKE/$container.state"
	exit 143
	;;
lost) # the connection broke, the container runs on
	echo "running 0" >"$FAKE/$container.state"
	exit 1
	;;
esac
cat
echo "said on stdout"
echo "said on stderr" >&2
echo "exited ${FAKE_EXIT:-0}" >"$FAKE/$container.state"
exit "${FAKE_CLIENT:-${FAKE_EXIT:-0}}"
