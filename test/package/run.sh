#!/usr/bin/env bash
# What a person installs, on a bare Debian: test/package/run.sh
# Two builds of one commit are the same, in a clone and in a tree without git. The deb and the rpm, made
# from the lines of .goreleaser.yaml, are installed into a Debian 12 and removed again; then the README is
# followed there from nothing to an answer, in a network that has nothing but loopback.
# Everything is linux on this processor; make -C test release is for all targets. With C3PO_DIST
# it tries what goreleaser has made there. What is missing is a failure where CI=true.
set -euo pipefail
cd "$(dirname "$0")/../.."

give_up() {
	printf '\n*** packages were NOT tried: %s ***\n\n' "$1" >&2
	[ "${CI:-}" != true ] || exit 1
	exit 0
}
for tool in mmdebstrap dpkg-deb rpm systemd-analyze unshare ip git tar openssl gpg; do
	command -v "$tool" >/dev/null || give_up "$tool is not installed"
done
[ "$(id -u)" -eq 0 ] || give_up "only root can make a Debian"

work=$(mktemp -d)
began=$SECONDS
bootstrap=
finish() {
	[ -z "$bootstrap" ] || kill "$bootstrap" 2>/dev/null || true
	rm -rf --one-file-system "$work"
}
trap finish EXIT
said() { printf '%3d s  %s\n' "$((SECONDS - began))" "$*"; }
fail() {
	printf 'FAILED: %s\n' "$*" >&2
	exit 1
}

# 1. A Debian with what the README asks for, made meanwhile.
packages=$(sed -n 's/^\$ sudo apt install -y //p' README.md | tr ' ' ',')
[ -n "$packages" ] || fail "the README does not say what to install"
root=$work/debian
mmdebstrap --quiet --variant=minbase --include="$packages" bookworm "$root" >"$work/debian.log" 2>&1 &
bootstrap=$!

# 2. Two builds.
arch=$(go env GOARCH)
release=$work/release
mkdir "$release"
if [ -n "${C3PO_DIST:-}" ]; then
	cp "$C3PO_DIST/c3po-linux-$arch.tar.gz" "$C3PO_DIST/c3po-linux-$arch".{deb,rpm} "$C3PO_DIST/checksums.txt" deploy/install.sh "$release"
	tar -xzf "$release/c3po-linux-$arch.tar.gz" -C "$work" c3po
	version=$("$work/c3po" version | cut -d ' ' -f 2)
	said "what goreleaser made is taken: $version"
else
	version=v0.0.1
	mkdir "$work/one"
	git -c "safe.directory=$PWD" archive HEAD | tar -x -C "$work/one"
	# The folder may be another user's; clone tells its helper nothing of -c.
	printf '[safe]\n\tdirectory = *\n' >"$work/gitconfig"
	GIT_CONFIG_GLOBAL=$work/gitconfig git clone -q . "$work/another/place"
	for folder in one another/place; do
		# Whoever builds may not have switched off what Go says of a clone.
		GOFLAGS=-buildvcs=auto make -s -C "$work/$folder" build VERSION=$version COMMIT=0123456789ab
	done
	cmp "$work/one/bin/c3po" "$work/another/place/bin/c3po" || fail "two builds of one commit differ"
	said "two builds, in a clone and in a tree without git, are the same: $(sha256sum "$work/one/bin/c3po" | cut -c 1-16)"
	make -s share
	(cd test/package/pack && go build -o "$work/pack" .)
	for format in deb rpm; do "$work/pack" .goreleaser.yaml "$work/one/bin/c3po" "$version" "$release/c3po-linux-$arch.$format"; done
	tar -czf "$release/c3po-linux-$arch.tar.gz" -C "$work/one/bin" c3po -C "$PWD" LICENSE README.md
	cp deploy/install.sh "$release"
	(cd "$release" && sha256sum -- *.tar.gz *.deb *.rpm install.sh >checksums.txt)
	said "the deb: $(du -k "$release/c3po-linux-$arch.deb" | cut -f 1) KiB"
fi
test/package/sign.sh "$release" "$version" "$work/trust.pem"

