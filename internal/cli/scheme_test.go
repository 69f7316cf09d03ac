package cli

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/cli/console"
)

func TestAnAddressWithTheWrongSchemeIsAnsweredWithTheRightOne(t *testing.T) {
	t.Parallel()
	none := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	plain, encrypted := httptest.NewServer(none), httptest.NewUnstartedServer(none)
	encrypted.Config.ErrorLog = log.New(io.Discard, "", 0)
	encrypted.StartTLS()
	t.Cleanup(plain.Close)
	t.Cleanup(encrypted.Close)
	for url, want := range map[string]string{
		strings.Replace(plain.URL, "http:", "https:", 1):     "with http://",
		strings.Replace(encrypted.URL, "https:", "http:", 1): "with https://",
	} {
		var said bytes.Buffer
		home := t.TempDir()
		code := Main(t.Context(), console.Process{Args: []string{"status", "--url", url}, Stdout: &said, Stderr: &said, Getenv: func(name string) string {
			return map[string]string{"HOME": home}[name]
		}})
		if code == console.ExitOK || !strings.Contains(said.String(), "hint: Write the address "+want) {
			t.Errorf("%s ends with %d and says %s", url, code, &said)
		}
	}
}
