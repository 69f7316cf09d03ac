#!/usr/bin/env bash
# The part of run.sh that has a network of its own: nothing can be pulled from elsewhere.
# Images are built twice for amd64 and arm64, pushed to a registry on loopback, and pulled
# from there by the names that the compose files give. Redis is this machine's own, in an
# image with the name that the files ask for. The program for arm64 carries mail in qemu.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=${C3PO_DEPLOY:?run.sh starts this}
began=$SECONDS
said() { printf '%3d s  %s\n' "$((SECONDS - began))" "$*"; }
fail() {
	printf 'FAILED: %s\n' "$*" >&2
	exit 1
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# A runtime of our own, that touches no image and no container of anybody else. The
# settings let it run where limits cannot be raised and there is no systemd.
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
# The registry stands for both that images are named with.
registry=127.0.0.1:$(free_port)
{
	echo 'unqualified-search-registries = ["docker.io"]' # for the first compose file
	for host in docker.io ghcr.io; do
		printf '[[registry]]\nlocation = "%s"\n[[registry.mirror]]\nlocation = "%s/%s"\ninsecure = true\n' $host "$registry" $host
	done
} >"$work/registries.conf"
export CONTAINERS_CONF=$work/containers.conf CONTAINERS_REGISTRIES_CONF=$work/registries.conf DOCKER_HOST=unix://$work/podman.sock
unset CONTAINER_HOST
pod() { podman --root "$work/root" --runroot "$work/runroot" "$@"; }

started=()
finish() {
	local code=$?
	if [ $code -ne 0 ]; then
		for c in $(pod ps -aq); do pod logs "$c" 2>&1 | tail -n 20 >&2; done
	fi
	pod rm -af -t 1 >/dev/null 2>&1 || true
	pod network prune -f >/dev/null 2>&1 || true
	[ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
	for store in "$work/root" "$work/one" "$work/two"; do
		podman --root "$store" --runroot "$store.run" system reset -f >/dev/null 2>&1 || true
	done
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
redis_image() { # redis_image NAME
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
	tar -C "$root" -c . | podman --root "$work/one" --runroot "$work/one.run" import -q --change 'ENV PATH=/usr/bin:/bin' --change 'WORKDIR /data' \
		--change 'VOLUME /data' --change 'CMD ["redis-server"]' - "$1" >/dev/null 2>&1
}

# exchange FOLDER COMMAND…: a host joins with the invitation that COMMAND prints, and an
# agent of it sends to another.
exchange() {
	local home=$1 line
	shift
	mkdir -p "$home"
	line=$("$@" | grep '| c3po join -$') || fail "no invitation: $*"
	env -i HOME="$home" PATH="$PATH" C3PO_PREFIX=x $work/context/c3po join - <<<"$line" >/dev/null
	env -i HOME="$home" PATH="$PATH" $work/context/c3po register --as api >/dev/null
	env -i HOME="$home" PATH="$PATH" $work/context/c3po send laptop/api "through a container" --as web | grep '^sent '
}

# arrived FOLDER: the message of exchange is in the inbox.
arrived() { env -i HOME="$1" PATH="$PATH" $work/context/c3po inbox --as api | grep 'through a container' >/dev/null; }

# 1. The images, as a release builds and pushes them, twice.
printf 'version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\nstorage: {filesystem: {rootdirectory: "%s/registry"}}\nhttp: {addr: "%s"}\n' "$work" "$registry" >"$work/registry.yml"
docker-registry serve "$work/registry.yml" >"$work/registry.log" 2>&1 &
started+=($!)
within 20 curl -fs -o /dev/null "http://$registry/v2/"
digests=()
for store in one two; do
	export BUILDAH="buildah --root $work/$store --runroot $work/$store.run"
	SOURCE_DATE_EPOCH=1700000000 COMMIT=0123456789ab deploy/images.sh build "$work/dist" v0.0.1 2>"$work/build.log" || fail "$(cat "$work/build.log")"
	digests+=("$(C3PO_REGISTRY_PLAIN=1 C3PO_PUSH=$registry/ghcr.io/c3po-dev/c3po deploy/images.sh push v0.0.1 latest 2>"$work/build.log")") || fail "$(cat "$work/build.log")"
	find "$work/context" "$work/dist" -exec touch -d '2001-01-01' {} + # nothing of it may be in the second
done
[ "${digests[0]}" = "${digests[1]}" ] || fail "two builds of the images differ: ${digests[*]}"
list=$(curl -fsS -H 'Accept: application/vnd.oci.image.index.v1+json' "http://$registry/v2/ghcr.io/c3po-dev/c3po/manifests/latest")
[ "sha256:$(printf %s "$list" | sha256sum | cut -d ' ' -f 1)" = "${digests[0]}" ] || fail "the registry has another list: $list"
[ "$(grep -o '"architecture": *"[a-z0-9]*"' <<<"$list" | sort | tr -d ' \n')" = '"architecture":"amd64""architecture":"arm64"' ] || fail "the list is not of amd64 and arm64: $list"
said "two builds for amd64 and arm64 are the same: ${digests[0]}"

redis_image docker.io/library/redis:7-alpine
podman --root "$work/one" --runroot "$work/one.run" push -q --tls-verify=false docker.io/library/redis:7-alpine "$registry/docker.io/library/redis:7-alpine"
pod pull -q ghcr.io/c3po-dev/c3po:latest >/dev/null
! pod image inspect --format '{{json .Config.Labels}}' ghcr.io/c3po-dev/c3po:latest | grep buildah || fail "the image says which buildah made it"
[ "$(pod image inspect --format '{{.Config.User}}' ghcr.io/c3po-dev/c3po:latest)" = 65532:65532 ] || fail "the image runs as another user"
pod pull -q --platform linux/arm64 ghcr.io/c3po-dev/c3po:latest >/dev/null
arm=$(pod create --platform linux/arm64 --pull=never ghcr.io/c3po-dev/c3po:latest)
pod cp "$arm:/usr/bin/c3po" "$work/c3po-of-image"
pod rm "$arm" >/dev/null
cmp "$work/c3po-of-image" "$work/arm64/c3po" || fail "the image for arm64 holds another program"
pod rmi -f ghcr.io/c3po-dev/c3po:latest >/dev/null

podman --root "$work/root" --runroot "$work/runroot" system service --time=0 "$DOCKER_HOST" 2>"$work/service.log" &
started+=($!)
within 20 test -S "$work/podman.sock"

# 2. Our compose file, filled in as its example says. It pulls both images.
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
pod healthcheck run "$coordinator" || fail "the container's own health check fails"
said "compose.yaml is up, with images from the registry"
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

# 3. The first compose file of the project, beside our Dockerfile, with another port
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
built=$(pod inspect --format '{{.ImageName}}' "$coordinator")
first down -v || fail "$(cat "$work/compose.log")"
said "the first compose file of the project is served too"
# Beside the Dockerfile of a clone it makes the image that run.sh has built from one.
pod load -q -i "$work/clone.tar" >/dev/null
pod tag localhost/clone:latest "$built"
first up -d --no-build || fail "$(cat "$work/compose.log")"
coordinator=$(first ps -q coordinator)
within 30 pod exec "$coordinator" c3po health
[ "$(pod inspect --format '{{.Image}}' "$coordinator")" = "$(pod image inspect --format '{{.Id}}' localhost/clone:latest)" ] || fail "it runs another image than the clone's"
rm -rf "$work/laptop"
exchange "$work/laptop" pod exec "$coordinator" c3po invite --host laptop --at "127.0.0.1:$port"
arrived "$work/laptop" || fail "what was sent did not arrive"
curl -fsk "https://127.0.0.1:$port/" | grep 'id="page"' >/dev/null || fail "the image of a clone has no dashboard"
first down -v || fail "$(cat "$work/compose.log")"
said "and with the image of a clone, which has the dashboard"

# 4. The quick start of the documents, as it is written there. docker is what it calls
# the runtime.
cd "$OLDPWD"
mkdir -p "$work/shim"
printf '#!/bin/sh\n[ "$1" = compose ] && shift && exec docker-compose "$@"\nexec podman --root %s/root --runroot %s/runroot "$@"\n' "$work" "$work" >"$work/shim/docker"
chmod 755 "$work/shim/docker"
(
	cd test/quickstart
	C3PO_PORT=$(free_port) C3PO_QUICKSTART_PROGRAM=$work/context/c3po PATH=$work/shim:$PATH \
		"$work/quickstart.test" -test.v -test.run '^TestTheQuickStartWithContainers$' >"$work/quickstart.log" 2>&1
) || fail "$(cat "$work/quickstart.log")"
said "$(grep -o 'docs/start/quickstart-containers.md: .*' "$work/quickstart.log")"

# 5. The program for arm64, in qemu, on this machine's Redis. qemu hides when a process was
# started, which c3po up compares, so the coordinator is one of c3po serve.
port=$(free_port)
redis-server --port 0 --unixsocket "$work/arm.sock" --save '' --dir "$work" >"$work/redis.log" 2>&1 &
started+=($!)
program=(env -i HOME="$work/arm-home" PATH="$PATH" C3PO_LISTEN="127.0.0.1:$port" C3PO_COORDINATOR_URL="http://127.0.0.1:$port" REDIS_URL="unix://$work/arm.sock" qemu-aarch64-static "$work/arm64/c3po")
arm() { "${program[@]}" "$@"; }
mkdir "$work/arm-home"
within 20 test -S "$work/arm.sock"
[[ $(arm version) == *linux/arm64* ]] || fail "the program for arm64 says $(arm version)"
"${program[@]}" serve >"$work/arm.log" 2>&1 & # no function: its process would be a shell, and qemu that shell's
started+=($!)
within 60 arm health >/dev/null 2>&1 || fail "$(cat "$work/arm.log")"
arm register --as api >/dev/null
arm send api "Which port does the gateway use?" --as web | grep '^sent ' >/dev/null || fail "nothing was sent on arm64"
arm inbox --as api | grep 'Which port' >/dev/null || fail "nothing arrived on arm64"
arm reply --last "8443, see deploy/gateway.yaml" --as api >/dev/null
arm inbox --as web | grep '8443, see' >/dev/null || fail "no answer arrived on arm64"
said "arm64 in qemu: $(arm version)"
