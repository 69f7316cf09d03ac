#!/usr/bin/env bash
# Holds deploy/ against the real tools: test/deploy/run.sh
# Alert rules, units and manifests are checked; the coordinator's image is built and both
# compose files are brought up with it, in a container runtime (podman) of its own. Nothing is pulled: Redis is this machine's own, in an image with the name that the
# files ask for. Without podman nothing is shown, which is a failure where CI=true.
set -euo pipefail
cd "$(dirname "$0")/../.."

for tool in podman docker-compose redis-server runc promtool systemd-analyze python3; do
	command -v "$tool" >/dev/null && continue
	printf '\n*** deploy/ was NOT tried: %s is not installed ***\n\n' "$tool" >&2
	[ "${CI:-}" != true ] || exit 1
	exit 0
done

work=$(mktemp -d)
began=$SECONDS
said() { printf '%3d s  %s\n' "$((SECONDS - began))" "$*"; }
fail() {
	printf 'FAILED: %s\n' "$*" >&2
	exit 1
}

# A runtime of our own, that touches no image and no container of anybody else. The
# settings let it run where limits cannot be raised and there is no systemd, and find
# images by their short names.
cat >"$work/containers.conf" <<-END
	[containers]
	default_ulimits = ["nofile=$(ulimit -Hn):$(ulimit -Hn)", "nproc=20000:20000"]
	[engine]
	runtime = "runc"
	events_logger = "file"
	cgroup_manager = "cgroupfs"
	image_default_format = "docker"
	compat_api_enforce_docker_hub = false
	[network]
	network_backend = "netavark"
END
export CONTAINERS_CONF=$work/containers.conf DOCKER_HOST=unix://$work/podman.sock
unset CONTAINER_HOST
pod() { podman --root "$work/root" --runroot "$work/runroot" "$@"; }

service=
finish() {
	local code=$?
	if [ $code -ne 0 ]; then
		for c in $(pod ps -aq); do pod logs "$c" 2>&1 | tail -n 20 >&2; done
	fi
	pod rm -af -t 1 >/dev/null 2>&1 || true
	pod network prune -f >/dev/null 2>&1 || true
	[ -z "$service" ] || kill "$service" 2>/dev/null || true
	pod system reset -f >/dev/null 2>&1 || true
	rm -rf "$work"
}
trap finish EXIT

# within SECONDS COMMAND…: until it succeeds.
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt "$end" ] || fail "not in time: $*"
		sleep 0.2
	done
}

