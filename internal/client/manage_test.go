package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

// Managing is not repeated: a second token or invitation would be one that nobody has.
func TestWhatIsManagedIsAskedForOnceAtItsOwnAddress(t *testing.T) {
	t.Parallel()
	type calls = func(context.Context, *client.Client) error
	for want, call := range map[string]calls{
		`GET /api/admin/tokens map[]`:                  func(ctx context.Context, c *client.Client) error { _, err := c.Tokens(ctx); return err },
		`GET /api/admin/audit/heads map[]`:             func(ctx context.Context, c *client.Client) error { _, err := c.AuditHeads(ctx); return err },
		`GET /api/admin/audit?limit=7 map[]`:           func(ctx context.Context, c *client.Client) error { _, err := c.AuditTail(ctx, "", 7); return err },
		`GET /api/admin/audit?after=1-2&limit=0 map[]`: func(ctx context.Context, c *client.Client) error { _, err := c.AuditTail(ctx, "1-2", 0); return err },
		`GET /api/passkeys map[]`:                      func(ctx context.Context, c *client.Client) error { _, err := c.Passkeys(ctx); return err },
		`POST /api/passkeys/a%2Fb/remove map[]`:        func(ctx context.Context, c *client.Client) error { _, err := c.RemovePasskey(ctx, "a/b"); return err },
		`POST /api/passkeys/reset map[]`:               func(ctx context.Context, c *client.Client) error { _, err := c.ResetPasskeys(ctx); return err },
		`POST /api/passkeys/policy map[policy:decisions]`: func(ctx context.Context, c *client.Client) error {
			_, err := c.SetProofPolicy(ctx, c3po.ProofDecisions)
			return err
		},
		`POST /api/admin/tokens map[role:human]`: func(ctx context.Context, c *client.Client) error {
			_, err := c.CreateToken(ctx, c3po.TokenInput{Role: c3po.RoleHuman})
			return err
		},
		`POST /api/admin/tokens/a%2Fb/revoke map[]`: func(ctx context.Context, c *client.Client) error { _, err := c.RevokeToken(ctx, "a/b"); return err },
		`POST /api/admin/tokens/a%2Fb/rotate map[]`: func(ctx context.Context, c *client.Client) error { _, err := c.RotateToken(ctx, "a/b"); return err },
		`POST /api/admin/invites map[host:nas]`: func(ctx context.Context, c *client.Client) error {
			_, err := c.Invite(ctx, c3po.InviteInput{Host: "nas"})
			return err
		},
		`POST /api/join map[host:nas secret:s]`: func(ctx context.Context, c *client.Client) error {
			_, err := c.Join(ctx, c3po.JoinInput{Secret: "s", Host: "nas"})
			return err
		},
		`POST /api/login/link map[]`: func(ctx context.Context, c *client.Client) error { _, err := c.LoginLink(ctx); return err },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				empty := any(map[string]any{})
				if strings.HasSuffix(want, "tokens map[]") || strings.Contains(want, "audit?") {
					empty = []any{}
				}
				s := newScript(t, answers(empty), hangsUp)
				c := s.client(t, client.Config{})
				if err := call(t.Context(), c); err != nil {
					t.Error(err)
				}
				code := c3po.UnknownOutcome
				if strings.HasPrefix(want, "GET") {
					code = c3po.CoordDown
				}
				if err := call(t.Context(), c); !errors.Is(err, code) || strings.Contains(want, "join") != strings.Contains(err.Error(), "the invitation may be used up") {
					t.Errorf("without an answer it ends with %v, want %s", err, code)
				}
				got := s.requests()
				if strings.HasPrefix(want, "POST") && len(got) != 2 { // net/http repeats a GET
					t.Errorf("it was asked for %d times, want 2", len(got))
				}
				if is := fmt.Sprint(got[0].method, " ", got[0].path, " ", got[0].body); is != want {
					t.Errorf("it asked for %s", is)
				}
			})
		})
	}
}

// needsPasskey refuses an act until it is proved.
var needsPasskey = func() step {
	refusal := c3po.Errorf(c3po.ProofRequired, "this needs your passkey")
	refusal.Proof = "p/1"
	return refuses(refusal)
}()