# 3. The deb, installed and removed.
wait "$bootstrap" || { cat "$work/debian.log" >&2; fail "no Debian could be made"; }
bootstrap=
said "a Debian $(cat "$root/etc/debian_version") with $packages"
within() { # within ROOT COMMAND…
	unshare --mount sh -c 'mount -t proc proc "$1/proc" && exec chroot "$@"' sh "$1" \
		env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "${@:2}"
}
inside() { within "$root" "$@"; }
# Nothing is there to start services.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
cp "$release/c3po-linux-$arch.deb" "$root/tmp/c3po.deb"
inside apt-get install -y -qq /tmp/c3po.deb >"$work/apt.log" 2>&1 || { cat "$work/apt.log" >&2; fail "apt does not install the deb"; }
[ "$(inside c3po version | cut -d ' ' -f 2)" = "$version" ] || fail "c3po version says $(inside c3po version)"
for file in usr/lib/systemd/system/c3po.service usr/lib/systemd/user/c3po-user.service etc/c3po/environment usr/share/man/man1/c3po.1.gz usr/share/man/man1/c3po-send.1.gz \
	usr/share/bash-completion/completions/c3po usr/share/zsh/vendor-completions/_c3po usr/share/fish/vendor_completions.d/c3po.fish usr/share/doc/c3po/copyright; do
	[ -s "$root/$file" ] || fail "/$file is not there, or empty"