# redis_image makes what the compose files call redis:7-alpine of this machine's Redis.
redis_image() {
	local root=$work/redis-image program
	mkdir -p "$root"/{bin,usr/bin,data,tmp}
	cp "$(command -v redis-server)" "$(command -v redis-cli)" "$root/usr/bin/"
	cp -L /bin/sh "$root/bin/sh"
	for program in "$root"/usr/bin/* "$root/bin/sh"; do
		ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
			mkdir -p "$root$(dirname "$library")"
			cp -nL "$library" "$root$library"
		done
	done
	# As that image does: other containers may connect without a password.
	mv "$root/usr/bin/redis-server" "$root/usr/bin/redis"
	printf '#!/bin/sh\nexec /usr/bin/redis "$@" --protected-mode no --bind "*"\n' >"$root/usr/bin/redis-server"
	chmod 755 "$root/usr/bin/redis-server"
	tar -C "$root" -c . | pod import -q --change 'ENV PATH=/usr/bin:/bin' --change 'WORKDIR /data' --change 'VOLUME /data' \
		--change 'CMD ["redis-server"]' - redis:7-alpine >/dev/null 2>&1
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# exchange FOLDER COMMAND…: a host joins with the invitation that COMMAND prints, and an
# agent of it sends to another.
exchange() {
	local home=$1 line
	shift
	mkdir -p "$home"
	line=$("$@" | grep '| c3po join -$') || fail "no invitation: $*"
	env -i HOME="$home" PATH="$PATH" C3PO_PREFIX=x $work/context/c3po join - <<<"$line" >/dev/null
	env -i HOME="$home" PATH="$PATH" $work/context/c3po whoami --as api >/dev/null
	env -i HOME="$home" PATH="$PATH" $work/context/c3po send laptop/api "through a container" --as web | grep '^sent '
}

# arrived FOLDER: the message of exchange is in the inbox.
arrived() { env -i HOME="$1" PATH="$PATH" $work/context/c3po inbox --as api | grep 'through a container' >/dev/null; }

promtool check rules deploy/prometheus/c3po.rules.yaml
promtool test rules deploy/prometheus/c3po.rules.test.yaml
python3 -m json.tool deploy/grafana/c3po.json >/dev/null
(cd test/deploy/manifests && go vet ./... && go test -count=1 ./...)
for unit in deploy/systemd/*.service; do
	# The program and the manual page need not be installed here.
	sed -e 's,/usr/bin/c3po,/bin/true,' -e '/^Documentation=/d' "$unit" >"$work/$(basename "$unit")"
	wrong=$(systemd-analyze verify "$work/$(basename "$unit")" 2>&1 | grep "$(basename "$unit")" || true)
	[ -z "$wrong" ] || fail "$wrong"
done
said "alert rules, dashboard, manifests and units are what their programs take"

mkdir -p "$work/context"
cp -r deploy/. "$work/context"
CGO_ENABLED=0 go build -trimpath -o "$work/context/c3po" ./cmd/c3po
pod build -q -t c3po/c3po:latest "$work/context" >/dev/null 2>"$work/build.log" || fail "$(cat "$work/build.log")"
redis_image
said "images: $(pod images --format '{{.Repository}} {{.Size}}' | tr '\n' ',')"
[ "$(pod image inspect --format '{{.Config.User}}' c3po/c3po:latest)" = 65532:65532 ] || fail "the image runs as another user"

podman --root "$work/root" --runroot "$work/runroot" system service --time=0 "$DOCKER_HOST" 2>"$work/service.log" &
service=$!
within 20 test -S "$work/podman.sock"

# 1. Our compose file, filled in as its example says.
cd "$work/context"
port=$(free_port)
sed -e "s/^C3PO_NAME=.*/C3PO_NAME=127.0.0.1/" -e "s/^REDIS_PASSWORD=.*/REDIS_PASSWORD=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')/" \
	-e "s/^C3PO_PORT=.*/C3PO_PORT=$port/" env.example >.env
mkdir -p redis
chown 1026:100 redis # any owner will do
compose() { docker-compose -p ours -f compose.yaml "$@" 2>>"$work/compose.log"; }
compose up -d || fail "$(cat "$work/compose.log")"
coordinator=$(compose ps -q coordinator)
within 30 pod exec "$coordinator" c3po health
said "compose.yaml is up"
invite=$(pod logs "$coordinator" 2>&1 | grep -o 'podman exec .* c3po invite --host NAME' | head -n 1) || fail "the log does not say how to let a host join"
exchange "$work/laptop" pod $(sed "s,^podman \(.*\)NAME$,\1laptop," <<<"$invite")
arrived "$work/laptop" || fail "what was sent did not arrive"
if pod inspect "$coordinator" "$(compose ps -q redis)" --format '{{.Config.Cmd}} {{.Args}} {{.Path}}' | grep "$(sed -n 's/^REDIS_PASSWORD=//p' .env)" >/dev/null; then
	fail "the password is in the arguments"
fi
compose down || fail "$(cat "$work/compose.log")"
compose up -d || fail "$(cat "$work/compose.log")"
within 30 arrived "$work/laptop"
said "the mail is there after down and up, and the host is still let in"
compose down -v || fail "$(cat "$work/compose.log")"

# 2. The first compose file of the project, beside our Dockerfile, with another port
# outside: this machine's 8420 may be taken.
port=$(free_port)
sed "s/8420:8420/$port:8420/" "$OLDPWD/test/deploy/first-compose.yml" >docker-compose.yml
first() { docker-compose -p first "$@" 2>>"$work/compose.log"; }
first up -d || fail "$(cat "$work/compose.log")"
coordinator=$(first ps -q coordinator)
within 30 pod exec "$coordinator" c3po health
rm -rf "$work/laptop"
exchange "$work/laptop" pod exec "$coordinator" c3po invite --host laptop --at "127.0.0.1:$port"
arrived "$work/laptop" || fail "what was sent did not arrive"
first down -v || fail "$(cat "$work/compose.log")"
said "the first compose file of the project is served too"

# 3. The quick start of the documents, as it is written there. docker is what it calls
# the runtime.
cd "$OLDPWD"
mkdir -p "$work/shim"
printf '#!/bin/sh\n[ "$1" = compose ] && shift && exec docker-compose "$@"\nexec podman --root %s/root --runroot %s/runroot "$@"\n' "$work" "$work" >"$work/shim/docker"
chmod 755 "$work/shim/docker"
C3PO_PORT=$(free_port) C3PO_QUICKSTART_PROGRAM=$work/context/c3po PATH=$work/shim:$PATH \
	go test -count=1 -v -run '^TestTheQuickStartWithContainers$' ./test/quickstart >"$work/quickstart.log" 2>&1 || fail "$(cat "$work/quickstart.log")"
said "$(grep -o 'docs/start/quickstart-containers.md: .*' "$work/quickstart.log")"
