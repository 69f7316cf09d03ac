#!/usr/bin/env bash
# All of a release but its publication, with the real goreleaser: test/package/release.sh
# It takes minutes: goreleaser is built first. Two snapshots of all targets are made in two
# folders and compared; of what is for this processor the rest is tried by run.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The folder may be another user's.
printf '[safe]\n\tdirectory = *\n' >"$work/gitconfig"
export GIT_CONFIG_GLOBAL=$work/gitconfig

goreleaser=${GORELEASER:-$work/goreleaser}
[ -x "$goreleaser" ] || (cd tools/goreleaser && go build -o "$goreleaser" github.com/goreleaser/goreleaser/v2)
"$goreleaser" check
for folder in one another/place; do
	git clone -q . "$work/$folder"
	# The dashboard, as it was built here; else it is built there.
	[ ! -d web/dist ] || cp -r web/dist "$work/$folder/web/dist"
	(cd "$work/$folder" && "$goreleaser" release --snapshot --clean --parallelism=2 --skip=sign)
done
for file in "$work"/one/dist/c3po-*; do
	cmp "$file" "$work/another/place/dist/$(basename "$file")"
done
cmp "$work/one/dist/checksums.txt" "$work/another/place/dist/checksums.txt"
printf 'two snapshots in two folders are the same:\n'
cat "$work/one/dist/checksums.txt"
C3PO_DIST=$work/one/dist test/package/run.sh
