package dashboard_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/c3po-dev/c3po/internal/person/dashboard"
	"github.com/c3po-dev/c3po/web"
)

func get(t *testing.T, page http.Handler, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	page.ServeHTTP(w, r)
	return w.Result()
}

func TestThePageMayRunItsOwnFilesAndNothingElse(t *testing.T) {
	t.Parallel()
	page := dashboard.New(fstest.MapFS{
		"index.html": {Data: []byte("<p>page")}, "assets/a-1.js": {Data: []byte(strings.Repeat("x", 1000))},
	})
	for path, kind := range map[string]string{"/": "text/html", "/assets/a-1.js": "text/javascript"} {
		got := get(t, page, path)
		if got.StatusCode != http.StatusOK || !strings.HasPrefix(got.Header.Get("Content-Type"), kind) {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.Header.Get("Content-Type"))
		}
		policy := got.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "connect-src 'self';", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q does not say %s", path, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("%s: the policy %q allows more than the page's own files", path, policy)
		}
	}
}

func TestAFileIsKeptByBrowsersAndThePageIsAskedForEachTime(t *testing.T) {
	t.Parallel()
	page := dashboard.New(fstest.MapFS{
		"index.html": {Data: []byte("<p>page")}, "assets/a-1.js": {Data: []byte(strings.Repeat("x", 1000))},
	})
	if got := get(t, page, "/").Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("the page: %q", got)
	}
	packed := get(t, page, "/assets/a-1.js", "Accept-Encoding", "gzip")
	if got := packed.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("a file: %q", got)
	}
	r, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(r); err != nil || len(text) != 1000 {
		t.Errorf("unpacked: %d bytes, %v", len(text), err)
	}
}

func TestWhatIsNotAFileOfThePageIsNotThere(t *testing.T) {
	t.Parallel()
	page := dashboard.New(fstest.MapFS{"index.html": {Data: []byte("<p>page")}})
	for _, path := range []string{"/assets/", "/assets/..%2findex.html", "/assets/none.js", "/other"} {
		if got := get(t, page, path); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
}

func TestThereIsAlwaysAPage(t *testing.T) {
	t.Parallel()
	got := get(t, dashboard.New(web.Files()), "/")
	text, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != http.StatusOK || !strings.Contains(string(text), "<title>c3po") {
		t.Errorf("%d, %v:\n%s", got.StatusCode, err, text)
	}
}
