#!/bin/sh
# What other package managers are told of a release: deploy/package/describe.sh DIST TAG FOLDER
# Scoop, winget and Nix get manifests. An apt repository has to be signed with a key that
# lasts: APT_KEY is its secret half, armored; without it there is none.
set -eu
cd "$(dirname "$0")/../.."
dist=$1 tag=$2 folder=$3
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} go run ./tools/packages/cmd "$dist" "$tag" "$folder"
if [ -z "${APT_KEY:-}" ]; then
	rm "$folder/Packages" "$folder/Release"
	echo "no apt repository: APT_KEY is not set"
	exit 0
fi
GNUPGHOME=$(mktemp -d)
export GNUPGHOME
trap 'gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT
printf '%s\n' "$APT_KEY" | gpg --batch --quiet --import
gpg --batch --quiet --clearsign --output "$folder/InRelease" "$folder/Release"
gpg --batch --quiet --armor --export >"$folder/c3po.asc"
rm "$folder/Release"
