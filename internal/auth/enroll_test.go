package auth_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// keeperAt is a keeper whose clock differs from that of its store.
func keeperAt(t *testing.T, ahead time.Duration) *auth.Keeper {
	t.Helper()
	store, err := redisstore.Open(t.Context(), redisstore.Config{URL: redistest.Shared(t), Limits: c3po.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return auth.New(auth.Config{Store: store, Now: func() time.Time { return time.Now().Add(ahead) }})
}

func TestAnInvitationIsGoodForFifteenMinutes(t *testing.T) {
	t.Parallel()
	admin := c3po.Caller{Role: c3po.RoleAdmin}
	for made, want := range map[time.Duration]error{-14 * time.Minute: nil, -16 * time.Minute: c3po.Forbidden} {
		secret, _, err := keeperAt(t, made).Invite(t.Context(), admin, c3po.InviteInput{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = keeperAt(t, 0).Join(t.Context(), "192.0.2.7", c3po.JoinInput{Secret: secret, Host: "laptop"})
		if !errors.Is(err, want) {
			t.Errorf("made %v ago, an invitation is answered %v", -made, err)
		}
	}
}

// Who guesses must not learn whether an invitation exists.
func TestEveryRefusalOfAnInvitationIsTheSame(t *testing.T) {
	t.Parallel()
	k := keeperAt(t, 0)
	secret, _, err := k.Invite(t.Context(), c3po.Caller{Role: c3po.RoleAdmin}, c3po.InviteInput{})
	if err != nil {
		t.Fatal(err)
	}
	join := func(secret string) error {
		_, err := k.Join(t.Context(), "192.0.2.7", c3po.JoinInput{Secret: secret, Host: "laptop"})
		return err
	}
	id, _, _ := strings.Cut(secret, "-")
	want := join("")
	if err := join(secret); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"used":    join(secret),
		"wrong":   join(id + "-" + auth.RandomSecret().Reveal()),
		"unknown": join(auth.NewKID() + "-" + auth.RandomSecret().Reveal()),
		"no form": join("../" + secret),
	} {
		if !errors.Is(err, c3po.Forbidden) || *c3po.AsError(err) != *c3po.AsError(want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnInvitationForWhatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	k := keeperAt(t, 0)
	for name, in := range map[string]c3po.InviteInput{
		"a host with a slash":  {Host: "a/b"},
		"a host with a star":   {Host: "*"},
		"a reserved host":      {Host: "human"},
		"a space with a slash": {Spaces: []string{"a/b"}},
	} {
		if _, _, err := k.Invite(t.Context(), c3po.Caller{Role: c3po.RoleAdmin}, in); !errors.Is(err, c3po.InvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// grantless is a store that takes grants no more after so many.
type grantless struct {
	auth.Store
	left int
}

func (s *grantless) PutGrant(ctx context.Context, g auth.Grant) error {
	if s.left--; s.left < 0 {
		return c3po.Errorf(c3po.RedisUnavailable, "Redis cannot be reached")
	}
	return s.Store.PutGrant(ctx, g)
}

func TestWhatIsUsedUpIsNotSaidToBeUntouched(t *testing.T) {
	t.Parallel()
	_, store := newKeeper(t)
	grants := &grantless{Store: store, left: 1}
	k := auth.New(auth.Config{Store: grants})
	admin := c3po.Caller{Role: c3po.RoleAdmin}
	secret, _, err := k.Invite(t.Context(), admin, c3po.InviteInput{})
	if err != nil {
		t.Fatal(err)
	}
	old, err := k.Mint(t.Context(), auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"main"}, Pattern: "*"})
	if err != nil {
		t.Fatal(err)
	}
	in := c3po.JoinInput{Host: "laptop", Secret: secret}
	if _, err := k.Join(t.Context(), "", in); !errors.Is(err, c3po.UnknownOutcome) {
		t.Errorf("an invitation that is used up for nothing ends with %v", err)
	}
	grants.left = 1
	if _, err := k.RotateToken(t.Context(), admin, old.KID); !errors.Is(err, c3po.UnknownOutcome) {
		t.Errorf("a rotation that ends after the successor was stored ends with %v", err)
	}
}
