package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// Trust is how a client meets coordinators whose authority it knows: that one
// and no other, whatever the system trusts.
func Trust(authority []byte) (*tls.Config, error) {
	certificate, err := parseCertificate(authority)
	if err != nil {
		return nil, c3po.Because(err, c3po.InvalidRequest, "the stored certificate of the coordinator cannot be read").
			Suggest("Join again with a new invitation: `c3po invite` on the coordinator's host prints one.")
	}
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	return &tls.Config{RootCAs: roots, ServerName: ServerName, MinVersion: tls.VersionTLS12}, nil
}

// Expires is when an authority that was stored is good no longer.
func Expires(authority []byte) (time.Time, error) {
	certificate, err := parseCertificate(authority)
	if err != nil {
		return time.Time{}, err
	}
	return certificate.NotAfter, nil
}

// CheckHash refuses an authority that is not the one an invitation names.
func CheckHash(authority []byte, want string) error {
	certificate, err := parseCertificate(authority)
	if err == nil && hash(certificate) != want {
		err = errors.New("the hash is another")
	}
	if err != nil {
		return c3po.Because(err, c3po.Forbidden, "what answers at that address is not the coordinator that made this invitation; nothing was sent to it").
			Suggest("Check the address. If it is right, something in between poses as the coordinator.")
	}
	return nil
}

func parseCertificate(data []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != certificateBlock {
		return nil, errors.New("there is no certificate in it")
	}
	return x509.ParseCertificate(block.Bytes)
}
