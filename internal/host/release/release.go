// Package release knows which release is the newest, and how a host gets it.
package release

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// Page is where the releases of the project are.
const Page = "https://github.com/c3po-dev/c3po/releases"

// patience is how long a person waits who has asked for the newest release.
const patience = 10 * time.Second

// Newest asks a page of releases for the version of the newest. The page answers
// /latest with where that is, so that nothing has to be fetched or understood.
func Newest(ctx context.Context, page string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, strings.TrimSuffix(page, "/")+"/latest", nil)
	if err != nil || request.URL.Host == "" {
		return "", c3po.Errorf(c3po.InvalidRequest, "%q is not the address of a page of releases", page).Suggest("Leave it out, or give one like %s.", Page)
	}
	page = request.URL.Redacted()
	asker := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := asker.Do(request)
	if err != nil {
		return "", unreached(page, "cannot be reached")
	}
	defer answer.Body.Close()
	where, err := url.Parse(answer.Header.Get("Location"))
	if err != nil || answer.StatusCode < 300 || answer.StatusCode > 399 {
		return "", unreached(page, "does not say which release is the newest")
	}
	version := path.Base(where.Path)
	if _, ok := parse(version); !ok {
		return "", unreached(page, "does not say which release is the newest")
	}
	return version, nil
}

func unreached(page, why string) *c3po.Error {
	return c3po.Errorf(c3po.CoordDown, "%s %s", page, why).
		Suggest("Ask again when this host reaches it, or give another page with --releases.")
}

// A version is three numbers, and whether it is one before the release of them.
type version struct {
	numbers [3]int
	before  bool
}

var (
	written = regexp.MustCompile(`^v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})([-+][0-9A-Za-z.+-]{1,64})?$`)
	// described is what git adds to the name of the release that a build comes after.
	described = regexp.MustCompile(`(-\d+-g[0-9a-f]+)?(-dirty)?$`)
)

func parse(text string) (version, bool) {
	parts := written.FindStringSubmatch(described.ReplaceAllString(text, ""))
	if parts == nil {
		return version{}, false
	}
	v := version{before: strings.HasPrefix(parts[4], "-")}
	for i := range v.numbers {
		v.numbers[i], _ = strconv.Atoi(parts[i+1]) // at most six digits
	}
	return v, true
}

// Known says whether a version is that of a release, or of a build after one.
func Known(version string) bool {
	_, ok := parse(version)
	return ok
}

// Newer says whether version a comes after b. Builds that are no release come
// neither before nor after anything.
func Newer(a, b string) bool {
	x, known := parse(a)
	y, alsoKnown := parse(b)
	if !known || !alsoKnown {
		return false
	}
	for i := range x.numbers {
		if x.numbers[i] != y.numbers[i] {
			return x.numbers[i] > y.numbers[i]
		}
	}
	return y.before && !x.before
}