func TestAnActIsRepeatedWithItsProofOnceThePersonConfirmed(t *testing.T) {
	t.Parallel()
	keys := []c3po.Passkey{{ID: "k", Site: "nas.lan"}}
	for page, all := range map[string]c3po.Passkeys{
		"https://nas.lan:8420":  {Pages: []string{"http://localhost:8420", "https://nas.lan:8420"}, Passkeys: keys},
		"http://c3po.test:8420": {Pages: []string{"http://localhost:8420", "://"}, Passkeys: keys},
		"http://localhost:1":    {Pages: []string{"http://localhost:1", "https://nas.lan"}, Passkeys: append(keys, c3po.Passkey{Site: "localhost"})},
	} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				act := c3po.ProofRequest{ID: "p/1", Code: "ABC-DEF", State: c3po.ProofWaits, Expires: time.Now().Add(time.Minute)}
				signed := act
				signed.State = c3po.ProofSigned
				s := newScript(t, needsPasskey, answers(all), answers(act), answers(act), answers(act), answers(signed), answers(c3po.NewToken{Secret: "made"}))
				var asked []string
				c := s.client(t, client.Config{URL: "http://c3po.test:8420/", Confirm: func(_ context.Context, act c3po.ProofRequest, page, proof string) {
					asked = append(asked, act.Code, page, proof)
				}})
				began := time.Now()
				made, err := c.CreateToken(t.Context(), c3po.TokenInput{Role: c3po.RoleHuman})
				if err != nil || made.Secret != "made" || time.Since(began) != 900*time.Millisecond {
					t.Errorf("it ends after %v with %+v, %v", time.Since(began), made, err)
				}
				if diff := cmp.Diff([]string{"ABC-DEF", page, "p/1"}, asked); diff != "" {
					t.Errorf("the person is asked (-want +got):\n%s", diff)
				}
				var paths []string
				for _, call := range s.requests() {
					paths = append(paths, strings.TrimSpace(call.path+" "+call.header.Get(c3po.ProofHeader)))
				}
				look := "/api/proofs/p%2F1"
				if diff := cmp.Diff([]string{"/api/admin/tokens", "/api/passkeys", look, look, look, look, "/api/admin/tokens p/1"}, paths); diff != "" {
					t.Errorf("the calls (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestAnActThatNobodyConfirmsIsNotDone(t *testing.T) {
	t.Parallel()
	waits := func(w http.ResponseWriter, r *http.Request) {
		answers(c3po.ProofRequest{State: c3po.ProofWaits, Expires: time.Now().Add(time.Second)})(w, r)
	}
	expired := answers(c3po.ProofRequest{State: c3po.ProofWaits})
	gone := refuses(c3po.Errorf(c3po.InvalidRequest, "nothing waits"))
	confirm := func(context.Context, c3po.ProofRequest, string, string) {}
	late := c3po.Errorf(c3po.ProofRequired, "no passkey") // nothing to confirm
	for name, test := range map[string]struct {
		steps  []step
		refuse bool
		code   error
		says   string
		calls  int
	}{
		"nobody can be asked":         {[]step{needsPasskey}, true, c3po.ProofRequired, "this needs your passkey", 1},
		"there is nothing to confirm": {[]step{refuses(late)}, false, c3po.ProofRequired, "no passkey", 1},
		"it expires":                  {[]step{needsPasskey, answers(c3po.Passkeys{}), expired}, false, c3po.ProofRequired, "nobody confirmed it", 3},
		"it is gone":                  {[]step{needsPasskey, answers(c3po.Passkeys{}), gone}, false, c3po.InvalidRequest, "nothing waits", 3},
		"the pages are refused":       {[]step{needsPasskey, gone}, false, c3po.InvalidRequest, "nothing waits", 2},
		"the person gives up":         {[]step{needsPasskey, answers(c3po.Passkeys{}), waits}, false, context.Canceled, "", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(500*time.Millisecond, cancel)
				s := newScript(t, test.steps...)
				c := s.client(t, client.Config{Confirm: confirm})
				if test.refuse {
					c.RefuseProofs()
				}
				if _, err := c.RevokeToken(ctx, "k"); !errors.Is(err, test.code) || !strings.Contains(err.Error(), test.says) {
					t.Errorf("it ends with %v", err)
				}
				if n := len(s.requests()); n != test.calls {
					t.Errorf("it called %d times, want %d", n, test.calls)
				}
			})
		})
	}
}
