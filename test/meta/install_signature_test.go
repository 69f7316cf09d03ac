package meta

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/deploy"
)

// sign makes the signatures of a release of that tag, as its workflow does, and says what
// the script has to trust.
func (p releasePage) sign(t *testing.T, below, tag string, signer ...string) (trust string) {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("openssl is not installed")
	}
	trust = filepath.Join(t.TempDir(), "trust.pem")
	p.signAs(t, below, tag, trust, signer...)
	return trust
}

// signAs does it with the authority in trust, which is made if it is not there.
func (p releasePage) signAs(t *testing.T, below, tag, trust string, signer ...string) {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "checksums.txt"), p[below+"checksums.txt"], 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "test/package/sign.sh", append([]string{folder, tag, trust}, signer...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"checksums.txt.sigstore.json", "provenance.sigstore.json"} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		p[below+name] = data
	}
}

const (
	signedPage   = "latest/download/"
	signedBundle = signedPage + "checksums.txt.sigstore.json"
)

func TestTheScriptInstallsASignedRelease(t *testing.T) {
	t.Parallel()
	page := releasePage{}
	page.put(t, signedPage, "#!/bin/sh\necho newest\n")
	trust := page.sign(t, signedPage, "v1.2.3")
	out, left, err := install(t, page, deploy.InstallScript, []string{"C3PO_TRUST=" + trust})
	if err != nil || len(left) != 1 || strings.Contains(out, "not checked") {
		t.Errorf("it leaves %v, %v:\n%s", left, err, out)
	}
}

func TestTheScriptInstallsNothingThatSomebodyElseSigned(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		signer []string
		spoil  func(t *testing.T, p releasePage)
		says   string
	}{
		"another list": {spoil: func(_ *testing.T, p releasePage) {
			p[signedPage+"checksums.txt"] = append(p[signedPage+"checksums.txt"], fmt.Sprintf("%x  other\n", sha256.Sum256(nil))...)
		}, says: "the signature is not of this"},
		"another repository": {signer: []string{"https://github.com/somebody/c3po/.github/workflows/release.yml@refs/tags/"}, says: "not by a release of c3po"},
		"another workflow":   {signer: []string{"https://github.com/c3po-dev/c3po/.github/workflows/ci.yml@refs/tags/"}, says: "not by a release of c3po"},
		"a branch":           {signer: []string{"https://github.com/c3po-dev/c3po/.github/workflows/release.yml@refs/heads/"}, says: "not by a release of c3po"},
		"two names":          {signer: []string{"https://github.com/c3po-dev/c3po/.github/workflows/release.yml@refs/tags/v1.2.3,URI:https://example.com/"}, says: "which is no version"},
		"an authority that nobody knows": {spoil: func(t *testing.T, p releasePage) {
			other := releasePage{signedPage + "checksums.txt": p[signedPage+"checksums.txt"]}
			other.sign(t, signedPage, "v1.2.3")
			p[signedBundle] = other[signedBundle]
		}, says: "nobody that is trusted vouches"},
		"no certificate": {spoil: func(_ *testing.T, p releasePage) { p[signedBundle] = []byte("{}\n") }, says: "holds no certificate"},
	} {
		page := releasePage{}
		page.put(t, signedPage, "#!/bin/sh\necho newest\n")
		trust := page.sign(t, signedPage, "v1.2.3", one.signer...)
		if one.spoil != nil {
			one.spoil(t, page)
		}
		out, left, err := install(t, page, deploy.InstallScript, []string{"C3PO_TRUST=" + trust})
		if err == nil || len(left) > 0 || !strings.Contains(out, one.says) || !strings.Contains(out, "nothing was installed") {
			t.Errorf("%s: it leaves %v, %v:\n%s", name, left, err, out)
		}
	}
}

// An old release with its own signature is not the one that was asked for.
func TestTheScriptInstallsNoOtherReleaseThanTheOneAskedFor(t *testing.T) {
	t.Parallel()
	page := releasePage{}
	page.put(t, "download/v1.2.4/", "#!/bin/sh\necho older\n")
	trust := page.sign(t, "download/v1.2.4/", "v1.2.3")
	out, left, err := install(t, page, deploy.InstallScript, []string{"C3PO_TRUST=" + trust, "C3PO_VERSION=v1.2.4"})
	if err == nil || len(left) > 0 || !strings.Contains(out, "is of v1.2.3, not of v1.2.4") {
		t.Errorf("it leaves %v, %v:\n%s", left, err, out)
	}
}

// asOurs is the script for which the page of the project is the one it is given.
func asOurs() string {
	return strings.Replace(deploy.InstallScript, "\nreleases=https://github.com/c3po-dev/c3po/releases\n", "\nreleases=$C3PO_RELEASES\n", 1)
}

