#!/bin/sh
# Installs c3po, from the page of releases:
#   curl -fsSL https://github.com/c3po-dev/c3po/releases/latest/download/install.sh | sh
# or from a coordinator, which is then joined:
#   curl -fsSk --pinnedpubkey 'sha256//...' https://HOST:PORT/install | C3PO_INVITATION=c3po://... sh
# A coordinator writes into it how it is known and the hashes of its programs; from
# the page of releases the hashes are those of checksums.txt.
# C3PO_BIN is the folder it installs into, C3PO_VERSION a release other than the
# newest (v1.2.3), C3PO_RELEASES another page of releases, C3PO_TRUST a file with the
# authorities that vouch for whoever signs, instead of Sigstore's.
# It checks a release that you have in a folder, and installs nothing, with:
#   sh install.sh verify FOLDER
set -eu

pin='@PIN@'
programs='@PROGRAMS@'
releases=https://github.com/c3po-dev/c3po/releases

fail() {
	printf 'c3po: %s\n' "$1" >&2
	exit 1
}

warn() { printf 'warning: %s\n' "$1" >&2; }

sum() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum "$1" | cut -d ' ' -f 1
	elif command -v shasum >/dev/null 2>&1; then
		shasum -a 256 "$1" | cut -d ' ' -f 1
	else
		openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
	fi
}

# authorities are those of Sigstore: they gave the workflow of a release its certificate,
# which names the repository, the workflow and the tag.
authorities() {
	if [ -n "${C3PO_TRUST:-}" ]; then
		cat "$C3PO_TRUST"
		return
	fi
	cat <<'END'
-----BEGIN CERTIFICATE-----
MIICGjCCAaGgAwIBAgIUALnViVfnU0brJasmRkHrn/UnfaQwCgYIKoZIzj0EAwMw
KjEVMBMGA1UEChMMc2lnc3RvcmUuZGV2MREwDwYDVQQDEwhzaWdzdG9yZTAeFw0y
MjA0MTMyMDA2MTVaFw0zMTEwMDUxMzU2NThaMDcxFTATBgNVBAoTDHNpZ3N0b3Jl
LmRldjEeMBwGA1UEAxMVc2lnc3RvcmUtaW50ZXJtZWRpYXRlMHYwEAYHKoZIzj0C
AQYFK4EEACIDYgAE8RVS/ysH+NOvuDZyPIZtilgUF9NlarYpAd9HP1vBBH1U5CV7
7LSS7s0ZiH4nE7Hv7ptS6LvvR/STk798LVgMzLlJ4HeIfF3tHSaexLcYpSASr1kS
0N/RgBJz/9jWCiXno3sweTAOBgNVHQ8BAf8EBAMCAQYwEwYDVR0lBAwwCgYIKwYB
BQUHAwMwEgYDVR0TAQH/BAgwBgEB/wIBADAdBgNVHQ4EFgQU39Ppz1YkEZb5qNjp
KFWixi4YZD8wHwYDVR0jBBgwFoAUWMAeX5FFpWapesyQoZMi0CrFxfowCgYIKoZI
zj0EAwMDZwAwZAIwPCsQK4DYiZYDPIaDi5HFKnfxXx6ASSVmERfsynYBiX2X6SJR
nZU84/9DZdnFvvxmAjBOt6QpBlc4J/0DxvkTCqpclvziL6BCCPnjdlIB3Pu3BxsP
mygUY7Ii2zbdCdliiow=
-----END CERTIFICATE-----
-----BEGIN CERTIFICATE-----
MIIB9zCCAXygAwIBAgIUALZNAPFdxHPwjeDloDwyYChAO/4wCgYIKoZIzj0EAwMw
KjEVMBMGA1UEChMMc2lnc3RvcmUuZGV2MREwDwYDVQQDEwhzaWdzdG9yZTAeFw0y
MTEwMDcxMzU2NTlaFw0zMTEwMDUxMzU2NThaMCoxFTATBgNVBAoTDHNpZ3N0b3Jl
LmRldjERMA8GA1UEAxMIc2lnc3RvcmUwdjAQBgcqhkjOPQIBBgUrgQQAIgNiAAT7
XeFT4rb3PQGwS4IajtLk3/OlnpgangaBclYpsYBr5i+4ynB07ceb3LP0OIOZdxex
X69c5iVuyJRQ+Hz05yi+UF3uBWAlHpiS5sh0+H2GHE7SXrk1EC5m1Tr19L9gg92j
YzBhMA4GA1UdDwEB/wQEAwIBBjAPBgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBRY
wB5fkUWlZql6zJChkyLQKsXF+jAfBgNVHSMEGDAWgBRYwB5fkUWlZql6zJChkyLQ
KsXF+jAKBggqhkjOPQQDAwNpADBmAjEAj1nHeXZp+13NWBNa+EDsDP8G1WWg1tCM
WP/WHPqpaVo0jhsweNFZgSs0eE7wYI4qAjEA2WB9ot98sIkoF3vZYdd3/VtWB5b9
TNMea7Ix/stJ5TfcLLeABLE4BNJOsQ4vnBHJ
-----END CERTIFICATE-----
END
}
signer=https://github.com/c3po-dev/c3po/.github/workflows/release.yml@refs/tags/

