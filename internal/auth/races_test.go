package auth_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// An interrupted store lets something happen right after it has read, and before
// its caller knows what.
type interrupted struct {
	auth.Store
	afterGrant, afterGrants func()
}

func (s *interrupted) Grant(ctx context.Context, kid string) (auth.Grant, bool, error) {
	g, ok, err := s.Store.Grant(ctx, kid)
	if s.afterGrant != nil {
		s.afterGrant()
	}
	return g, ok, err
}

func (s *interrupted) Grants(ctx context.Context) ([]auth.Grant, error) {
	all, err := s.Store.Grants(ctx)
	if s.afterGrants != nil {
		s.afterGrants()
	}
	return all, err
}

func TestARequestThatRacesARevokeIsRefused(t *testing.T) {
	t.Parallel()
	// Where the request is when its token is revoked and the keeper hears of it.
	for _, moment := range []string{"its grant was read from the store", "its grant was found in the cache"} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			_, store := newKeeper(t)
			var onClock atomic.Pointer[func()]
			reads := &interrupted{Store: store}
			k := auth.New(auth.Config{Store: reads, Now: func() time.Time {
				if f := onClock.Load(); f != nil {
					(*f)()
				}
				return time.Now()
			}})
			made, err := k.Mint(t.Context(), auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"main"}, Pattern: "*", LastUsed: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			if err := k.Poll(t.Context()); err != nil {
				t.Fatal(err)
			}
			revoked := false
			revoke := sync.OnceFunc(func() {
				ok, err := store.Revoke(t.Context(), made.KID)
				if err == nil {
					err = k.Poll(t.Context())
				}
				if !ok || err != nil {
					t.Error(ok, err)
				}
				revoked = true
			})
			if moment == "its grant was read from the store" {
				reads.afterGrant = revoke
			} else {
				if _, err := ask(k, bearing(made.Secret)); err != nil {
					t.Fatal(err)
				}
				// The clock is read once to judge the cache, then to judge the grant.
				looks := 0
				judging := func() {
					if looks++; looks == 2 {
						revoke()
					}
				}
				onClock.Store(&judging)
			}
			if _, err := ask(k, bearing(made.Secret)); !errors.Is(err, c3po.Unauthorized) {
				t.Errorf("it is answered %v", err)
			}
			if !revoked {
				t.Fatal("the token was not revoked meanwhile: the test proves nothing")
			}
			if _, err := ask(k, bearing(made.Secret)); !errors.Is(err, c3po.Unauthorized) {
				t.Errorf("the next one is answered %v", err)
			}
		})
	}
}

// Agents of a host may act as all of its agents.
func TestAHostThatJoinsWhileAnotherTakesItsNameGetsAnother(t *testing.T) {
	t.Parallel()
	_, store := newKeeper(t)
	reads := &interrupted{Store: store}
	slow, quick := auth.New(auth.Config{Store: reads}), auth.New(auth.Config{Store: store})
	join := func(k *auth.Keeper) string {
		secret, _, err := k.Invite(t.Context(), c3po.Caller{Role: c3po.RoleAdmin}, c3po.InviteInput{})
		if err != nil {
			t.Fatal(err)
		}
		joined, err := k.Join(t.Context(), "192.0.2.7", c3po.JoinInput{Secret: secret, Host: "laptop"})
		if err != nil {
			t.Fatal(err)
		}
		return joined.Host
	}
	first := ""
	// The slow one has found the name free when the quick one takes it.
	reads.afterGrants = sync.OnceFunc(func() { first = join(quick) })
	second := join(slow)
	if first != "laptop" || second != "laptop-2" {
		t.Errorf("the hosts are called %q and %q", first, second)
	}
	grants, err := store.Grants(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	live := 0
	for _, g := range grants {
		if g.Live(time.Now()) && g.Pattern == "laptop/*" {
			live++
		}
	}
	if live != 1 {
		t.Errorf("%d tokens are for laptop", live)
	}
}
