package quickstart_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// goal is how long it may take from nothing to two agents that have exchanged a
// message. Beyond five times that the test fails, on any machine.
const goal = time.Minute

// The README alone, on a Debian that has only what it asks for. test/package makes
// that, and runs this in a network where github.com is this process: what a release
// would hold is served from a folder. What apt would fetch is there already.
func TestTheReadmeOnABareDebian(t *testing.T) {
	root, release := os.Getenv("C3PO_QUICKSTART_ROOT"), os.Getenv("C3PO_QUICKSTART_RELEASE")
	if root == "" || release == "" {
		t.Skip("test/package runs this, which has a Debian")
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	first, _, found := strings.Cut(string(text), "\n## Another host\n")
	if !found {
		t.Fatal("the README has no section Another host, before which everything is run")
	}
	// Whoever is root already has no need of it.
	sudo := filepath.Join(root, "usr/local/bin/sudo")
	if err := os.WriteFile(sudo, []byte("#!/bin/sh\nexec \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	servePage(t, root, release)
	debian := bareDebian(t, root)
	began := time.Now()
	followText(t, "README.md", first, map[string]*host{"": debian, "api": debian, "web": debian})
	took := time.Since(began)
	faultrig.Hold(t, "from nothing to an answer, without the download of Redis", took, goal)
	if out, err := debian.command(t.Context(), "c3po", "down").CombinedOutput(); err != nil {
		t.Errorf("c3po down: %v: %s", err, out)
	}
}

// What the page on installing says of verifying, with a release that another authority
// than Sigstore's vouches for.
func TestAReleaseIsVerifiedAsThePageSays(t *testing.T) {
	root, release := os.Getenv("C3PO_QUICKSTART_ROOT"), os.Getenv("C3PO_QUICKSTART_RELEASE")
	if root == "" || release == "" {
		t.Skip("test/package runs this, which has a Debian")
	}
	text, err := os.ReadFile("../../docs/start/install.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Verifying a release\n")
	section, _, found := strings.Cut(section, "\n## ")
	if !found || !strings.Contains(section, "sh install.sh verify") {
		t.Fatal("the page does not say how a release is verified")
	}
	servePage(t, root, release)
	section = strings.NewReplacer("v1.2.3", os.Getenv("C3PO_QUICKSTART_VERSION"), "linux-amd64", "linux-"+runtime.GOARCH).Replace(section)
	followText(t, "docs/start/install.md", section, map[string]*host{"": bareDebian(t, root)})
}

// bareDebian is the Debian in root, where releases are signed by test/package.
func bareDebian(t *testing.T, root string) *host {
	t.Helper()
	trust, err := os.ReadFile(os.Getenv("C3PO_QUICKSTART_TRUST"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "etc/ssl/releases.pem"), trust, 0o644); err != nil {
		t.Fatal(err)
	}
	return &host{t: t, root: root, home: "/root", extra: []string{
		"HOME=/root", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "C3PO_TRUST=/etc/ssl/releases.pem",
	}}
}

// servePage is github.com to the programs in root: a certificate they believe, and
// the files of a release at their addresses.
func servePage(t *testing.T, root, release string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	mine := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "github.com"}, DNSNames: []string{"github.com"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, mine, mine, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	believed := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	if err := errors.Join(
		os.WriteFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"), believed, 0o644),
		os.WriteFile(filepath.Join(root, "etc/hosts"), []byte("127.0.0.1 localhost github.com\n"), 0o644),
	); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:443")
	if err != nil {
		t.Fatal(err)
	}
	const page = "/c3po-dev/c3po/releases/latest/download/"
	server := &http.Server{Handler: http.StripPrefix(page, http.FileServer(http.Dir(release))), ReadHeaderTimeout: time.Minute}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		_ = server.Serve(tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}}))
	}()
}
