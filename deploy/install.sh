#!/bin/sh
# Installs c3po, from the page of releases:
#   curl -fsSL https://github.com/c3po-dev/c3po/releases/latest/download/install.sh | sh
# or from a coordinator, which is then joined:
#   curl -fsSk --pinnedpubkey 'sha256//...' https://HOST:PORT/install | C3PO_INVITATION=c3po://... sh
# A coordinator writes into it how it is known and the hashes of its programs; from
# the page of releases the hashes are those of checksums.txt.
# C3PO_BIN is the folder it installs into, C3PO_VERSION a release other than the
# newest (v1.2.3), C3PO_RELEASES a mirror of the page of releases, which may have no
# signature, C3PO_TRUST a file with the authorities that vouch for whoever signs, instead
# of Sigstore's; with it a mirror must have a signature too.
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

nothing='; nothing was installed'
refuse() { fail "$1$nothing"; }

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

# LibreSSL can't check a certificate whose ten minutes are over.
has_openssl() { openssl version 2>/dev/null | grep '^OpenSSL [1-9]' >/dev/null; }

# can_check finds a program that checks signatures.
can_check() {
	checker=
	if [ -z "${C3PO_TRUST:-}" ] && command -v cosign >/dev/null 2>&1; then
		checker=cosign
	elif has_openssl; then
		checker=openssl
	fi
	[ -n "$checker" ]
}

# field NAME FILE is the first text of that name in a bundle.
field() { tr ',{}[' '\n\n\n\n' <"$2" | sed -n "s/^[[:space:]]*\"$1\": *\"\([^\"]*\)\".*/\1/p" | head -n 1; }

# name_tag reads from the certificate in a bundle for which tag our workflow got it, as $tag.
name_tag() { # name_tag BUNDLE
	bundle=${1##*/}
	field rawBytes "$1" | openssl base64 -d -A >"$room/certificate.der"
	openssl x509 -inform DER -in "$room/certificate.der" -out "$room/certificate.pem" 2>/dev/null || refuse "$bundle holds no certificate"
	tag=$(openssl x509 -in "$room/certificate.pem" -noout -ext subjectAltName | sed -n 's/^ *URI://p')
	case $tag in
	"$signer"v[0-9]*) tag=${tag#"$signer"} ;;
	*) refuse "$bundle was signed by $tag, not by a release of c3po" ;;
	esac
	case $tag in
	*[!A-Za-z0-9.-]*) refuse "$bundle was signed for $tag, which is no version" ;;
	esac
	[ "${C3PO_VERSION:-latest}" = latest ] || [ "$C3PO_VERSION" = "$tag" ] || refuse "$bundle is of $tag, not of $C3PO_VERSION"
}

# certificate takes the key out of a bundle if our workflow got the certificate for a tag.
certificate() { # certificate BUNDLE
	name_tag "$1"
	authorities >"$room/authorities.pem"
	openssl verify -no_check_time -CAfile "$room/authorities.pem" "$room/certificate.pem" >/dev/null 2>&1 || refuse "nobody that is trusted vouches for the certificate in $bundle"
	openssl x509 -in "$room/certificate.pem" -noout -pubkey >"$room/key.pem"
}

# signed_by_cosign fails unless cosign finds that a release of ours has signed a file: the
# one asked for, or any.
signed_by_cosign() { # signed_by_cosign FILE BUNDLE
	if [ "${C3PO_VERSION:-latest}" = latest ]; then
		who="a release"
		set -- "$1" "$2" --certificate-identity-regexp "^$(printf '%s' "$signer" | sed 's/\./\\./g')v[0-9][A-Za-z0-9.-]*\$"
	else
		who="the release $C3PO_VERSION"
		set -- "$1" "$2" --certificate-identity "$signer$C3PO_VERSION"
	fi
	cosign verify-blob --bundle "$2" --certificate-oidc-issuer https://token.actions.githubusercontent.com "$3" "$4" "$1" >/dev/null 2>&1 ||
		refuse "cosign says that ${1##*/} is not signed by $who of c3po"
}

# signed fails unless a release of ours has signed a file.
signed() { # signed FILE BUNDLE
	if [ "$checker" = cosign ]; then
		signed_by_cosign "$@"
		return
	fi
	certificate "$2"
	field signature "$2" | openssl base64 -d -A >"$room/signature"
	openssl dgst -sha256 -verify "$room/key.pem" -signature "$room/signature" "$1" >/dev/null 2>&1 || refuse "the signature is not of this ${1##*/}"
}

# attested lists in $room/subjects what the workflow of a release says that it built.
attested() { # attested BUNDLE
	certificate "$1"
	type=$(field payloadType "$1")
	field payload "$1" | openssl base64 -d -A >"$room/statement"
	field sig "$1" | openssl base64 -d -A >"$room/signature"
	{
		printf 'DSSEv1 %s %s %s ' "${#type}" "$type" "$(wc -c <"$room/statement" | tr -d ' ')"
		cat "$room/statement"
	} >"$room/signed"
	openssl dgst -sha256 -verify "$room/key.pem" -signature "$room/signature" "$room/signed" >/dev/null 2>&1 || refuse "the signature is not of the statement in $1"
	grep '"predicateType": *"https://slsa.dev/provenance/v1"' "$room/statement" >/dev/null || refuse "$1 says nothing of how anything was built"
	tr '{}' '\n\n' <"$room/statement" | sed -n \
		-e '/^ *"name": *"[^"]*", *"digest": *$/{s/^ *"name": *"\([^"]*\)".*/\1/;h;}' \
		-e '/^ *"sha256": *"[0-9a-f]*" *$/{s/^ *"sha256": *"\([0-9a-f]*\)" *$/\1/;G;s/\n/  /;p;}' >"$room/subjects"
}

