package auth_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// newKeeper is a Keeper over a Redis of its own.
func newKeeper(t *testing.T) (*auth.Keeper, *redisstore.Store) {
	t.Helper()
	store, err := redisstore.Open(t.Context(), redisstore.Config{URL: redistest.Start(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return auth.New(auth.Config{Store: store}), store
}

func mint(t *testing.T, k *auth.Keeper, g auth.Grant) string {
	t.Helper()
	made, err := k.Mint(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	return made.Secret
}

// bearing is a request with a token, and further headers.
func bearing(token string, headers ...string) *http.Request {
	r := request(append(headers, "Authorization", "Bearer "+token)...)
	return r
}

func ask(k *auth.Keeper, r *http.Request) (c3po.Caller, error) {
	caller, _, release, err := k.Caller(r, "rest")
	release()
	return caller, err
}

func TestAHostsTokenActsAsAgentsOfThatHost(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper(t)
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	token := mint(t, k, auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"team"}, Pattern: "box/*", Expires: end, Fixed: true})
	known, err := auth.ParseToken(token)
	if err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string]c3po.AgentID{"": "", "api": "box/api", "box/api": "box/api"} {
		got, err := ask(k, bearing(token, "X-Agent-ID", asked))
		caller := c3po.Caller{Space: "team", ID: want, Route: "rest", Role: c3po.RoleAgent, Agents: "box/*", KID: known.KID, Account: known.KID, Expires: end}
		if diff := cmp.Diff(caller, got); err != nil || diff != "" {
			t.Errorf("as %q: %v\n%s", asked, err, diff)
		}
	}
	for _, asked := range []string{"other/api", "boxx/api"} {
		if got, err := ask(k, bearing(token, "X-Agent-ID", asked)); !errors.Is(err, c3po.Forbidden) || !cmp.Equal(got, c3po.Caller{}) {
			t.Errorf("as %q: %+v, %v", asked, got, err)
		}
	}
	if got, err := ask(k, bearing(token, "X-Agent-ID", "human")); err == nil && got.ID != "human" {
		t.Errorf("a reserved name became %q", got.ID)
	}
}

func TestATokenIsForItsSpacesAndNoOther(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper(t)
	one := mint(t, k, auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"team", "repo-*"}, Pattern: "*"})
	many := mint(t, k, auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"repo-*"}, Pattern: "*"})
	for _, test := range []struct {
		token, asked string
		want         c3po.Space
		err          error
	}{
		{one, "", "team", nil},
		{one, "team", "team", nil},
		{one, "repo-1", "repo-1", nil},
		{one, "main", "", c3po.Forbidden},
		{one, "teams", "", c3po.Forbidden},
		{many, "repo-1", "repo-1", nil},
		{many, "", "", c3po.InvalidRequest},
		{many, "team", "", c3po.Forbidden},
	} {
		var headers []string
		if test.asked != "" {
			headers = []string{"X-C3PO-Space", test.asked}
		}
		got, err := ask(k, bearing(test.token, headers...))
		if got.Space != test.want || !errors.Is(err, test.err) {
			t.Errorf("space %q: %q, %v, want %q, %v", test.asked, got.Space, err, test.want, test.err)
		}
	}
}

func TestWhatARoleMayActAs(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper(t)
	for _, test := range []struct {
		role        c3po.Role
		asked, want c3po.AgentID
		err         error
	}{
		{c3po.RoleObserver, "", "", nil},
		{c3po.RoleObserver, "api", "", nil},
		{c3po.RoleHuman, "", "human", nil},
		{c3po.RoleHuman, "human", "human", nil},
		{c3po.RoleHuman, "api", "", c3po.Forbidden},
		{c3po.RoleAdmin, "", "", nil},
		{c3po.RoleAdmin, "box/api", "box/api", nil},
	} {
		token := mint(t, k, auth.Grant{Role: test.role, Spaces: []string{"main"}})
		var headers []string
		if test.asked != "" {
			headers = []string{"X-Agent-ID", string(test.asked)}
		}
		if got, err := ask(k, bearing(token, headers...)); got.ID != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s as %q: %q, %v, want %q, %v", test.role, test.asked, got.ID, err, test.want, test.err)
		}
	}
}

