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
//
// Claims: U1, AC5
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
	debian := &host{t: t, root: root, home: "/root", extra: []string{"HOME=/root", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}}
	began := time.Now()
	followText(t, "README.md", first, map[string]*host{"": debian, "api": debian, "web": debian})
	took := time.Since(began)
	faultrig.Hold(t, "from nothing to an answer, without the download of Redis", took, goal)
	if out, err := debian.command(t.Context(), "c3po", "down").CombinedOutput(); err != nil {
		t.Errorf("c3po down: %v: %s", err, out)
	}
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