# verify_provenance needs OpenSSL, whatever has checked the signature. Files that only the
# provenance lists are checked against it.
verify_provenance() {
	if [ ! -e provenance.sigstore.json ]; then
		warn "who built the files was not checked: there is no provenance.sigstore.json"
		return
	elif ! has_openssl; then
		warn "the provenance was not checked: that needs OpenSSL, or gh attestation verify FILE --repo c3po-dev/c3po --signer-workflow c3po-dev/c3po/.github/workflows/release.yml"
		return
	fi
	release=$tag
	attested provenance.sigstore.json
	[ "$tag" = "$release" ] || refuse "the provenance is of $tag, checksums.txt of $release"
	while read -r want file; do
		grep -Fx "$want  $file" "$room/subjects" >/dev/null || refuse "the provenance says nothing of this $file"
	done <"$room/checked"
	while read -r want file; do
		if [ ! -e "$file" ] || grep -Fx "$want  $file" "$room/checked" >/dev/null; then continue; fi
		[ "$(sum "$file")" = "$want" ] || refuse "$file is not what the provenance says"
		printf '%s  %s\n' "$want" "$file" >>"$room/checked"
		printf '%s is what the provenance says\n' "$file"
	done <"$room/subjects"
	printf 'its workflow built them\n'
}

# verify checks what there is of a release in a folder, and names what it could not check.
verify() { # verify FOLDER
	nothing=
	cd "$1"
	can_check || refuse "neither cosign nor OpenSSL is installed; nothing was checked"
	for file in checksums.txt checksums.txt.sigstore.json; do
		[ -e "$file" ] || refuse "there is no $file here; nothing was checked"
	done
	room=$(mktemp -d)
	trap 'rm -rf "$room"' EXIT
	signed checksums.txt checksums.txt.sigstore.json
	[ "$checker" = openssl ] || ! has_openssl || name_tag checksums.txt.sigstore.json
	printf 'checksums.txt is signed by the release %s\n' "${tag:-that cosign found}"
	: >"$room/checked"
	while read -r want file; do
		[ -e "$file" ] || continue
		[ "$(sum "$file")" = "$want" ] || refuse "$file is not what checksums.txt says"
		printf '%s  %s\n' "$want" "$file" >>"$room/checked"
		printf '%s is what it says\n' "$file"
	done <checksums.txt
	verify_provenance
	[ -s "$room/checked" ] || refuse "none of the files that the release lists is here"
	for file in * .[!.]*; do
		case $file in
		checksums.txt | checksums.txt.sigstore.json | provenance.sigstore.json) continue ;;
		esac
		if [ ! -e "$file" ] || cut -c 67- "$room/checked" | grep -Fx -e "$file" >/dev/null; then continue; fi
		warn "$file was not checked: the release does not list it"
	done
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
	command -v curl >/dev/null 2>&1 || refuse "curl is not installed"
	command -v sha256sum >/dev/null 2>&1 || command -v shasum >/dev/null 2>&1 || command -v openssl >/dev/null 2>&1 ||
		refuse "none of sha256sum, shasum and openssl is installed"
}

# make_room makes a place beside the program, so that the new one replaces it in one step.
make_room() {
	case $folder in
	/*) ;;
	*) folder=$(pwd)/$folder ;;
	esac
	mkdir -p "$folder" || refuse "the folder $folder can't be made"
	folder=$(cd "$folder" && pwd)
	[ ! -d "$folder/c3po" ] || refuse "$folder/c3po is a folder, where the program should go"
	room=$(mktemp -d "$folder/.c3po-XXXXXX") || refuse "nothing can be written to $folder"
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
	[ "$(sum "$room/c3po")" = "$want" ] || refuse "the program is not the one the coordinator offers"
	put "$room/c3po"
	"$folder/c3po" join - "$@" <<-END
		$invitation
	END
}

# fetch says in $answer how the page answered, and in $reason why there is no file.
fetch() { # fetch FILE
	if answer=$(curl -fsSL -o "$room/$1" -w '%{http_code}' "$page/$1" 2>"$room/curl"); then return; fi
	reason=$(sed 's/^curl: ([0-9]*) //' "$room/curl")
	return 1
}

# check_release fails if checksums.txt is not ours. A mirror may have no signature, unless
# somebody said whom to trust.
check_release() {
	if ! can_check; then
		[ -z "${C3PO_TRUST:-}" ] || refuse "the signature can't be checked against C3PO_TRUST without OpenSSL"
		warn "the signature was not checked: that needs OpenSSL or cosign"
	elif fetch checksums.txt.sigstore.json; then
		signed "$room/checksums.txt" "$room/checksums.txt.sigstore.json"
	elif [ "$answer" != 404 ]; then
		refuse "the signature can't be fetched: $reason"
	elif [ "$from" = "$releases" ] || [ -n "${C3PO_TRUST:-}" ]; then
		refuse "the release has no signature"
	else
		warn "the signature was not checked: $from has none"
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
	armv6*) refuse "there is no release for this processor" ;;
	esac
	command -v tar >/dev/null 2>&1 || refuse "tar is not installed"
	archive=$name.tar.gz
	make_room
	if ! fetch checksums.txt; then
		[ "$answer" != 404 ] || refuse "there is no release at $page"
		refuse "$page can't be asked: $reason"
	fi
	check_release
	want=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$room/checksums.txt")
	[ -n "$want" ] || refuse "there is no release for $system on $machine"
	fetch "$archive" || refuse "$page/$archive can't be fetched: $reason"
	[ "$(sum "$room/$archive")" = "$want" ] || refuse "$archive is not what checksums.txt says"
	# To root tar would give the owner that the builder had.
	tar -xzof "$room/$archive" -C "$room" c3po || refuse "tar gets no c3po out of $archive"
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
