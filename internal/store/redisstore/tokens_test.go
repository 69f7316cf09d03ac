package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

var _ auth.Store = (*redisstore.Store)(nil)

// A vault is a store whose clock the test moves, on an engine of its own:
// grants belong to no space that tests could have for themselves.
type vault struct {
	*redisstore.Store
	start time.Time
	ahead atomic.Int64
}

func newVault(t *testing.T, url string) *vault {
	t.Helper()
	// Not in the past: what Redis sweeps up itself it sweeps by its own clock.
	v := &vault{start: time.Now().UTC().Truncate(time.Millisecond)}
	v.Store = open(t, url, c3po.DefaultLimits(), v.now)
	return v
}

func (v *vault) now() time.Time          { return v.start.Add(time.Duration(v.ahead.Load())) }
func (v *vault) advance(d time.Duration) { v.ahead.Add(int64(d)) }

func (v *vault) mustPut(t *testing.T, g auth.Grant) {
	t.Helper()
	if err := v.PutGrant(t.Context(), g); err != nil {
		t.Fatal(err)
	}
}

func (v *vault) mustGrant(t *testing.T, kid string) auth.Grant {
	t.Helper()
	g, ok, err := v.Grant(t.Context(), kid)
	if err != nil || !ok {
		t.Fatalf("grant %s: %v, %v", kid, ok, err)
	}
	return g
}

func onBothEngines(t *testing.T, promise func(*testing.T, *vault)) {
	t.Run("one Redis", func(t *testing.T) { t.Parallel(); promise(t, newVault(t, redistest.Start(t))) })
	t.Run("a Cluster", func(t *testing.T) {
		t.Parallel()
		promise(t, newVault(t, "redis://"+strings.Join(redistest.Cluster(t), ",")))
	})
}

func TestAGrantIsKeptAsItWasPut(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, v *vault) {
		g := auth.Grant{
			KID: "one", Hash: "abc", Role: c3po.RoleRunner, Spaces: []string{"team", "repo-*"}, Pattern: "box/*", Label: "ünï",
			Created: v.now().Add(-time.Hour), Expires: v.now().Add(time.Hour), SuccessorOf: "zero", Local: true,
		}
		v.mustPut(t, g)
		if diff := cmp.Diff(g, v.mustGrant(t, "one")); diff != "" {
			t.Errorf("(-put +read):\n%s", diff)
		}
		v.mustPut(t, auth.Grant{KID: "two", Expires: v.now().Add(time.Hour)})
		if got := v.mustGrant(t, "two").Created; !got.Equal(v.now()) {
			t.Errorf("created %v, now is %v", got, v.now())
		}
		all, err := v.Grants(t.Context())
		if err != nil || len(all) != 2 || all[0].KID != "one" || all[1].KID != "two" {
			t.Errorf("all are %+v, %v", all, err)
		}
		if _, ok, err := v.Grant(t.Context(), "three"); ok || err != nil {
			t.Errorf("one that is not there: %v, %v", ok, err)
		}
	})
}

func TestEveryChangeOfAGrantIsSeenOnce(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, v *vault) {
		at := int64(0)
		want := func(kids ...string) {
			t.Helper()
			got, revision, err := v.Changes(t.Context(), at)
			if diff := cmp.Diff(append([]string{}, kids...), append([]string{}, got...)); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
			if len(kids) > 0 && revision <= at {
				t.Errorf("the revision went from %d to %d", at, revision)
			}
			at = revision
		}
		want()
		v.mustPut(t, auth.Grant{KID: "one", Expires: v.now().Add(time.Hour)})
		v.mustPut(t, auth.Grant{KID: "two", Expires: v.now().Add(time.Hour)})
		want("one", "two")
		want()
		if err := v.TouchGrant(t.Context(), "one", time.Hour); err != nil {
			t.Fatal(err)
		}
		want()
		if ok, err := v.Revoke(t.Context(), "one"); !ok || err != nil {
			t.Fatal(ok, err)
		}
		want("one")
		if ok, err := v.Revoke(t.Context(), "one"); !ok || err != nil {
			t.Fatal(ok, err)
		}
		want()
		if ok, err := v.Revoke(t.Context(), "none"); ok || err != nil {
			t.Errorf("what is not there: %v, %v", ok, err)
		}
		if !v.mustGrant(t, "one").Revoked {
			t.Error("it is not revoked")
		}
		if kids, now, err := v.Changes(t.Context(), -1); err != nil || len(kids) != 0 || now != at {
			t.Errorf("the present revision: %v %d %v", kids, now, err)
		}
	})
}

