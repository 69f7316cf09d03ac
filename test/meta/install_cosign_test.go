package meta

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/deploy"
)

// withCosign is a PATH with a program that holds a bundle to the identity it is given, as
// cosign does, and believes every signature.
func withCosign(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	const cosign = `#!/bin/sh
set -eu
[ "$1" = verify-blob ]
shift
bundle= exact= pattern=
while [ $# -gt 1 ]; do
	case $1 in
	--bundle) bundle=$2 ;;
	--certificate-identity) exact=$2 ;;
	--certificate-identity-regexp) pattern=$2 ;;
	--certificate-oidc-issuer) [ "$2" = https://token.actions.githubusercontent.com ] ;;
	*) exit 2 ;;
	esac
	shift 2
done
[ -e "$1" ]
name=$(sed 's/.*"rawBytes":"\([^"]*\)".*/\1/' "$bundle" | openssl base64 -d -A | openssl x509 -inform DER -noout -ext subjectAltName | sed -n 's/^ *URI://p')
if [ -n "$exact" ]; then [ "$name" = "$exact" ]; else printf '%s\n' "$name" | grep -E "$pattern"; fi
`
	if err := os.WriteFile(filepath.Join(folder, "cosign"), []byte(cosign), 0o700); err != nil { // #nosec G306 -- a program
		t.Fatal(err)
	}
	return "PATH=" + folder + ":" + os.Getenv("PATH")
}

// trusting is the script with other authorities in it than Sigstore's.
func trusting(t *testing.T, trust string) string {
	t.Helper()
	authorities, err := os.ReadFile(trust)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(deploy.InstallScript, "<<'END'\n")
	_, after, found := strings.Cut(rest, "\nEND\n")
	if !found {
		t.Fatal("the script has no authorities in it")
	}
	return before + "<<'END'\n" + strings.TrimSpace(string(authorities)) + "\nEND\n" + after
}

func TestTheScriptHoldsCosignToTheReleaseAskedFor(t *testing.T) {
	t.Parallel()
	const ours = "https://github.com/c3po-dev/c3po/.github/workflows/release.yml@refs/tags/"
	for _, c := range []struct{ below, version, tag, signer, says string }{
		{"latest/download/", "", "v1.2.3", ours, ""},
		{"download/v1.2.4/", "v1.2.4", "v1.2.4", ours, ""},
		{"download/v1.2.4/", "v1.2.4", "v1.2.3", ours, "not signed by the release v1.2.4"},
		{"download/v1.2.4/", "v1.2.4", "v1.2.4-rc.1", ours, "not signed by the release v1.2.4"},
		{"download/v1.2.4/", "v1.2.4", "v1x2x4", ours, "not signed by the release v1.2.4"},
		{"latest/download/", "", "v1.2.3", "https://github.com/c3po-dev/c3po/.github/workflows/release-yml@refs/tags/", "not signed by a release"},
		{"latest/download/", "", "v1.2.3", "https://github.com/c3po-dev/c3po/.github/workflows/release.yml@refs/heads/", "not signed by a release"},
		{"latest/download/", "", "v1/other", ours, "not signed by a release"},
	} {
		page := releasePage{}
		page.put(t, c.below, "#!/bin/sh\necho newest\n")
		page.sign(t, c.below, c.tag, c.signer)
		out, left, err := install(t, page, deploy.InstallScript, []string{withCosign(t), "C3PO_VERSION=" + c.version})
		if c.says == "" && (err != nil || len(left) != 1) {
			t.Errorf("%+v: it leaves %v, %v:\n%s", c, left, err, out)
		}
		if c.says != "" && (err == nil || len(left) > 0 || !strings.Contains(out, c.says)) {
			t.Errorf("%+v: it leaves %v, %v:\n%s", c, left, err, out)
		}
	}
}

// cosign checks the signature, and OpenSSL the provenance.
func TestTheScriptVerifiesTheProvenanceBesideCosign(t *testing.T) {
	t.Parallel()
	page := releasePage{}
	page.put(t, "", "#!/bin/sh\necho newest\n")
	trust := page.sign(t, "", "v1.2.3")
	folder := t.TempDir()
	verify := func() (string, error) {
		for name, data := range page {
			if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		sh := exec.CommandContext(t.Context(), "sh", "-s", "--", "verify", folder)
		sh.Stdin = strings.NewReader(trusting(t, trust))
		sh.Env = []string{withCosign(t)}
		out, err := sh.CombinedOutput()
		return string(out), err
	}
	out, err := verify()
	if err != nil || !strings.HasPrefix(out, "checksums.txt is signed by the release v1.2.3\n") || !strings.HasSuffix(out, "\nits workflow built them\n") {
		t.Errorf("%v:\n%s", err, out)
	}
	// The provenance of another release, which happens to have built the same.
	other := releasePage{"checksums.txt": page["checksums.txt"]}
	other.signAs(t, "", "v1.2.2", trust)
	page["provenance.sigstore.json"] = other["provenance.sigstore.json"]
	if out, err := verify(); err == nil || !strings.Contains(out, "the provenance is of v1.2.2, checksums.txt of v1.2.3") {
		t.Errorf("%v:\n%s", err, out)
	}
}
