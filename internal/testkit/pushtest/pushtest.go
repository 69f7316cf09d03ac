// Package pushtest is a push service on loopback, and a browser that reads what it
// carries. No real push service can be had for a test.
package pushtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

// A Service takes notices for one browser.
type Service struct {
	*httptest.Server
	private *ecdh.PrivateKey
	secret  []byte

	mu      sync.Mutex
	status  int
	heads   []http.Header
	sealed  [][]byte
	notices []string
}

// Start serves until the test is over.
func Start(t testing.TB) *Service {
	t.Helper()
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &Service{private: private, secret: make([]byte, 16), status: http.StatusCreated}
	_, _ = rand.Read(s.secret)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text, err := s.open(body)
		if err != nil {
			t.Errorf("a notice cannot be read: %v", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.heads, s.sealed, s.notices = append(s.heads, r.Header), append(s.sealed, body), append(s.notices, text)
		w.WriteHeader(s.status)
	}))
	t.Cleanup(s.Close)
	return s
}

// Subscription is what the browser would send to the coordinator.
func (s *Service) Subscription() c3po.PushInput {
	encode := base64.RawURLEncoding.EncodeToString
	return c3po.PushInput{Endpoint: s.URL + "/push/1", P256DH: encode(s.private.PublicKey().Bytes()), Auth: encode(s.secret)}
}

// Answer sets the status it answers with.
func (s *Service) Answer(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

// Notices are what came, as the browser reads it.
func (s *Service) Notices() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.notices...)
}

// Last is the newest notice as the service sees it.
func (s *Service) Last() (http.Header, []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heads[len(s.heads)-1], s.sealed[len(s.sealed)-1]
}

// open reads a sealed notice as RFC 8291 has it, written apart from what sealed it.
func (s *Service) open(sealed []byte) (string, error) {
	if len(sealed) < 86 || sealed[20] != 65 {
		return "", errors.New("it has no header")
	}
	salt, public, box := sealed[:16], sealed[21:86], sealed[86:]
	sender, err := ecdh.P256().NewPublicKey(public)
	if err != nil {
		return "", err
	}
	shared, err := s.private.ECDH(sender)
	if err != nil {
		return "", err
	}
	first, err := hkdf.Extract(sha256.New, shared, s.secret)
	if err != nil {
		return "", err
	}
	main, err := hkdf.Expand(sha256.New, first, "WebPush: info\x00"+string(s.private.PublicKey().Bytes())+string(public), 32)
	if err != nil {
		return "", err
	}
	second, err := hkdf.Extract(sha256.New, main, salt)
	if err != nil {
		return "", err
	}
	key, _ := hkdf.Expand(sha256.New, second, "Content-Encoding: aes128gcm\x00", 16)
	nonce, _ := hkdf.Expand(sha256.New, second, "Content-Encoding: nonce\x00", 12)
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return "", err
	}
	record, err := gcm.Open(nil, nonce, box, nil)
	if err != nil {
		return "", err
	}
	text, last := strings.CutSuffix(strings.TrimRight(string(record), "\x00"), "\x02")
	if !last {
		return "", errors.New("it has no end")
	}
	return text, nil
}

// Proof checks who a notice says it is from, and gives the claims.
func Proof(authorization string) (claims, key string, err error) {
	token, key, found := strings.Cut(strings.TrimPrefix(authorization, "vapid t="), ", k=")
	parts := strings.Split(token, ".")
	if !found || len(parts) != 3 {
		return "", "", errors.New("it is no proof")
	}
	public, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil {
		return "", "", err
	}
	known, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), public)
	if err != nil {
		return "", "", err
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		return "", "", errors.New("its signature is not of 64 bytes")
	}
	hash := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(known, hash[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return "", "", errors.New("its signature is wrong")
	}
	said, err := base64.RawURLEncoding.DecodeString(parts[1])
	return string(said), key, err
}