func TestUseMovesTheEndOfAGrantAway(t *testing.T) {
	t.Parallel()
	v := newVault(t, redistest.Start(t))
	end := v.now().Add(time.Hour)
	for _, g := range []auth.Grant{{KID: "slides"}, {KID: "fixed", Fixed: true}, {KID: "gone"}, {KID: "long"}} {
		g.Expires = end
		if g.KID == "long" {
			g.Expires = end.Add(48 * time.Hour)
		}
		v.mustPut(t, g)
	}
	if _, err := v.Revoke(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	v.advance(30 * time.Minute)
	used := v.now()
	for _, kid := range []string{"slides", "fixed", "gone", "long", "none"} {
		if err := v.TouchGrant(t.Context(), kid, 24*time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	for kid, want := range map[string]auth.Grant{
		"slides": {LastUsed: used, Expires: used.Add(24 * time.Hour)},
		"fixed":  {LastUsed: used, Expires: end},
		"gone":   {Expires: end},
		"long":   {LastUsed: used, Expires: end.Add(48 * time.Hour)},
	} {
		if got := v.mustGrant(t, kid); !got.LastUsed.Equal(want.LastUsed) || !got.Expires.Equal(want.Expires) {
			t.Errorf("%s: used %v, ends %v, want %v, %v", kid, got.LastUsed, got.Expires, want.LastUsed, want.Expires)
		}
	}
	v.advance(25 * time.Hour)
	if err := v.TouchGrant(t.Context(), "slides", 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := v.mustGrant(t, "slides"); got.Live(v.now()) {
		t.Error("what has expired lives again")
	}
}

func TestAGrantThatIsLongOverIsForgotten(t *testing.T) {
	t.Parallel()
	v := newVault(t, redistest.Start(t))
	v.mustPut(t, auth.Grant{KID: "old", Expires: v.now().Add(-time.Hour)})
	v.advance(31 * 24 * time.Hour)
	v.mustPut(t, auth.Grant{KID: "new", Expires: v.now().Add(time.Hour)})
	all, err := v.Grants(t.Context())
	if err != nil || len(all) != 1 || all[0].KID != "new" {
		t.Errorf("listed are %+v, %v", all, err)
	}
}

func TestAnInviteIsForOneUse(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, v *vault) {
		invite := auth.Invite{ID: "i", Hash: "right", Host: "box", Runner: true, Spaces: []string{"team"}, Expires: v.now().Add(time.Minute)}
		if err := v.PutInvite(t.Context(), invite); err != nil {
			t.Fatal(err)
		}
		spend := func(hash string) auth.InviteOutcome {
			t.Helper()
			got, outcome, err := v.SpendInvite(t.Context(), "i", hash)
			if err != nil {
				t.Fatal(err)
			}
			if outcome == auth.InviteSpent {
				invite.Tries, invite.Used = 1, true
				if diff := cmp.Diff(invite, got); diff != "" {
					t.Errorf("(-put +spent):\n%s", diff)
				}
			} else if diff := cmp.Diff(auth.Invite{}, got); diff != "" {
				t.Errorf("who was not let in learns:\n%s", diff)
			}
			return outcome
		}
		for i, test := range []struct {
			hash string
			want auth.InviteOutcome
		}{{"wrong", auth.InviteWrong}, {"right", auth.InviteSpent}, {"right", auth.InviteUsed}, {"wrong", auth.InviteWrong}} {
			if got := spend(test.hash); got != test.want {
				t.Errorf("try %d: %s, want %s", i, got, test.want)
			}
		}
		if _, outcome, err := v.SpendInvite(t.Context(), "other", "right"); err != nil || outcome != auth.InviteUnknown {
			t.Errorf("an unknown one: %s, %v", outcome, err)
		}
	})
}

func TestAnInviteIsBurnedByWrongTriesAndByTime(t *testing.T) {
	t.Parallel()
	v := newVault(t, redistest.Start(t))
	for _, id := range []string{"guessed", "late"} {
		if err := v.PutInvite(t.Context(), auth.Invite{ID: id, Hash: "right", Expires: v.now().Add(time.Minute)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range auth.InviteTries {
		if _, outcome, err := v.SpendInvite(t.Context(), "guessed", fmt.Sprint(i)); err != nil || outcome != auth.InviteWrong {
			t.Fatalf("guess %d: %s, %v", i, outcome, err)
		}
	}
	if _, outcome, err := v.SpendInvite(t.Context(), "guessed", "right"); err != nil || outcome != auth.InviteBurned {
		t.Errorf("the right one after %d wrong ones: %s, %v", auth.InviteTries, outcome, err)
	}
	v.advance(time.Minute)
	if _, outcome, err := v.SpendInvite(t.Context(), "late", "right"); err != nil || outcome != auth.InviteExpired {
		t.Errorf("a late one: %s, %v", outcome, err)
	}
}

func TestOfManyWhoSpendAnInviteOneIsLetIn(t *testing.T) {
	t.Parallel()
	v := newVault(t, redistest.Start(t))
	if err := v.PutInvite(t.Context(), auth.Invite{ID: "i", Hash: "right", Expires: v.now().Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	var in atomic.Int64
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			_, outcome, err := v.SpendInvite(t.Context(), "i", "right")
			if err != nil {
				t.Error(err)
			}
			if outcome == auth.InviteSpent {
				in.Add(1)
			}
		})
	}
	group.Wait()
	if in.Load() != 1 {
		t.Errorf("%d were let in", in.Load())
	}
}

func TestTheFirstAuthorityIsEverybodys(t *testing.T) {
	t.Parallel()
	v := newVault(t, redistest.Start(t))
	failed := errors.New("no entropy")
	if _, err := v.Authority(t.Context(), func() ([]byte, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("a proposal that failed: %v", err)
	}
	var got [20]string
	var group sync.WaitGroup
	for i := range got {
		group.Go(func() {
			held, err := v.Authority(t.Context(), func() ([]byte, error) { return []byte{0, 0xff, byte(i)}, nil })
			if err != nil {
				t.Error(err)
			}
			got[i] = string(held)
		})
	}
	group.Wait()
	for i := range got {
		if got[i] != got[0] || len(got[i]) != 3 {
			t.Fatalf("%x and %x", got[0], got[i])
		}
	}
	again, err := v.Authority(t.Context(), func() ([]byte, error) { t.Error("it was asked again"); return nil, nil })
	if err != nil || string(again) != got[0] {
		t.Errorf("later: %x, %v", again, err)
	}
}

func TestTheAuditIsReadInOrderFromWhereOneWas(t *testing.T) {
	t.Parallel()
	v := newVault(t, redistest.Start(t))
	for i := range 5 {
		if _, err := v.Audit(t.Context(), auth.AuditEntry{Event: fmt.Sprint(i), Detail: "ünï", KID: "k"}); err != nil {
			t.Fatal(err)
		}
	}
	tail, err := v.AuditTail(t.Context(), "", 3)
	if err != nil || len(tail) != 3 || tail[0].Event != "2" || tail[2].Event != "4" || tail[0].Detail != "ünï" || time.Since(tail[0].At) > time.Minute {
		t.Fatalf("the newest three are %+v, %v", tail, err)
	}
	more, err := v.AuditTail(t.Context(), tail[0].ID, 10)
	if err != nil || len(more) != 2 || more[0].Event != "3" {
		t.Errorf("after the first of them: %+v, %v", more, err)
	}
	if _, err := v.AuditTail(t.Context(), "nonsense", 10); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("after nonsense: %v", err)
	}
}

// Several coordinators write at once, and each entry has a place of its own.
func TestEntriesOfManyWritersMakeOneChain(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	var work sync.WaitGroup
	for n := range 4 {
		v := newVault(t, redis)
		work.Go(func() {
			for i := range 25 {
				event := auth.EventPersonAct
				if i%5 == 0 {
					event = auth.EventForbidden
				}
				if _, err := v.Audit(context.WithoutCancel(t.Context()), auth.AuditEntry{Event: event, Detail: fmt.Sprint(n, " ", i, " \xff")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	v := newVault(t, redis)
	entries, err := v.AuditTail(t.Context(), "0", 1000)
	if err != nil || len(entries) != 100 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	chains := map[bool][]c3po.AuditEntry{}
	for _, e := range entries {
		chains[e.Refusal()] = append(chains[e.Refusal()], c3po.AuditEntry(e))
	}
	heads, err := v.AuditHeads(t.Context())
	if err != nil || heads.Deeds.N != 80 || heads.Refusals.N != 20 {
		t.Fatalf("heads %+v, %v", heads, err)
	}
	for _, fault := range append(c3po.VerifyAudit(chains[false], heads.Deeds, c3po.AuditHead{}), c3po.VerifyAudit(chains[true], heads.Refusals, c3po.AuditHead{})...) {
		t.Error(fault)
	}
}

// Anybody is refused as often as they like.
func TestRefusalsNeverPushOutWhatWasDone(t *testing.T) {
	t.Parallel()
	v := newVault(t, redistest.Start(t))
	note := func(event string) {
		t.Helper()
		if _, err := v.Audit(t.Context(), auth.AuditEntry{Event: event}); err != nil {
			t.Fatal(err)
		}
	}
	note(auth.EventTokenCreated)
	for range 10_300 { // a stream is cut by whole nodes of a hundred entries
		note(auth.EventAuthFailed)
	}
	note(auth.EventTokenRevoked)
	var deeds, refusals int
	seen := map[string]bool{}
	after := "0-0"
	for {
		page, err := v.AuditTail(t.Context(), after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			if seen[e.ID] {
				t.Fatalf("%s is there twice", e.ID)
			}
			seen[e.ID] = true
			if e.Refusal() {
				refusals++
			} else {
				deeds++
			}
		}
		after = page[len(page)-1].ID
	}
	if deeds != 2 || refusals < 10_000 || refusals > 10_200 {
		t.Errorf("there are %d deeds and %d refusals", deeds, refusals)
	}
	if newest, err := v.AuditTail(t.Context(), "", 2); err != nil || len(newest) != 2 || newest[1].Event != auth.EventTokenRevoked {
		t.Errorf("the newest are %+v, %v", newest, err)
	}
}

func TestTheRunsOfAgentsAreKnownForAWeek(t *testing.T) {
	t.Parallel()
	v := newVault(t, redistest.Start(t))
	if err := v.NoteRun(t.Context(), "box:1:2"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		asked []string
		want  string
	}{{nil, ""}, {[]string{"box:1:3"}, ""}, {[]string{"box:9:9", "box:1:2"}, "box:1:2"}} {
		if got, err := v.AgentRun(t.Context(), test.asked); err != nil || got != test.want {
			t.Errorf("%v: %q, %v", test.asked, got, err)
		}
	}
	v.advance(8 * 24 * time.Hour)
	if err := v.NoteRun(t.Context(), "box:5:5"); err != nil {
		t.Fatal(err)
	}
	if got, err := v.AgentRun(t.Context(), []string{"box:1:2"}); err != nil || got != "" {
		t.Errorf("after a week: %q, %v", got, err)
	}
}
