package session_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestAPhoneHearsOfEachDialog(t *testing.T) {
	t.Parallel()
	notices := make(chan string, 100)
	ntfy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		notices <- string(body)
	}))
	t.Cleanup(ntfy.Close)
	c := faultrig.StartWith(t, redistest.New(t).URL(), "notify:\n  ntfy: "+ntfy.URL+"/topic\n  bodies: true\n  allow: [127.0.0.1]\n")
	r := approving(t, c.URL())
	for i := range 5 {
		file := fmt.Sprint("x", i)
		d := r.opens(file)
		for came := false; !came; {
			select {
			case notice := <-notices:
				came = strings.Contains(notice, "$ touch "+file)
			case <-time.After(deadline):
				t.Fatal("no notice came")
			}
		}
		if err := r.allow(r.asked(file)); err != nil {
			t.Fatal(err)
		}
		if said := d.says(t); said != granted {
			t.Errorf("the hook says %s", said)
		}
	}
}
