package auth_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

func TestTheUseOfATokenIsRecordedOnceAnHour(t *testing.T) {
	t.Parallel()
	r := newRig(t, auth.Config{})
	store := &stubborn{Store: r.store}
	r.cfg.Store = store
	r.Keeper = r.another()
	token := r.mint(auth.Grant{Role: c3po.RoleAgent, Pattern: "*", Expires: time.Now().Add(time.Hour)})
	use := func(want int64) {
		t.Helper()
		for range 3 {
			if _, err := ask(r.Keeper, bearing(token)); err != nil {
				t.Fatal(err)
			}
		}
		if got := store.touched.Load(); got != want {
			t.Errorf("its use was recorded %d times, want %d", got, want)
		}
	}
	use(1)
	grant, _, err := r.store.Grant(t.Context(), kidOf(token))
	if err != nil || time.Since(grant.LastUsed) > time.Minute || time.Until(grant.Expires) < 364*24*time.Hour {
		t.Errorf("after its use it was last used at %v and lives until %v, %v", grant.LastUsed, grant.Expires, err)
	}
	r.advance(59 * time.Minute)
	use(1)
	store.fail.Store(true) // a full store must stay readable
	r.advance(2 * time.Minute)
	use(2)
}

// What a request holds ends with it, whatever it is refused for.
func TestARefusedRequestLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t, auth.Config{CallsPerSecond: 1})
	now := time.Now()
	r.cfg.Now = func() time.Time { return now } // what was read once stays known
	r.Keeper = r.another()
	agent := r.mint(auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*"})
	person := r.mint(auth.Grant{Role: c3po.RoleHuman})
	_, err := ask(r.Keeper, bearing(agent))
	for range 5 { // held back, and hung up meanwhile
		if err != nil {
			break
		}
		gone, hangUp := context.WithCancel(t.Context())
		hangUp()
		_, err = ask(r.Keeper, bearing(agent).WithContext(gone))
	}
	if !errors.Is(err, context.Canceled) || r.Visits() != 0 {
		t.Errorf("a request that is held back and hung up ends with %v, and %d are open", err, r.Visits())
	}
	if err := r.store.NoteRun(t.Context(), "box:7:99"); err != nil {
		t.Fatal(err)
	}
	for name, q := range map[string]*http.Request{
		"for another host's agent":       bearing(agent, "X-Agent-ID", "nas/api"),
		"for another space":              bearing(agent, "X-C3PO-Space", "team"),
		"below an agent":                 bearing(person, "X-C3PO-Ancestors", "box:7:99"),
		"with a wrong secret":            bearing(agent[:len(agent)-43] + auth.RandomSecret().Reveal()),
		"away from the machine it is on": bearing(r.mint(auth.Grant{Role: c3po.RoleHuman, Local: true})),
	} {
		if _, err := ask(r.Keeper, q); err == nil {
			t.Errorf("a request refused %s is let in", name)
		}
		if n := r.Visits(); n != 0 {
			t.Fatalf("after a request refused %s %d are open", name, n)
		}
	}
	_, open, release, err := r.Caller(bearing(person), "rest")
	if err != nil || r.Visits() != 1 {
		t.Fatalf("while a request is served %d are open: %v", r.Visits(), err)
	}
	release()
	if r.Visits() != 0 || open.Err() == nil {
		t.Errorf("after it %d are open, and its context ends with %v", r.Visits(), open.Err())
	}
}

// A grantBook is a store that knows grants alone, so that tests of time need no Redis.
type grantBook struct {
	auth.Store
	mu     sync.Mutex
	grants map[string]auth.Grant
}

func (b *grantBook) PutGrant(_ context.Context, g auth.Grant) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.grants[g.KID] = g
	return nil
}

func (b *grantBook) Grant(_ context.Context, kid string) (auth.Grant, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g, ok := b.grants[kid]
	return g, ok, nil
}

func (b *grantBook) TouchGrant(context.Context, string, time.Duration) error { return nil }

func TestARequestLastsAsLongAsItsTokenIsProlongedElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		book := &grantBook{grants: map[string]auth.Grant{}}
		k := auth.New(auth.Config{Store: book})
		began := time.Now()
		token := mint(t, k, auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"main"}, Pattern: "*", Expires: began.Add(time.Hour)})
		_, open, release, err := k.Caller(bearing(token), "rest")
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		for _, hours := range []int{2, 5} {
			g := book.grants[kidOf(token)]
			g.Expires = began.Add(time.Duration(hours) * time.Hour)
			_ = book.PutGrant(t.Context(), g)
			<-time.After(time.Until(g.Expires) - time.Second)
			synctest.Wait()
			if open.Err() != nil {
				t.Fatalf("with a token for %d hours a request ends after %v: %v", hours, time.Since(began), context.Cause(open))
			}
		}
		<-open.Done()
		if cause := context.Cause(open); !errors.Is(cause, c3po.Unauthorized) || time.Since(began) != 5*time.Hour {
			t.Errorf("it ends after %v with %v", time.Since(began), cause)
		}
	})
}
