package pki

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	leafLife = 90 * 24 * time.Hour
	// renewAfter leaves a month in which something may go wrong with clocks.
	renewAfter = leafLife * 2 / 3
	// lookEvery is how often certificate files are looked at for a newer one.
	lookEvery = time.Minute
)

// A Leaf is the certificate a coordinator shows. It is made when it is first
// needed, and made anew, with the same key, when two thirds of its life are over.
type Leaf struct {
	authority *Authority
	names     []string
	now       func() time.Time

	mu      sync.Mutex
	current *tls.Certificate
	made    time.Time
}

// Leaf gives a certificate for these host names and addresses. It is for a
// coordinator to keep: every call makes another one. Now is time.Now if nil.
func (a *Authority) Leaf(names []string, now func() time.Time) *Leaf {
	if now == nil {
		now = time.Now
	}
	return &Leaf{authority: a, names: names, now: now}
}

// GetCertificate is for a tls.Config.
func (l *Leaf) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	// A clock that was set back would leave one that is not valid yet.
	if age := now.Sub(l.made); l.current != nil && age < renewAfter && age > -early {
		return l.current, nil
	}
	made, err := l.authority.sign(l.names, now)
	if err != nil {
		return nil, err
	}
	l.current, l.made = made, now
	return made, nil
}

func (a *Authority) sign(names []string, now time.Time) (*tls.Certificate, error) {
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: ServerName},
		DNSNames:     []string{ServerName},
		NotBefore:    now.Add(-early),
		NotAfter:     now.Add(leafLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		name = strings.ToLower(strings.TrimSuffix(name, "."))
		switch ip := net.ParseIP(name); {
		case ip != nil && !ip.IsUnspecified():
			template.IPAddresses = append(template.IPAddresses, ip)
		case ip == nil && isHostName(name) && !slices.Contains(template.DNSNames, name):
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, a.leafKey.Public(), a.key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.leafKey, Leaf: leaf}, nil
}

// Files is a certificate somebody else made. It is read again when the file has changed,
// so that a renewal needs no restart.
type Files struct {
	cert, key string

	mu      sync.Mutex
	current *tls.Certificate
	changed time.Time // of the certificate file
	looked  time.Time
}

// Open reads certificate and key, both in PEM files.
func Open(cert, key string) (*Files, error) {
	f := &Files{cert: cert, key: key}
	if _, err := f.GetCertificate(nil); err != nil {
		return nil, err
	}
	return f, nil
}

// GetCertificate is for a tls.Config. While the files cannot be read, half
// written perhaps, the certificate is the one they held before.
func (f *Files) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current != nil && time.Since(f.looked) < lookEvery {
		return f.current, nil
	}
	f.looked = time.Now()
	info, err := os.Stat(f.cert)
	if err == nil && f.current != nil && info.ModTime().Equal(f.changed) {
		return f.current, nil
	}
	read, err := tls.LoadX509KeyPair(f.cert, f.key)
	switch {
	case err == nil:
		f.current = &read
		if info != nil {
			f.changed = info.ModTime()
		}
	case f.current == nil:
		return nil, err
	}
	return f.current, nil
}
