#!/usr/bin/env bash
# The coordinator's image for amd64 and arm64, from the archives of a release:
#
#     deploy/images.sh build DIST VERSION    # makes ghcr.io/c3po-dev/c3po:VERSION, a list of both
#     deploy/images.sh push VERSION [TAG…]   # pushes it, by that name and others, and prints its digest
#
# DIST holds c3po-linux-amd64.tar.gz and c3po-linux-arm64.tar.gz. Nothing runs in the image
# while it is built, so one machine builds both, and nothing is pulled. Every time in it is
# that of the commit: two builds of one commit have one digest. It needs buildah.
set -euo pipefail
cd "$(dirname "$0")/.."

name=${C3PO_IMAGE:-ghcr.io/c3po-dev/c3po}
architectures='amd64 arm64'
# BUILDAH may carry options, such as the folder that images are kept in.
read -ra buildah <<<"${BUILDAH:-buildah}"

usage() {
	sed -n 's/^#     //p' "$0" >&2
	exit 2
}

build() { # build DIST VERSION
	local dist version=$2 when commit arch
	dist=$(cd "$1" && pwd)
	when=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
	commit=${COMMIT:-$(git rev-parse HEAD)}
	context=$(mktemp -d)
	trap 'rm -rf "$context"' EXIT
	"${buildah[@]}" manifest rm "$name:$version" >/dev/null 2>&1 || true # made before
	"${buildah[@]}" manifest create "$name:$version" >/dev/null
	for arch in $architectures; do
		mkdir "$context/$arch"
		cp -r deploy/Dockerfile deploy/home "$context/$arch"
		tar -xzf "$dist/c3po-linux-$arch.tar.gz" -C "$context/$arch" c3po
		# Other people's umask is not part of the image.
		chmod -R u=rwX,go=rX "$context/$arch"
		# The other format has a random name in it. This one has no health check; compose.yaml has.
		# The identity label is buildah's version.
		"${buildah[@]}" build --quiet --identity-label=false --format oci --platform "linux/$arch" --timestamp "$when" \
			--label org.opencontainers.image.source=https://github.com/c3po-dev/c3po \
			--label org.opencontainers.image.revision="$commit" \
			--label org.opencontainers.image.version="$version" \
			--label org.opencontainers.image.licenses=Apache-2.0 \
			--label org.opencontainers.image.description='Coding agents ask each other for help' \
			--manifest "$name:$version" "$context/$arch" >/dev/null
	done
}

push() { # push VERSION [TAG…]
	local version=$1 tag digests
	digests=$(mktemp)
	for tag in "$@"; do
		"${buildah[@]}" manifest push --quiet --all --format oci ${C3PO_REGISTRY_PLAIN:+--tls-verify=false} --digestfile "$digests" "$name:$version" "docker://${C3PO_PUSH:-$name}:$tag" >&2
	done
	cat "$digests"
	printf '\n'
	rm -f "$digests"
}

case "${1:-} $#" in
"build 3") build "$2" "$3" ;;
"push "[2-9]) shift && push "$@" ;;
*) usage ;;
esac
