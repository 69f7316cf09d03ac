package auth_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

var admin = c3po.Caller{Role: c3po.RoleAdmin}

func joinAs(t *testing.T, k *auth.Keeper, host string) (c3po.Joined, error) {
	t.Helper()
	secret, _, err := k.Invite(t.Context(), admin, c3po.InviteInput{})
	if err != nil {
		t.Fatal(err)
	}
	return k.Join(t.Context(), "192.0.2.7", c3po.JoinInput{Secret: secret, Host: host})
}

func TestNoHostTakesTheNameOfTheContainers(t *testing.T) {
	t.Parallel()
	k := keeperAt(t, 0)
	for _, name := range []string{"docker", "Docker", "DOCKER"} {
		if joined, err := joinAs(t, k, name); !errors.Is(err, c3po.InvalidRequest) {
			t.Errorf("%s joins as %q, %v", name, joined.Host, err)
		}
		if _, _, err := k.Invite(t.Context(), admin, c3po.InviteInput{Host: name}); !errors.Is(err, c3po.InvalidRequest) {
			t.Errorf("%s is invited: %v", name, err)
		}
	}
}

// What its agents send would be "from human-2/api".
func TestNoHostHasANameThatReadsLikeThePersons(t *testing.T) {
	t.Parallel()
	k := keeperAt(t, 0)
	for _, name := range []string{"human", "human-2", "Human", "h.u.m.a.n", "your-person", "SYSTEM_1", "c3po", "role"} {
		if joined, err := joinAs(t, k, name); !errors.Is(err, c3po.InvalidRequest) {
			t.Errorf("%s joins as %q, %v", name, joined.Host, err)
		}
		if _, _, err := k.Invite(t.Context(), admin, c3po.InviteInput{Host: name}); !errors.Is(err, c3po.InvalidRequest) {
			t.Errorf("%s is invited: %v", name, err)
		}
	}
	for _, name := range []string{"admin-pc", "personal"} {
		if _, err := joinAs(t, k, name+auth.NewKID()); err != nil {
			t.Errorf("%s cannot join: %v", name, err)
		}
	}
}

func TestNoHostIsMistakenForAnotherThatDiffersInCase(t *testing.T) {
	t.Parallel()
	k := keeperAt(t, 0)
	name := "Lap" + auth.NewKID()
	if joined, err := joinAs(t, k, name); err != nil || joined.Host != name {
		t.Fatalf("it joins as %q, %v", joined.Host, err)
	}
	lower := "lap" + name[3:]
	if joined, err := joinAs(t, k, lower); err != nil || joined.Host != lower+"-2" {
		t.Errorf("%s joins beside %s as %q, %v", lower, name, joined.Host, err)
	}
	in := c3po.TokenInput{Role: c3po.RoleAgent, Spaces: []string{"main"}, Agents: "LAP" + name[3:] + "/*"}
	if _, err := k.CreateToken(t.Context(), admin, in); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("a token for %s is made beside %s: %v", in.Agents, name, err)
	}
	in.Agents = name + "/ci"
	if _, err := k.CreateToken(t.Context(), admin, in); err != nil {
		t.Errorf("a token for an agent of the host itself is refused: %v", err)
	}
}

func TestATokenForATimeHasNoSuccessorThatLivesLonger(t *testing.T) {
	t.Parallel()
	k := keeperAt(t, 0)
	end := time.Now().Add(12 * time.Hour).UTC()
	made, err := k.Mint(t.Context(), auth.Grant{Role: c3po.RoleAdmin, Spaces: []string{"main"}, Expires: end, Fixed: true})
	if err != nil {
		t.Fatal(err)
	}
	kid := made.KID
	for i := range 4 {
		if i == 3 {
			kid = made.KID // once more, which has a successor by now
		}
		next, err := k.RotateToken(t.Context(), admin, kid)
		if err != nil {
			t.Fatal(err)
		}
		if next.Expires.After(end.Add(time.Millisecond)) {
			t.Errorf("its successor lives until %v, it until %v", next.Expires, end)
		}
		kid = next.KID
	}
	lasting, err := k.Mint(t.Context(), auth.Grant{Role: c3po.RoleAdmin, Spaces: []string{"main"}})
	if err != nil {
		t.Fatal(err)
	}
	// An answer may be lost, and then it is rotated again.
	for range 2 {
		next, err := k.RotateToken(t.Context(), admin, lasting.KID)
		if err != nil || time.Until(next.Expires) < 300*24*time.Hour {
			t.Errorf("the successor of one that lasts ends at %v, %v", next.Expires, err)
		}
	}
}

func TestABrowserThatWasLetInLetsInNoOther(t *testing.T) {
	t.Parallel()
	k := keeperAt(t, 0)
	link, err := k.LoginLink(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	login, err := k.Login(context.Background(), "192.0.2.7", c3po.LoginInput{Code: link.Code})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/api/login/link", nil)
	r.Header.Set("Authorization", "Bearer "+login.Token)
	caller, ctx, release, err := k.Caller(r, "rest")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := k.LoginLink(ctx, caller); !errors.Is(err, c3po.Forbidden) {
		t.Errorf("it makes another link: %v", err)
	}
}