done
[ "$(stat -c %a:%U "$root/etc/c3po/environment")" = 600:root ] || fail "others can read /etc/c3po/environment"
[ "$(zcat "$root/usr/share/man/man1/c3po.1.gz" | head -c 3)" = .TH ] || [ "$(zcat "$root/usr/share/man/man1/c3po.1.gz" | head -c 3)" = '.\"' ] || fail "the manual page is not one"
inside dpkg-query -W -f '${Recommends}' c3po | grep 'redis-server | valkey-server' >/dev/null || fail "Redis is not recommended"
inside c3po upgrade | grep 'sudo apt install ./c3po-linux-' >/dev/null || fail "c3po upgrade does not know that it came as a deb"
for unit in system/c3po.service user/c3po-user.service; do
	name=$(basename "$unit") manager=--${unit%%/*}
	# The program is in that Debian, not here.
	sed "s,/usr/bin/c3po,$root/usr/bin/c3po," "$root/usr/lib/systemd/$unit" >"$work/$name"
	wrong=$(systemd-analyze verify --man=no "$manager" "$work/$name" 2>&1 | grep "$name" || true)
	[ -z "$wrong" ] || fail "$wrong"
done
echo '# mine' >>"$root/etc/c3po/environment"
inside dpkg -i /tmp/c3po.deb >"$work/apt.log" 2>&1 || { cat "$work/apt.log" >&2; fail "the deb cannot be installed twice"; }
grep '^# mine$' "$root/etc/c3po/environment" >/dev/null || fail "an upgrade has overwritten /etc/c3po/environment"
inside dpkg --purge c3po >"$work/apt.log" 2>&1 || { cat "$work/apt.log" >&2; fail "the deb cannot be removed"; }
left=$(find "$root/usr" "$root/etc" "$root/var/lib/dpkg/info" -name '*c3po*')
[ -z "$left" ] || fail "removed, it leaves $left"
said "the deb is installed, complete, its units right, and gone when removed"

# 4. The rpm, by rpm itself, into a copy of that Debian: no system of its kind can be had.
cp -a "$root" "$work/other"
rpms() { # Debian's rpm keeps its list elsewhere, and refuses to install unless forced
	rpm --define '_dbpath /var/lib/rpm' --force-debian --root "$work/other" "$@" >"$work/rpm.log" 2>&1 || { cat "$work/rpm.log" >&2; fail "rpm $*"; }
}
rpms --nodeps --install "$release/c3po-linux-$arch.rpm"
[ "$(within "$work/other" c3po version | cut -d ' ' -f 2)" = "$version" ] || fail "of the rpm c3po version says $(within "$work/other" c3po version)"
rpms --nodeps --verify c3po
rpms --query --recommends c3po
grep '(redis or valkey)' "$work/rpm.log" >/dev/null || fail "the rpm does not recommend Redis"
for file in usr/lib/systemd/system/c3po.service usr/share/man/man1/c3po-send.1.gz usr/share/zsh/site-functions/_c3po; do
	[ -s "$work/other/$file" ] || fail "/$file of the rpm is not there, or empty"
done
within "$work/other" c3po upgrade | grep 'sudo dnf install' >/dev/null || fail "c3po upgrade does not know that it came as an rpm"
echo '# mine' >>"$work/other/etc/c3po/environment"
rpms --nodeps --upgrade --replacepkgs "$release/c3po-linux-$arch.rpm"
grep '^# mine$' "$work/other/etc/c3po/environment" >/dev/null || fail "an upgrade of the rpm has overwritten /etc/c3po/environment"
rpms --erase c3po
left=$(find "$work/other/usr" "$work/other/etc" -name '*c3po*' ! -path '*/etc/c3po') # there the file that was changed is kept
[ -z "$left" ] || fail "the rpm, removed, leaves $left"
rm -rf --one-file-system "$work/other"
said "the rpm is installed, verified, and gone when removed"

# 5. The same from an apt repository, with a key of its own. What is not built here has the
# hash of nothing.
mkdir "$work/described"
cp "$release/c3po-linux-$arch.deb" "$release/checksums.txt" "$work/described"
for name in linux-amd64.tar.gz linux-arm64.tar.gz darwin-amd64.tar.gz darwin-arm64.tar.gz windows-amd64.zip windows-arm64.zip; do
	grep -q "  c3po-$name\$" "$work/described/checksums.txt" || printf '%s  c3po-%s\n' "$(sha256sum </dev/null | cut -d ' ' -f 1)" "$name" >>"$work/described/checksums.txt"
done
mkdir -m 700 "$work/keys"
GNUPGHOME=$work/keys gpg --batch --quiet --passphrase '' --quick-gen-key 'c3po test' ed25519 sign never 2>/dev/null
APT_KEY=$(GNUPGHOME=$work/keys gpg --batch --armor --export-secret-keys) SOURCE_DATE_EPOCH=1700000000 deploy/package/describe.sh "$work/described" "$version" "$work/packages"
GNUPGHOME=$work/keys gpgconf --kill all
mkdir -p "$root/srv/apt" "$root/etc/apt/keyrings"
cp "$release/c3po-linux-$arch.deb" "$work/packages/Packages" "$work/packages/InRelease" "$root/srv/apt"
cp "$work/packages/c3po.asc" "$root/etc/apt/keyrings"
echo 'deb [signed-by=/etc/apt/keyrings/c3po.asc] file:/srv/apt /' >"$root/etc/apt/c3po.list"
only='-o Dir::Etc::sourcelist=/etc/apt/c3po.list -o Dir::Etc::sourceparts=-'
inside apt-get update -qq $only >"$work/apt.log" 2>&1 || { cat "$work/apt.log" >&2; fail "apt does not take the repository"; }
if grep -E '^[WE]:' "$work/apt.log"; then fail "apt warns of the repository"; fi
inside apt-get install -y -qq --no-install-recommends $only c3po >"$work/apt.log" 2>&1 || { cat "$work/apt.log" >&2; fail "apt does not install from the repository"; }
[ "$(inside c3po version | cut -d ' ' -f 2)" = "$version" ] || fail "from the repository comes $(inside c3po version)"
inside dpkg --purge c3po >/dev/null 2>&1
echo '# changed' >>"$root/srv/apt/Packages"
rm -rf "$root"/var/lib/apt/lists/*srv_apt*
if inside apt-get update -qq $only >"$work/apt.log" 2>&1 && ! grep -E '^[WE]:' "$work/apt.log" >/dev/null; then fail "apt takes a repository that somebody has changed"; fi
said "apt installs from the repository, and refuses it changed; Scoop, winget and Nix have their files"

# 6. The README, and how a release is verified.
go test -c -o "$work/quickstart.test" ./test/quickstart
export C3PO_QUICKSTART_ROOT=$root C3PO_QUICKSTART_RELEASE=$release C3PO_QUICKSTART_TRUST=$work/trust.pem C3PO_QUICKSTART_VERSION=$version
cd test/quickstart
unshare --net --mount sh -c 'ip link set lo up && mount -t proc proc "$C3PO_QUICKSTART_ROOT/proc" && mount --rbind /dev "$C3PO_QUICKSTART_ROOT/dev" && exec "$@"' sh \
	"$work/quickstart.test" -test.v -test.timeout=8m -test.run '^(TestTheReadmeOnABareDebian|TestAReleaseIsVerifiedAsThePageSays)$'
said "the README was followed, and the release verified as its page says"