func TestWhoHasNoGoodTokenIsRefusedWithTheLineThatHelps(t *testing.T) {
	t.Parallel()
	k, store := newKeeper(t)
	good := mint(t, k, auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"main"}, Pattern: "*"})
	old := mint(t, k, auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"main"}, Pattern: "*", Expires: time.Now().Add(-time.Second)})
	gone := mint(t, k, auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"main"}, Pattern: "*"})
	kid := func(token string) string { return strings.Split(token, "_")[2] }
	if ok, err := store.Revoke(t.Context(), kid(gone)); !ok || err != nil {
		t.Fatal(ok, err)
	}
	other := auth.NewToken(c3po.RoleAgent).Reveal()
	for name, r := range map[string]*http.Request{
		"none":                    request(),
		"garbage":                 bearing("garbage"),
		"another scheme":          request("Authorization", "Basic "+good),
		"two of them":             request("Authorization", "Bearer "+good, "Authorization", "Bearer "+good),
		"unknown":                 bearing(other),
		"another secret":          bearing(good[:len(good)-43] + other[len(other)-43:]),
		"a role it does not have": bearing(strings.Replace(good, "_agent_", "_admin_", 1)),
		"expired":                 bearing(old),
		"revoked":                 bearing(gone),
	} {
		_, err := ask(k, r)
		told := c3po.AsError(err)
		if !errors.Is(err, c3po.Unauthorized) || !strings.Contains(told.Suggestion, "`c3po join`") || !strings.Contains(told.Suggestion, "`c3po up`") {
			t.Errorf("%s: %v (%v)", name, err, told)
		}
		if ended := strings.Contains(told.Message, "expired") || strings.Contains(told.Message, "revoked"); ended != (name == "expired" || name == "revoked") {
			t.Errorf("%s: %q", name, told.Message)
		}
	}
	if _, err := ask(k, bearing(good)); err != nil {
		t.Errorf("the good one: %v", err)
	}
	entries, err := store.AuditTail(t.Context(), "", 100)
	if err != nil || len(entries) == 0 {
		t.Fatalf("nothing was written down: %v", err)
	}
	for _, e := range entries {
		if e.Event != auth.EventAuthFailed || strings.Contains(e.Detail+e.KID, good[len(good)-43:]) {
			t.Errorf("written down: %+v", e)
		}
	}
}

func TestARevokedTokenEndsWhatItHasOpen(t *testing.T) {
	t.Parallel()
	k, store := newKeeper(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go k.Run(ctx)
	made, err := k.Mint(t.Context(), auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"main"}, Pattern: "*"})
	if err != nil {
		t.Fatal(err)
	}
	kept := mint(t, k, auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"main"}, Pattern: "*"})
	_, open, release, err := k.Caller(bearing(made.Secret), "rest")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	_, other, releaseOther, err := k.Caller(bearing(kept), "rest")
	if err != nil {
		t.Fatal(err)
	}
	defer releaseOther()
	began := time.Now()
	if ok, err := store.Revoke(t.Context(), made.KID); !ok || err != nil {
		t.Fatal(ok, err)
	}
	select {
	case <-open.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("it is still open")
	}
	t.Logf("closed after %v", time.Since(began))
	if cause := context.Cause(open); !errors.Is(cause, c3po.Unauthorized) {
		t.Errorf("it ended with %v", cause)
	}
	if _, err := ask(k, bearing(made.Secret)); !errors.Is(err, c3po.Unauthorized) {
		t.Errorf("the next one: %v", err)
	}
	if other.Err() != nil {
		t.Error("the request of another token ended too")
	}
}

func TestAnExpiringTokenEndsWhatItHasOpen(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper(t)
	token := mint(t, k, auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"main"}, Pattern: "*", Fixed: true, Expires: time.Now().Add(200 * time.Millisecond)})
	_, open, release, err := k.Caller(bearing(token), "rest")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	select {
	case <-open.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("it is still open")
	}
	if cause := context.Cause(open); !errors.Is(cause, c3po.Unauthorized) {
		t.Errorf("it ended with %v", cause)
	}
}

