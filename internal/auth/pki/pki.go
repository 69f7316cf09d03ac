// Package pki makes the certificates of a coordinator and says how they are
// trusted. There is one authority for all coordinators of a Redis, made once.
// It signs for one key only, that of the coordinators, which stays the same when
// their certificate is renewed. So there are two things to pin: the hash of the
// authority, which an invitation carries, and the key, which curl can check.
package pki

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

const (
	// ServerName is in every certificate the authority signs, and what our own clients
	// ask for. The authority vouches for the coordinators only, so the address they are
	// reached at, which a coordinator behind a port mapping cannot know, adds nothing.
	ServerName = "coordinator.c3po.internal"

	authorityLife = 20 * 365 * 24 * time.Hour
	// early is how long before they were made certificates are valid already:
	// the clocks of two hosts are seldom the same.
	early = 24 * time.Hour

	certificateBlock = "CERTIFICATE"
	keyBlock         = "PRIVATE KEY"
)

// An Authority signs the certificates of coordinators.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey // signs
	leafKey     *ecdsa.PrivateKey // of the coordinators
}

// New makes an authority and the coordinators' key, in the form Parse reads. Both are
// secrets of equal worth: their holder can pose as a coordinator.
func New() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "c3po"},
		NotBefore:             now.Add(-early),
		NotAfter:              now.Add(authorityLife),
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	if err := pem.Encode(&all, &pem.Block{Type: certificateBlock, Bytes: der}); err != nil {
		return nil, err
	}
	for _, k := range []*ecdsa.PrivateKey{key, leafKey} {
		der, err := x509.MarshalPKCS8PrivateKey(k)
		if err != nil {
			return nil, err
		}
		if err := pem.Encode(&all, &pem.Block{Type: keyBlock, Bytes: der}); err != nil {
			return nil, err
		}
	}
	return all.Bytes(), nil
}

// Parse reads what New has made.
func Parse(data []byte) (*Authority, error) {
	block, rest := pem.Decode(data)
	if block == nil || block.Type != certificateBlock {
		return nil, errors.New("there is no certificate in the authority")
	}
	a := &Authority{}
	var err error
	if a.certificate, err = x509.ParseCertificate(block.Bytes); err != nil {
		return nil, fmt.Errorf("the certificate of the authority: %w", err)
	}
	if a.key, rest, err = nextKey(rest); err != nil {
		return nil, fmt.Errorf("the key of the authority: %w", err)
	}
	if a.leafKey, _, err = nextKey(rest); err != nil {
		return nil, fmt.Errorf("the key of the coordinators: %w", err)
	}
	if !a.key.PublicKey.Equal(a.certificate.PublicKey) {
		return nil, errors.New("the authority's key does not belong to its certificate")
	}
	return a, nil
}

func nextKey(data []byte) (*ecdsa.PrivateKey, []byte, error) {
	block, rest := pem.Decode(data)
	if block == nil || block.Type != keyBlock {
		return nil, nil, errors.New("it is missing")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, nil, err
	}
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, nil, fmt.Errorf("it is a %T", key)
	}
	return ec, rest, nil
}

// PEM is the certificate of the authority, which is no secret.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: a.certificate.Raw})
}

// Hash is what an invitation pins.
func (a *Authority) Hash() string { return hash(a.certificate) }

// Pin is the coordinators' key as curl --pinnedpubkey takes it.
func (a *Authority) Pin() (string, error) {
	der, err := x509.MarshalPKIXPublicKey(a.leafKey.Public())
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(der)
	return "sha256//" + base64.StdEncoding.EncodeToString(sum[:]), nil
}

func hash(certificate *x509.Certificate) string {
	sum := sha256.Sum256(certificate.Raw)
	return hex.EncodeToString(sum[:])
}

// newSerial is unique without anybody keeping count.
func newSerial() (*big.Int, error) {
	return rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
}
