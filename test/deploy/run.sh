#!/usr/bin/env bash
# Holds deploy/ against the real tools: test/deploy/run.sh
# Alert rules, units, manifests and the chart are checked here. The images are built here
# too, and tried by containers.sh in a network that has nothing but loopback. Without the
# tools nothing is shown, which is a failure where CI=true.
set -euo pipefail
cd "$(dirname "$0")/../.."

give_up() {
	printf '\n*** deploy/ was NOT tried: %s ***\n\n' "$1" >&2
	[ "${CI:-}" != true ] || exit 1
	exit 0
}
for tool in podman buildah docker-registry docker-compose redis-server runc promtool systemd-analyze python3 qemu-aarch64-static unshare ip; do
	command -v "$tool" >/dev/null || give_up "$tool is not installed"
done
[ "$(id -u)" -eq 0 ] || give_up "only root can have containers in a network of their own here"

work=$(mktemp -d)
export C3PO_DEPLOY=$work
trap 'rm -rf "$work"' EXIT
began=$SECONDS
said() { printf '%3d s  %s\n' "$((SECONDS - began))" "$*"; }
fail() {
	printf 'FAILED: %s\n' "$*" >&2
	exit 1
}

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

# What a release has of it: an archive for each processor.
mkdir -p "$work/context" "$work/dist"
cp -r deploy/. "$work/context"
for arch in arm64 amd64; do
	CGO_ENABLED=0 GOARCH=$arch go build -trimpath -ldflags '-s -w' -o "$work/$arch/c3po" ./cmd/c3po
	tar -czf "$work/dist/c3po-linux-$arch.tar.gz" -C "$work/$arch" c3po
done
cp "$work/$(go env GOHOSTARCH)/c3po" "$work/context/c3po"
go test -c -o "$work/quickstart.test" ./test/quickstart
said "programs for amd64 and arm64"

test/deploy/source.sh "$work"
said "the image of a clone is built, with its dashboard"

unshare --net sh -c 'ip link set lo up && exec "$@"' sh test/deploy/containers.sh
