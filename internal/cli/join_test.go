package cli

import (
	"bytes"
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/c3po-dev/c3po/internal/auth/pki"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

// The authority of a coordinator is no secret: whoever sits in between can show
// it, and has no certificate of it.
func TestAnImpostorIsNotShownTheInvitation(t *testing.T) {
	t.Parallel()
	authority := func() *pki.Authority {
		t.Helper()
		secret, err := pki.New()
		if err != nil {
			t.Fatal(err)
		}
		made, err := pki.Parse(secret)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	invited, impostors := authority(), authority()
	const secret = "abcdefghij23-0123456789012345678901234567890123456789012"
	for name, shown := range map[string]*pki.Authority{"with the real authority": invited, "with its own authority": impostors} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var seen bytes.Buffer
			asked := false
			impostor := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if r.URL.Path == "/api/ca" {
					asked = true
					_, _ = w.Write(shown.PEM())
				}
				_ = r.Write(&seen)
			}))
			impostor.TLS = &tls.Config{GetCertificate: impostors.Leaf([]string{"127.0.0.1"}, nil).GetCertificate}
			impostor.Config.ErrorLog = log.New(io.Discard, "", 0)
			impostor.StartTLS()
			defer impostor.Close()

			invitation := pki.Invitation{Address: impostor.Listener.Addr().String(), Hash: invited.Hash(), Secret: secret}
			home := t.TempDir()
			var said bytes.Buffer
			code := Main(t.Context(), console.Process{
				Args: []string{"join", invitation.String(), "--host", "laptop", "--no-install"}, Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said,
				Getenv: func(name string) string {
					if name == "HOME" {
						return home
					}
					return ""
				},
			})
			mu.Lock()
			defer mu.Unlock()
			if !asked {
				t.Fatalf("it was not asked for its authority, so this proves nothing: %s", &said)
			}
			if strings.Contains(seen.String(), secret) {
				t.Errorf("it was sent\n%s", &seen)
			}
			if code == console.ExitOK || strings.Contains(said.String(), secret) {
				t.Errorf("the command ends with %d and says %s", code, &said)
			}
			if _, err := os.Stat(filepath.Join(home, ".config", "c3po", "credentials.json")); err == nil {
				t.Error("there are credentials")
			}
		})
	}
}