func TestATokenThatWasUsedElsewhereInTimeIsNotTakenForExpired(t *testing.T) {
	t.Parallel()
	_, store := newKeeper(t)
	var ahead atomic.Int64
	k := auth.New(auth.Config{Store: store, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go k.Run(ctx)
	made, err := k.Mint(t.Context(), auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"main"}, Pattern: "*", LastUsed: time.Now(), Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(k, bearing(made.Secret)); err != nil {
		t.Fatal(err)
	}
	if err := store.TouchGrant(t.Context(), made.KID, 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	ahead.Store(int64(2 * time.Hour))
	// Long enough for the keeper to be sure that nothing was revoked.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(time.Second); ; {
		if _, err := ask(k, bearing(made.Secret)); err != nil {
			t.Fatal(err)
		}
		select {
		case <-tick.C:
			continue
		case <-end:
		}
		break
	}
}

func TestARotatedTokenWorksBesideItsSuccessorForTenMinutes(t *testing.T) {
	t.Parallel()
	_, store := newKeeper(t)
	var ahead atomic.Int64
	k := auth.New(auth.Config{Store: store, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	admin := c3po.Caller{Role: c3po.RoleAdmin}
	old, err := k.Mint(t.Context(), auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"team"}, Pattern: "box/*", Label: "box"})
	if err != nil {
		t.Fatal(err)
	}
	made, err := k.RotateToken(t.Context(), admin, old.KID)
	if err != nil {
		t.Fatal(err)
	}
	if made.SuccessorOf != old.KID || made.Agents != "box/*" || made.Label != "box" || !cmp.Equal(made.Spaces, []string{"team"}) {
		t.Errorf("the successor is %+v", made.Token)
	}
	for _, test := range []struct {
		after    time.Duration
		old, new error
	}{{0, nil, nil}, {9 * time.Minute, nil, nil}, {11 * time.Minute, c3po.Unauthorized, nil}} {
		ahead.Store(int64(test.after))
		if _, err := ask(k, bearing(old.Secret)); !errors.Is(err, test.old) {
			t.Errorf("the old one after %v: %v", test.after, err)
		}
		if _, err := ask(k, bearing(made.Secret)); !errors.Is(err, test.new) {
			t.Errorf("the new one after %v: %v", test.after, err)
		}
	}
}

func TestAPersonsActsAreRefusedToWhatAnAgentStarted(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper(t)
	agent := mint(t, k, auth.LocalGrant(c3po.RoleAgent, ""))
	person := mint(t, k, auth.LocalGrant(c3po.RoleHuman, ""))
	act := func() error {
		_, err := ask(k, bearing(person, "X-C3PO-Ancestors", "box:9:1,box:7:99,box:2:3"))
		return err
	}
	if err := act(); err != nil {
		t.Fatalf("before: %v", err)
	}
	if _, err := ask(k, bearing(agent, "X-Agent-ID", "api", "X-C3PO-Run", "box:7:99")); err != nil {
		t.Fatal(err)
	}
	if err := act(); !errors.Is(err, c3po.Forbidden) {
		t.Errorf("after the agent has registered: %v", err)
	}
	if _, err := ask(k, bearing(person, "X-C3PO-Ancestors", "box:9:1,box:7:100")); err != nil {
		t.Errorf("another process of that number: %v", err)
	}
}

func TestOnlyAnAdminManagesTokens(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper(t)
	made, err := k.Mint(t.Context(), auth.LocalGrant(c3po.RoleAgent, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range c3po.Roles() {
		caller := c3po.Caller{Role: role, Space: "main"}
		_, list := k.Tokens(t.Context(), caller)
		_, rotate := k.RotateToken(t.Context(), caller, made.KID)
		_, create := k.CreateToken(t.Context(), caller, c3po.TokenInput{Role: c3po.RoleAdmin})
		_, unknown := k.RevokeToken(t.Context(), caller, "abcdefghij23")
		for what, err := range map[string]error{"list": list, "rotate": rotate, "create": create} {
			if (role == c3po.RoleAdmin) != (err == nil) || role != c3po.RoleAdmin && !errors.Is(err, c3po.Forbidden) {
				t.Errorf("%s %s: %v", role, what, err)
			}
		}
		if want := map[bool]error{true: c3po.InvalidRequest, false: c3po.Forbidden}[role == c3po.RoleAdmin]; !errors.Is(unknown, want) {
			t.Errorf("%s revokes what is not there: %v", role, unknown)
		}
	}
}
