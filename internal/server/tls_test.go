package server_test

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/auth/pki"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestAllCoordinatorsOfARedisShowTheSameKey(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	const coordinators = 3
	shown := map[string]bool{}
	var made c3po.Invited
	for range coordinators {
		h := startHosting(t, redis)
		made = h.invite(t, c3po.InviteInput{})
		conn, err := tls.Dial("tcp", strings.TrimPrefix(h.url, "https://"), h.trust)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(conn.ConnectionState().PeerCertificates[0].RawSubjectPublicKeyInfo)
		conn.Close()
		shown["sha256//"+base64.StdEncoding.EncodeToString(sum[:])+" "+made.Hash] = true
	}
	if len(shown) != 1 || !shown[made.Pin+" "+made.Hash] {
		t.Errorf("%d coordinators show %v, the invitation says %s", coordinators, shown, made.Pin)
	}
}

func TestACoordinatorOfAnotherAuthorityIsSentNothing(t *testing.T) {
	t.Parallel()
	mine, other := startHosting(t, redistest.Start(t)), startHosting(t, redistest.Start(t))
	_, err := client.New(client.Config{URL: other.url, TLS: mine.trust, Token: "c3po_agent_x_y"}).Health(t.Context())
	if !errors.Is(err, c3po.Forbidden) {
		t.Errorf("it is met with %v", err)
	}
	if unknown := new(x509.UnknownAuthorityError); !errors.As(err, unknown) {
		t.Errorf("the cause is %v", errors.Unwrap(err))
	}
}

func TestWithACertificateOfYoursHostsTrustWhatTheirSystemTrusts(t *testing.T) {
	t.Parallel()
	secret, err := pki.New()
	if err != nil {
		t.Fatal(err)
	}
	yours, err := pki.Parse(secret)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := yours.Leaf([]string{"nas.example", "127.0.0.1"}, nil).GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(shown.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	config := t.TempDir()
	cfg := server.Config{
		RedisURL: redistest.Start(t), Auth: auth.Tokens, Config: config, Names: []string{"nas.example"},
		TLSCert: filepath.Join(config, "cert.pem"), TLSKey: filepath.Join(config, "key.pem"),
	}
	for name, block := range map[string]*pem.Block{
		cfg.TLSCert: {Type: "CERTIFICATE", Bytes: shown.Certificate[0]},
		cfg.TLSKey:  {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := start(t, cfg)
	person, err := paths.ReadPerson(config)
	if err != nil {
		t.Fatal(err)
	}
	trusting, err := pki.Trust(yours.PEM())
	if err != nil {
		t.Fatal(err)
	}
	made, err := client.New(client.Config{URL: c.url, Token: person.Admin, TLS: trusting}).Invite(t.Context(), c3po.InviteInput{})
	if err != nil {
		t.Fatal(err)
	}
	if made.Hash != pki.System || made.Pin != "" || !strings.HasPrefix(made.Address, "nas.example:") || person.CA != "" {
		t.Errorf("it invites with %s, pin %q, to %s; stored is the authority %q", made.Hash, made.Pin, made.Address, person.CA)
	}
}

// listenOn starts a coordinator only to see whether it is refused.
func listenOn(t *testing.T, cfg server.Config) error {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), longEnough)
	defer stop()
	return server.Run(ctx, cfg, func(string) { stop() })
}

func TestListeningToOtherMachinesTurnsTLSOn(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	c := start(t, server.Config{RedisURL: redis, Listen: "0.0.0.0:0", Auth: auth.Tokens})
	if !strings.HasPrefix(c.url, "https://localhost:") {
		t.Fatalf("it is at %s", c.url)
	}
	authority, err := client.FetchAuthority(t.Context(), c.url)
	if err != nil {
		t.Fatal(err)
	}
	trust, err := pki.Trust(authority)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.New(client.Config{URL: c.url, TLS: trust}).Health(t.Context()); err != nil {
		t.Error(err)
	}
	answer, err := http.Get("http://" + strings.TrimPrefix(c.url, "https://") + "/api/health")
	if err == nil {
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			t.Error("it answers without TLS as well")
		}
	}
	for name, cfg := range map[string]server.Config{
		"without TLS":            {TLS: server.TLSOff, Auth: auth.Tokens},
		"without tokens":         {Auth: auth.None},
		"half a certificate":     {TLSCert: "cert.pem"},
		"no certificate":         {TLSCert: "/nowhere/cert.pem", TLSKey: "/nowhere/key.pem"},
		"a word that is none":    {TLS: "maybe"},
		"a name with a port":     {Names: []string{"nas:8420"}},
		"a certificate, no TLS":  {TLS: server.TLSOff, TLSCert: "cert.pem", TLSKey: "key.pem", Auth: auth.None},
		"a name that is no name": {Names: []string{"na s"}},
	} {
		cfg.Listen, cfg.RedisURL = "0.0.0.0:0", redis
		if err := listenOn(t, cfg); err == nil || c3po.AsError(err).Suggestion == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