# can_check finds a program that checks signatures. LibreSSL can't check a certificate
# whose ten minutes are over.
can_check() {
	checker=
	if [ -z "${C3PO_TRUST:-}" ] && command -v cosign >/dev/null 2>&1; then
		checker=cosign
	elif openssl version 2>/dev/null | grep '^OpenSSL [1-9]' >/dev/null; then
		checker=openssl
	fi
	[ -n "$checker" ]
}

# field NAME FILE is the first text of that name in a bundle.
field() { tr ',{}[' '\n\n\n\n' <"$2" | sed -n "s/^[[:space:]]*\"$1\": *\"\([^\"]*\)\".*/\1/p" | head -n 1; }

# certificate takes the certificate out of a bundle if our workflow got it for a tag, and
# says which as $tag.
certificate() { # certificate BUNDLE
	authorities >"$room/authorities.pem"
	field rawBytes "$1" | openssl base64 -d -A >"$room/certificate.der"
	openssl x509 -inform DER -in "$room/certificate.der" -out "$room/certificate.pem" 2>/dev/null || fail "$1 holds no certificate; nothing was installed"
	openssl verify -no_check_time -CAfile "$room/authorities.pem" "$room/certificate.pem" >/dev/null 2>&1 || fail "nobody that is trusted vouches for the certificate in $1; nothing was installed"
	tag=$(openssl x509 -in "$room/certificate.pem" -noout -ext subjectAltName | sed -n 's/^ *URI://p')
	case $tag in
	"$signer"v[0-9]*) tag=${tag#"$signer"} ;;
	*) fail "$1 was signed by $tag, not by a release of c3po; nothing was installed" ;;
	esac
	case $tag in
	*[!A-Za-z0-9.-]*) fail "$1 was signed for $tag, which is no version; nothing was installed" ;;
	esac
	[ "${C3PO_VERSION:-latest}" = latest ] || [ "$C3PO_VERSION" = "$tag" ] || fail "$1 is of $tag, not of $C3PO_VERSION; nothing was installed"
	openssl x509 -in "$room/certificate.pem" -noout -pubkey >"$room/key.pem"
}

# signed fails unless a release of ours has signed a file.
signed() { # signed FILE BUNDLE
	if [ "$checker" = cosign ]; then
		cosign verify-blob --bundle "$2" --certificate-oidc-issuer https://token.actions.githubusercontent.com \
			--certificate-identity-regexp "^$signer" "$1" >/dev/null 2>&1 || fail "cosign says that $1 is not signed by a release of c3po; nothing was installed"
		return
	fi
	certificate "$2"
	field signature "$2" | openssl base64 -d -A >"$room/signature"
	openssl dgst -sha256 -verify "$room/key.pem" -signature "$room/signature" "$1" >/dev/null 2>&1 || fail "the signature is not of this $1; nothing was installed"
}

# attested fails unless the workflow of a release says that it built what $sums lists.
attested() { # attested BUNDLE
	certificate "$1"
	type=$(field payloadType "$1")
	field payload "$1" | openssl base64 -d -A >"$room/statement"
	field sig "$1" | openssl base64 -d -A >"$room/signature"
	{
		printf 'DSSEv1 %s %s %s ' "${#type}" "$type" "$(wc -c <"$room/statement" | tr -d ' ')"
		cat "$room/statement"
	} >"$room/signed"
	openssl dgst -sha256 -verify "$room/key.pem" -signature "$room/signature" "$room/signed" >/dev/null 2>&1 || fail "the signature is not of the statement in $1"
	grep '"predicateType": *"https://slsa.dev/provenance/v1"' "$room/statement" >/dev/null || fail "$1 says nothing of how anything was built"
	for one in $sums; do
		grep "\"sha256\": *\"$one\"" "$room/statement" >/dev/null || fail "$1 says nothing of a file with the hash $one"
	done
}

# verify checks what there is of a release in a folder.
verify() { # verify FOLDER
	cd "$1"
	can_check || fail "neither cosign nor OpenSSL is installed; nothing was checked"
	room=$(mktemp -d)
	trap 'rm -rf "$room"' EXIT
	signed checksums.txt checksums.txt.sigstore.json
	printf 'checksums.txt is signed by the release %s\n' "${tag:-that cosign found}"
	sums=
	while read -r want file; do
		[ -e "$file" ] || continue
		[ "$(sum "$file")" = "$want" ] || fail "$file is not what checksums.txt says"
		sums="$sums $want"
		printf '%s is what it says\n' "$file"
	done <checksums.txt
	[ -n "$sums" ] || fail "none of the files in checksums.txt is here"
	if [ -e provenance.sigstore.json ]; then
		[ "$checker" = openssl ] || fail "for the provenance, use: gh attestation verify FILE --repo c3po-dev/c3po"
		attested provenance.sigstore.json
		printf 'its workflow built them\n'
	fi
}

