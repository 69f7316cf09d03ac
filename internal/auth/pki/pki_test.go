package pki_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth/pki"
)

func authority(t *testing.T) *pki.Authority {
	t.Helper()
	data, err := pki.New()
	if err != nil {
		t.Fatal(err)
	}
	a, err := pki.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func certificate(t *testing.T, get func(*tls.ClientHelloInfo) (*tls.Certificate, error)) *tls.Certificate {
	t.Helper()
	c, err := get(nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// handshake is what a client with this trust meets at a server with this leaf.
func handshake(t *testing.T, leaf *pki.Leaf, trust *tls.Config) error {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetCertificate: leaf.GetCertificate})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		there, err := listener.Accept()
		if err != nil {
			return
		}
		// What the server makes of it is seen by the client.
		_ = there.(*tls.Conn).HandshakeContext(t.Context())
		there.Close()
	}()
	here, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	return tls.Client(here, trust).HandshakeContext(t.Context())
}

func trust(t *testing.T, a *pki.Authority) *tls.Config {
	t.Helper()
	config, err := pki.Trust(a.PEM())
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestAHostTrustsItsOwnAuthorityAndNoOther(t *testing.T) {
	t.Parallel()
	ours, theirs := authority(t), authority(t)
	leaf := ours.Leaf([]string{"192.0.2.7"}, nil)
	if err := handshake(t, leaf, trust(t, ours)); err != nil {
		t.Errorf("our own coordinator is refused: %v", err)
	}
	err := handshake(t, leaf, trust(t, theirs))
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); !unknown {
		t.Errorf("a coordinator of another authority is met with %v", err)
	}
}

func TestACertificateIsRenewedAtTwoThirdsOfItsLifeAndKeepsItsKey(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	a := authority(t)
	now := time.Now()
	began := now
	leaf := a.Leaf([]string{"nas.local", "NAS.local", "192.0.2.7", "::1", "0.0.0.0", "not a name"}, func() time.Time { return now })
	first := certificate(t, leaf.GetCertificate)
	if err := handshake(t, leaf, trust(t, a)); err != nil {
		t.Fatal(err)
	}
	now = began.Add(59 * day)
	if certificate(t, leaf.GetCertificate) != first {
		t.Error("it is renewed before two thirds of its life")
	}
	now = began.Add(61 * day)
	second := certificate(t, leaf.GetCertificate)
	if second == first || !second.Leaf.NotAfter.After(first.Leaf.NotAfter) {
		t.Errorf("after 61 days it still ends at %v", second.Leaf.NotAfter)
	}
	if !bytes.Equal(first.Leaf.RawSubjectPublicKeyInfo, second.Leaf.RawSubjectPublicKeyInfo) {
		t.Error("the renewed certificate has another key")
	}
	if life := first.Leaf.NotAfter.Sub(began); life > 90*day || life < 89*day {
		t.Errorf("it lives for %v", life)
	}
	for _, name := range []string{"nas.local", "192.0.2.7", "::1", pki.ServerName} {
		if err := first.Leaf.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	if got := len(first.Leaf.DNSNames) + len(first.Leaf.IPAddresses); got != 4 {
		t.Errorf("it is for %d names: %v %v", got, first.Leaf.DNSNames, first.Leaf.IPAddresses)
	}
	now = began.Add(-30 * day)
	if third := certificate(t, leaf.GetCertificate); third.Leaf.NotBefore.After(now) {
		t.Error("with the clock set back it shows a certificate that is not valid yet")
	}
}

func TestThePinIsTheHashOfTheKeyThatIsShown(t *testing.T) {
	t.Parallel()
	a := authority(t)
	shown := certificate(t, a.Leaf(nil, nil).GetCertificate)
	sum := sha256.Sum256(shown.Leaf.RawSubjectPublicKeyInfo)
	pin, err := a.Pin()
	if err != nil {
		t.Fatal(err)
	}
	if want := "sha256//" + base64.StdEncoding.EncodeToString(sum[:]); pin != want {
		t.Errorf("the pin is %s, want %s", pin, want)
	}
}

func TestTheHashOfAnotherAuthorityIsRefused(t *testing.T) {
	t.Parallel()
	ours, theirs := authority(t), authority(t)
	if err := pki.CheckHash(ours.PEM(), ours.Hash()); err != nil {
		t.Error(err)
	}
	for name, shown := range map[string][]byte{
		"another authority": theirs.PEM(),
		"nothing":           nil,
		"a page":            []byte("<html>"),
		"ours after theirs": append(theirs.PEM(), ours.PEM()...),
	} {
		if err := pki.CheckHash(shown, ours.Hash()); !errors.Is(err, c3po.Forbidden) || c3po.AsError(err).Suggestion == "" {
			t.Errorf("%s is met with %v", name, err)
		}
	}
}

func TestWhatIsNotAnAuthorityIsRefused(t *testing.T) {
	t.Parallel()
	one, err := pki.New()
	if err != nil {
		t.Fatal(err)
	}
	other, err := pki.New()
	if err != nil {
		t.Fatal(err)
	}
	block, keys := pem.Decode(one)
	for name, data := range map[string][]byte{
		"nothing":                   nil,
		"a certificate alone":       pem.EncodeToMemory(block),
		"keys alone":                keys,
		"a key of another":          append(authorityPEM(t, other), keys...),
		"no key for coordinators":   one[:len(one)-20],
		"a certificate that is not": bytes.Replace(one, []byte("MII"), []byte("MIX"), 1),
	} {
		if _, err := pki.Parse(data); err == nil {
			t.Errorf("%s passes as an authority", name)
		}
	}
}

func authorityPEM(t *testing.T, data []byte) []byte {
	t.Helper()
	a, err := pki.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return a.PEM()
}

func TestACertificateOfYoursIsReadFromItsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := pki.Open(cert, key); err == nil {
		t.Error("files that are not there are taken")
	}
	shown := certificate(t, authority(t).Leaf([]string{"nas.example"}, nil).GetCertificate)
	der, err := x509.MarshalPKCS8PrivateKey(shown.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: shown.Certificate[0]},
		key:  {Type: "PRIVATE KEY", Bytes: der},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := pki.Open(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	if got := certificate(t, files.GetCertificate); !bytes.Equal(got.Certificate[0], shown.Certificate[0]) {
		t.Error("it shows another certificate")
	}
	if err := os.Remove(cert); err != nil {
		t.Fatal(err)
	}
	if got := certificate(t, files.GetCertificate); !bytes.Equal(got.Certificate[0], shown.Certificate[0]) {
		t.Error("without its file it shows another certificate")
	}
}
