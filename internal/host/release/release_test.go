package release_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/release"
)

func page(t *testing.T, status int, location string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/releases/latest" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Location", location)
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/releases"
}

func TestTheNewestReleaseIsWhereThePageSendsWhoAsksForIt(t *testing.T) {
	t.Parallel()
	for _, location := range []string{"/c3po-dev/c3po/releases/tag/v1.4.0", "https://github.com/c3po-dev/c3po/releases/tag/v1.4.0"} {
		for _, slash := range []string{"", "/"} {
			if got, err := release.Newest(t.Context(), page(t, http.StatusFound, location)+slash); err != nil || got != "v1.4.0" {
				t.Errorf("%s is %q, %v", location, got, err)
			}
		}
	}
}

func TestAPageThatIsNotThereOrSaysSomethingElseIsNotBelieved(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, at := range []string{
		gone.URL, page(t, http.StatusOK, "/tag/v1.4.0"), page(t, http.StatusNotFound, ""), page(t, http.StatusFound, "/releases"),
		page(t, http.StatusFound, "/tag/v1.4.0\x1b[31m"), page(t, http.StatusFound, "/tag/nightly"),
	} {
		if got, err := release.Newest(t.Context(), at); !errors.Is(err, c3po.CoordDown) || got != "" {
			t.Errorf("%s is believed: %q, %v", at, got, err)
		}
	}
	for _, wrong := range []string{"", "releases", "://"} {
		if _, err := release.Newest(t.Context(), wrong); !errors.Is(err, c3po.InvalidRequest) {
			t.Errorf("%q is met with %v", wrong, err)
		}
	}
}

func TestVersionsComeInTheirOrder(t *testing.T) {
	t.Parallel()
	order := []string{"v0.9.9", "1.0.0-rc.1", "v1.0.0", "v1.0.1", "v1.2.0", "1.10.0", "v2.0.0-beta", "v2.0.0"}
	for i, a := range order {
		for j, b := range order {
			if got := release.Newer(a, b); got != (i > j) {
				t.Errorf("%s comes after %s: %v", a, b, got)
			}
		}
	}
	if release.Newer("v1.0.0", "v1.0.0-3-g0a1b2c3") || release.Newer("v1.0.0-3-g0a1b2c3-dirty", "v1.0.0") || !release.Newer("v1.0.1", "v1.0.0-3-g0a1b2c3") {
		t.Error("a build after a release is taken for one before it")
	}
	for _, none := range []string{"dev", "", "0a1b2c3d", "v1.2"} {
		if release.Known(none) || release.Newer("v1.0.0", none) || release.Newer(none, "v1.0.0") {
			t.Errorf("%q is taken for a release", none)
		}
	}
}

func TestAProgramIsUpgradedTheWayItCame(t *testing.T) {
	t.Parallel()
	const latest = release.Page + "/latest/download/"
	for _, c := range []struct {
		program, system, architecture string
		files                         []string
		want                          release.Origin
	}{
		{"/usr/bin/c3po", "linux", "arm64", []string{"/var/lib/dpkg/info/c3po.list"}, release.Origin{Kind: "deb", Commands: []string{"curl -fsSLO " + latest + "c3po-linux-arm64.deb", "sudo apt install ./c3po-linux-arm64.deb"}}},
		{"/usr/bin/c3po", "linux", "amd64", []string{"/var/lib/rpm"}, release.Origin{Kind: "rpm", Commands: []string{"sudo dnf install " + latest + "c3po-linux-amd64.rpm"}}},
		{"/opt/homebrew/Caskroom/c3po/1.0.0/c3po", "darwin", "arm64", nil, release.Origin{Kind: "brew", Commands: []string{"brew update", "brew upgrade c3po"}}},
		{"/home/ann/.local/bin/c3po", "linux", "amd64", nil, release.Origin{Kind: "script", Commands: []string{"curl -fsSL " + latest + "install.sh | sh"}}},
		{"", "linux", "amd64", nil, release.Origin{Kind: "script", Commands: []string{"curl -fsSL " + latest + "install.sh | sh"}}},
		{"/usr/local/bin/c3po", "linux", "amd64", []string{"/var/lib/dpkg/info/c3po.list"}, release.Origin{Kind: "script", Commands: []string{"curl -fsSL " + latest + "install.sh | sudo sh"}}},
		{"/home/ann/it's here/c3po", "linux", "amd64", nil, release.Origin{Kind: "script", Commands: []string{"curl -fsSL " + latest + `install.sh | C3PO_BIN='/home/ann/it'\''s here' sh`}}},
	} {
		got := release.OriginOf(c.program, c.system, c.architecture, "/home/ann", func(name string) bool { return slices.Contains(c.files, name) })
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.program, diff)
		}
	}
	if got := release.OriginOf(`C:\c3po.exe`, "windows", "amd64", "", func(string) bool { return false }); got.Kind != "archive" || !strings.Contains(got.Commands[0], "c3po-windows-amd64.zip") {
		t.Errorf("on Windows it is %+v", got)
	}
}
