package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

// serving is a server that is all of what upgrade --check asks: a coordinator of
// one version, or one that refuses ours, and a page with one newest release.
func serving(t *testing.T, coordinator, newest string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/api/op/server_info", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if coordinator == "" {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(c3po.Errorf(c3po.InvalidRequest, "they do not understand each other").Suggest("Upgrade c3po on this host."))
			return
		}
		_ = json.NewEncoder(w).Encode(c3po.ServerInfo{Version: coordinator})
	})
	mux.HandleFunc("/releases/latest", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/releases/tag/"+newest, http.StatusFound)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestUpgradeCheckSaysWhetherThereIsSomethingToUpgrade(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, coordinator, newest string
		code                         int
		says                         []string
	}{
		{"v1.2.0", "v1.2.0", "v1.2.0", console.ExitOK, []string{"v1.2.0, the same", "v1.2.0, nothing newer"}},
		{"v1.2.0", "v1.1.9", "v1.2.0", console.ExitOK, []string{"v1.1.9; it and this program understand each other"}},
		{"v1.2.0", "v1.2.0", "v1.3.0", console.ExitRefused, []string{"v1.3.0, which is newer", "to upgrade:"}},
		{"v1.2.0", "", "v1.2.0", console.ExitRefused, []string{"they do not understand each other. Upgrade c3po on this host.", "to upgrade:"}},
		{"dev", "dev", "v1.2.0", console.ExitOK, []string{"v1.2.0; this program is not from a release"}},
	} {
		url := serving(t, c.coordinator, c.newest)
		home := t.TempDir()
		var out, wrong bytes.Buffer
		variables := map[string]string{"HOME": home, "C3PO_COORDINATOR_URL": url, "C3PO_RELEASES": url + "/releases"}
		code := Main(t.Context(), console.Process{Args: []string{"upgrade", "--check", "--as", "ann"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &wrong, Getenv: func(name string) string { return variables[name] }, Version: c.version})
		if code != c.code || wrong.Len() > 0 {
			t.Errorf("%+v: it ends with %d\n%s%s", c, code, out.String(), wrong.String())
		}
		for _, words := range c.says {
			if !strings.Contains(out.String(), words) {
				t.Errorf("%+v: it does not say %q:\n%s", c, words, out.String())
			}
		}
	}
}
