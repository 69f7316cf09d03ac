package auth_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

func TestALinkLetsOneBrowserInForAMinute(t *testing.T) {
	t.Parallel()
	person := c3po.Caller{Role: c3po.RoleHuman, Space: "main"}
	for made, want := range map[time.Duration]error{-50 * time.Second: nil, -70 * time.Second: c3po.Forbidden} {
		link, err := keeperAt(t, made).LoginLink(t.Context(), person)
		if err != nil {
			t.Fatal(err)
		}
		k := keeperAt(t, 0)
		login, err := k.Login(t.Context(), "192.0.2.7", c3po.LoginInput{Code: link.Code})
		if !errors.Is(err, want) {
			t.Errorf("made %v ago, a link is answered %v", -made, err)
		}
		if err != nil {
			continue
		}
		if login.Role != c3po.RoleHuman || len(login.Spaces) != 1 || login.Spaces[0] != "main" || time.Until(login.Expires) > 12*time.Hour {
			t.Errorf("the browser is %+v", login)
		}
		if works, err := k.Works(t.Context(), login.Token); err != nil || !works {
			t.Errorf("its token works: %v, %v", works, err)
		}
	}
}

func TestOfManyBrowsersWithOneLinkOneIsLetIn(t *testing.T) {
	t.Parallel()
	k := keeperAt(t, 0)
	link, err := k.LoginLink(t.Context(), c3po.Caller{Role: c3po.RoleHuman, Space: "main"})
	if err != nil {
		t.Fatal(err)
	}
	var in atomic.Int64
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if _, err := k.Login(t.Context(), "192.0.2.7", c3po.LoginInput{Code: link.Code}); err == nil {
				in.Add(1)
			} else if !errors.Is(err, c3po.Forbidden) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if in.Load() != 1 {
		t.Errorf("%d were let in", in.Load())
	}
}

// Who guesses must not learn whether a link exists, and an invitation of a host
// is no link.
func TestEveryRefusalOfALinkIsTheSame(t *testing.T) {
	t.Parallel()
	k := keeperAt(t, 0)
	link, err := k.LoginLink(t.Context(), c3po.Caller{Role: c3po.RoleHuman, Space: "main"})
	if err != nil {
		t.Fatal(err)
	}
	invitation, _, err := k.Invite(t.Context(), c3po.Caller{Role: c3po.RoleAdmin}, c3po.InviteInput{})
	if err != nil {
		t.Fatal(err)
	}
	id, _, _ := strings.Cut(link.Code, "-")
	want := ""
	for _, code := range []string{"x", id + "-" + auth.RandomSecret().Reveal(), auth.NewKID() + "-" + auth.RandomSecret().Reveal(), invitation} {
		_, err := k.Login(t.Context(), "192.0.2.7", c3po.LoginInput{Code: code})
		if !errors.Is(err, c3po.Forbidden) {
			t.Fatalf("%q: %v", code, err)
		}
		if want == "" {
			want = err.Error()
		}
		if err.Error() != want {
			t.Errorf("%q is answered %q, another %q", code, err, want)
		}
	}
	if _, err := k.Login(t.Context(), "192.0.2.7", c3po.LoginInput{Code: link.Code}); err != nil {
		t.Errorf("the right code after wrong ones: %v", err)
	}
}

func TestOnlyPeopleLetBrowsersIn(t *testing.T) {
	t.Parallel()
	k := keeperAt(t, 0)
	for _, role := range c3po.Roles() {
		_, err := k.LoginLink(t.Context(), c3po.Caller{Role: role, Space: "main"})
		if want := role == c3po.RoleHuman || role == c3po.RoleAdmin; want != (err == nil) {
			t.Errorf("%s: %v", role, err)
		}
	}
}

// Nobody ends the token of a browser that was closed.
func TestABrowserIsLetInForADayHoweverMuchItIsUsed(t *testing.T) {
	t.Parallel()
	k := keeperAt(t, 0)
	link, err := k.LoginLink(t.Context(), c3po.Caller{Role: c3po.RoleHuman, Space: "main"})
	if err != nil {
		t.Fatal(err)
	}
	login, err := k.Login(t.Context(), "192.0.2.7", c3po.LoginInput{Code: link.Code})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		after time.Duration
		want  error
	}{{0, nil}, {11 * time.Hour, nil}, {13 * time.Hour, c3po.Unauthorized}} {
		// Each a coordinator that has not seen it before, so that each use is noted.
		if _, err := ask(keeperAt(t, test.after), bearing(login.Token)); !errors.Is(err, test.want) {
			t.Errorf("after %v its request is answered %v", test.after, err)
		}
	}
}