// A mirror may have no signature; the page of releases always has one.
func TestTheScriptSaysIfASignatureWasNotChecked(t *testing.T) {
	t.Parallel()
	page := releasePage{}
	page.put(t, signedPage, "#!/bin/sh\necho newest\n")
	out, left, err := install(t, page, deploy.InstallScript, nil)
	if err != nil || len(left) != 1 || !strings.Contains(out, "the signature was not checked: http://") {
		t.Errorf("it leaves %v, %v:\n%s", left, err, out)
	}
	for name, run := range map[string]struct {
		script    string
		variables []string
	}{
		"the project's page":         {script: asOurs()},
		"a mirror and whom to trust": {script: deploy.InstallScript, variables: []string{"C3PO_TRUST=/dev/null"}},
		"the page and whom to trust": {script: asOurs(), variables: []string{"C3PO_TRUST=/dev/null"}},
	} {
		out, left, err = install(t, page, run.script, run.variables)
		if err == nil || len(left) > 0 || !strings.Contains(out, "the release has no signature; nothing was installed") {
			t.Errorf("%s: it leaves %v, %v:\n%s", name, left, err, out)
		}
	}
}

// Whoever stands in between could answer with anything for a signature they can't make.
func TestTheScriptTakesOnlyANotFoundForNoSignature(t *testing.T) {
	t.Parallel()
	page := releasePage{}
	page.put(t, signedPage, "#!/bin/sh\necho newest\n")
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusForbidden, http.StatusTooManyRequests} {
		page[signedBundle] = fmt.Appendf(nil, "%s%d", answering, status)
		out, left, err := install(t, page, deploy.InstallScript, nil)
		if err == nil || len(left) > 0 || !strings.Contains(out, fmt.Sprintf("the signature can't be fetched: The requested URL returned error: %d; nothing was installed", status)) {
			t.Errorf("%d: it leaves %v, %v:\n%s", status, left, err, out)
		}
	}
}

func TestTheScriptVerifiesAReleaseInAFolder(t *testing.T) {
	t.Parallel()
	page := releasePage{}
	page.put(t, "", "#!/bin/sh\necho newest\n")
	// The provenance lists more than checksums.txt does: what other package managers get.
	sums, manifest := page["checksums.txt"], []byte("{}\n")
	page["checksums.txt"] = fmt.Appendf(bytes.Clone(sums), "%x  c3po.json\n", sha256.Sum256(manifest))
	trust := page.sign(t, "", "v1.2.3")
	provenance := page["provenance.sigstore.json"]
	page["checksums.txt"] = sums
	page.signAs(t, "", "v1.2.3", trust)
	page["provenance.sigstore.json"] = provenance
	verify := func(change func(releasePage)) (string, error) {
		changed, folder := releasePage{}, t.TempDir()
		for name, data := range page {
			changed[name] = bytes.Clone(data)
		}
		change(changed)
		for name, data := range changed {
			if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		sh := exec.CommandContext(t.Context(), "sh", "deploy/install.sh", "verify", folder)
		sh.Env = append(os.Environ(), "C3PO_TRUST="+trust)
		out, err := sh.CombinedOutput()
		return string(out), err
	}
	archive := "c3po-"
	for name := range page {
		if strings.HasSuffix(name, ".tar.gz") {
			archive = name
		}
	}
	out, err := verify(func(releasePage) {})
	if want := "checksums.txt is signed by the release v1.2.3\n" + archive + " is what it says\nits workflow built them\n"; err != nil || out != want {
		t.Errorf("%v:\n%swant\n%s", err, out, want)
	}
	for says, change := range map[string]func(releasePage){
		"c3po.json is what the provenance says\nits workflow built them\n":                     func(p releasePage) { p["c3po.json"] = manifest },
		"warning: other was not checked: the release does not list it\n":                       func(p releasePage) { p["other"] = manifest },
		"warning: .hidden was not checked: the release does not list it\n":                     func(p releasePage) { p[".hidden"] = manifest },
		"warning: who built the files was not checked: there is no provenance.sigstore.json\n": func(p releasePage) { delete(p, "provenance.sigstore.json") },
		"warning: c3po.json was not checked: the release does not list it\n": func(p releasePage) {
			p["c3po.json"] = manifest
			delete(p, "provenance.sigstore.json")
		},
	} {
		if out, err := verify(change); err != nil || !strings.Contains(out, says) {
			t.Errorf("%v, want a word about %q:\n%s", err, says, out)
		}
	}
	for says, change := range map[string]func(releasePage){
		"c3po.json is not what the provenance says":    func(p releasePage) { p["c3po.json"] = []byte("{ }\n") },
		"there is no checksums.txt.sigstore.json here": func(p releasePage) { delete(p, "checksums.txt.sigstore.json") },
		"is not what checksums.txt says":               func(p releasePage) { p[archive] = append(p[archive], 0) },
		"none of the files":                            func(p releasePage) { delete(p, archive) },
		"the signature is not of this":                 func(p releasePage) { p["checksums.txt"] = append(p["checksums.txt"], '\n') },
		"not of the statement": func(p releasePage) {
			text := string(p["provenance.sigstore.json"])
			_, rest, _ := strings.Cut(text, `"payload":"`)
			payload, _, _ := strings.Cut(rest, `"`)
			statement, _ := base64.StdEncoding.DecodeString(payload)
			statement = bytes.Replace(statement, []byte("c3po-plan9"), []byte("c3po-plan8"), 1)
			p["provenance.sigstore.json"] = []byte(strings.Replace(text, payload, base64.StdEncoding.EncodeToString(statement), 1))
		},
	} {
		if out, err := verify(change); err == nil || !strings.Contains(out, says) {
			t.Errorf("%v, want a word about %q:\n%s", err, says, out)
		}
	}
}
