#!/bin/sh
# Signs a release as its workflow does, with an authority made for the purpose:
#   test/package/sign.sh FOLDER TAG TRUST [SIGNER]
# FOLDER holds checksums.txt, and gets checksums.txt.sigstore.json and provenance.sigstore.json
# in the form of Sigstore's bundles. TRUST is the file for C3PO_TRUST; if it is there, with its
# key beside it, that authority signs again.
set -eu
folder=$1 tag=$2 trust=$3
signer=${4:-https://github.com/c3po-dev/c3po/.github/workflows/release.yml@refs/tags/}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }
coded() { openssl base64 -A; }

if [ ! -e "$trust" ]; then
	key "$trust.key"
	openssl req -x509 -new -key "$trust.key" -subj '/O=c3po/CN=test authority' -days 2 -out "$trust" 2>/dev/null
fi
# A certificate of ten minutes that are over.
key "$work/key"
openssl req -new -key "$work/key" -subj / -out "$work/request" 2>/dev/null
printf 'subjectAltName=critical,URI:%s%s\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=codeSigning\n' "$signer" "$tag" >"$work/extensions"
openssl x509 -req -in "$work/request" -CA "$trust" -CAkey "$trust.key" -set_serial 1 -days -1 -extfile "$work/extensions" -outform DER -out "$work/certificate" 2>/dev/null
certificate=$(coded <"$work/certificate")

printf '{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","verificationMaterial":{"certificate":{"rawBytes":"%s"},"tlogEntries":[]},"messageSignature":{"messageDigest":{"algorithm":"SHA2_256","digest":"%s"},"signature":"%s"}}\n' \
	"$certificate" "$(openssl dgst -sha256 -binary "$folder/checksums.txt" | coded)" "$(openssl dgst -sha256 -sign "$work/key" "$folder/checksums.txt" | coded)" >"$folder/checksums.txt.sigstore.json"

{
	printf '{"_type":"https://in-toto.io/Statement/v1","subject":['
	sed 's/^\([0-9a-f]*\)  \(.*\)$/{"name":"\2","digest":{"sha256":"\1"}}/' "$folder/checksums.txt" | paste -s -d , - | tr -d '\n'
	printf '],"predicateType":"https://slsa.dev/provenance/v1","predicate":{"buildDefinition":{"buildType":"https://actions.github.io/buildtypes/workflow/v1"}}}'
} >"$work/statement"
type=application/vnd.in-toto+json
{
	printf 'DSSEv1 %s %s %s ' "${#type}" "$type" "$(wc -c <"$work/statement" | tr -d ' ')"
	cat "$work/statement"
} >"$work/signed"
printf '{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","verificationMaterial":{"certificate":{"rawBytes":"%s"},"tlogEntries":[]},"dsseEnvelope":{"payload":"%s","payloadType":"%s","signatures":[{"sig":"%s"}]}}\n' \
	"$certificate" "$(coded <"$work/statement")" "$type" "$(openssl dgst -sha256 -sign "$work/key" "$work/signed" | coded)" >"$folder/provenance.sigstore.json"
