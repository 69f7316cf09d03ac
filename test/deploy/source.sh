#!/usr/bin/env bash
# Builds the image of a clone, as docker build . does, into FOLDER/clone.tar: source.sh FOLDER
# Nothing is pulled: the images to build in are empty ones in which this machine's programs
# are mounted. Go modules and npm packages come from where this machine has them.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$1
store=$work/source
pod() { podman --root "$store" --runroot "$store.run" "$@"; }
build() { buildah --root "$store" --runroot "$store.run" "$@"; }
finish() {
	local code=$?
	pod rm -af -t 1 >/dev/null 2>&1 || true
	pod system reset -f >/dev/null 2>&1 || true
	exit $code
}
trap finish EXIT

git -c safe.directory='*' clone -q . "$work/clone"

# A machine without programs, for which /usr is mounted.
mkdir -p "$work/machine"/{tmp,root,usr,etc,proc,dev,sys,src,out}
chmod 1777 "$work/machine/tmp"
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$work/machine/$folder"; done
tar -C "$work/machine" -c . | pod import -q --change "ENV PATH=$(dirname "$(command -v go)"):/usr/local/bin:/usr/bin:/bin" --change 'ENV HOME=/root' \
	--change "ENV GOPROXY=$(go env GOPROXY)" --change "ENV GONOSUMDB=$(go env GONOSUMDB)" --change "ENV GOFLAGS=$(go env GOFLAGS)" \
	--change "ENV GOTOOLCHAIN=local" --change 'ENV npm_config_prefer_offline=true' - localhost/machine:latest >/dev/null

mounts=(-v /usr:/usr:ro -v /etc:/etc:ro -v "$(go env GOMODCACHE):/root/go/pkg/mod" -v "$(go env GOCACHE):/root/.cache/go-build" -v "$(npm config get cache):/root/.npm")
[ ! -e "$HOME/.npmrc" ] || mounts+=(-v "$HOME/.npmrc:/root/.npmrc:ro")
build build --quiet --pull=never --network host --isolation chroot "${mounts[@]}" --build-arg NODE_IMAGE=localhost/machine:latest --build-arg GO_IMAGE=localhost/machine:latest \
	--format docker -t localhost/clone:latest "$work/clone" >"$work/source.log" 2>&1 || {
	tail -n 40 "$work/source.log" >&2
	exit 1
}
pod save -q localhost/clone:latest -o "$work/clone.tar"