# here finds out what to fetch and where it goes.
here() {
	system=$(uname -s | tr '[:upper:]' '[:lower:]')
	machine=$(uname -m)
	case $machine in
	x86_64 | amd64) machine=amd64 ;;
	aarch64 | arm64) machine=arm64 ;;
	armv6* | armv7*) machine=arm ;;
	i?86) machine=386 ;;
	esac
	name=c3po-$system-$machine
	if [ "$(id -u)" -eq 0 ]; then
		folder=${C3PO_BIN:-/usr/local/bin}
	else
		folder=${C3PO_BIN:-$HOME/.local/bin}
	fi
	command -v curl >/dev/null 2>&1 || fail "curl is not installed"
}

# make_room makes a place beside the program, so that the new one replaces it in one step.
make_room() {
	mkdir -p "$folder"
	room=$(mktemp -d "$folder/.c3po-XXXXXX")
	trap 'rm -rf "$room"' EXIT
	trap 'exit 1' HUP INT TERM
}

put() { # put FILE
	chmod 755 "$1"
	mv -f "$1" "$folder/c3po"
	printf 'c3po is in %s\n' "$folder/c3po"
	case :$PATH: in
	*:"$folder":*) ;;
	*) printf 'add it to your PATH: export PATH="%s:$PATH"\n' "$folder" ;;
	esac
}

from_coordinator() {
	# The invitation comes in a variable: others can read arguments.
	invitation=${C3PO_INVITATION:-}
	unset C3PO_INVITATION
	case $invitation in
	'') fail "there is no invitation; use the whole line that c3po invite printed, with C3PO_INVITATION in it" ;;
	c3po://*/*) ;;
	*) fail "C3PO_INVITATION is not an invitation; use the whole line that c3po invite printed" ;;
	esac
	address=${invitation#c3po://}
	address=${address%%/*}
	case $address in
	*[!A-Za-z0-9._:-]*)
		case $address in
		*[!0-9a-fA-F.:\[\]]*) fail "this is not an address: $address" ;;
		esac
		;;
	esac
	here
	want=$(printf '%s\n' "$programs" | sed -n "s/^$name //p")
	[ -n "$want" ] || fail "the coordinator has no program for $system on $machine; put $name beside its own"
	make_room
	if [ -n "$pin" ]; then
		curl -fsSk --pinnedpubkey "$pin" -o "$room/c3po" "https://$address/install/$name"
	else
		curl -fsS -o "$room/c3po" "https://$address/install/$name"
	fi
	[ "$(sum "$room/c3po")" = "$want" ] || fail "the program is not the one the coordinator offers; nothing was installed"
	put "$room/c3po"
	"$folder/c3po" join - "$@" <<-END
		$invitation
	END
}

# check_release fails if checksums.txt is not ours. A mirror may have no signature.
check_release() {
	bundle=checksums.txt.sigstore.json
	if ! can_check; then
		warn "the signature was not checked: that needs OpenSSL or cosign"
	elif curl -fsSL -o "$room/$bundle" "$page/$bundle" 2>/dev/null; then
		signed "$room/checksums.txt" "$room/$bundle"
	elif [ "$from" != "$releases" ]; then
		warn "the signature was not checked: $from has none"
	else
		fail "the release has no signature; nothing was installed"
	fi
}

from_releases() {
	if [ "${1:-}" = verify ] && [ $# -eq 2 ]; then
		verify "$2"
		return
	fi
	[ $# -eq 0 ] || fail "this script is from the page of releases and takes no argument; for an invitation, use the line that c3po invite printed"
	here
	from=${C3PO_RELEASES:-$releases}
	from=${from%/}
	case ${C3PO_VERSION:-latest} in
	latest) page=$from/latest/download ;;
	v[0-9]*) page=$from/download/$C3PO_VERSION ;;
	*) fail "C3PO_VERSION is $C3PO_VERSION, not a version such as v1.2.3" ;;
	esac
	case $(uname -m) in
	armv6*) fail "there is no release for this processor; nothing was installed" ;;
	esac
	archive=$name.tar.gz
	make_room
	curl -fsSL -o "$room/checksums.txt" "$page/checksums.txt" || fail "there is no release at $page; nothing was installed"
	check_release
	want=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$room/checksums.txt")
	[ -n "$want" ] || fail "there is no release for $system on $machine; nothing was installed"
	curl -fsSL -o "$room/$archive" "$page/$archive" || fail "$page/$archive cannot be fetched; nothing was installed"
	[ "$(sum "$room/$archive")" = "$want" ] || fail "$archive is not what checksums.txt says; nothing was installed"
	tar -xzf "$room/$archive" -C "$room" c3po || fail "$archive holds no c3po; nothing was installed"
	put "$room/c3po"
	command -v redis-server >/dev/null 2>&1 || command -v valkey-server >/dev/null 2>&1 ||
		printf 'c3po up also needs redis-server (7.0 or newer) or valkey-server, for example: apt install redis-server\n'
}

main() {
	case $programs in
	@*) from_releases "$@" ;;
	*) from_coordinator "$@" ;;
	esac
}

main "$@"
