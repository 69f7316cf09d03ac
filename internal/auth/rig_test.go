package auth_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A rig is a keeper over a Redis of its own, with a clock that runs ahead.
type rig struct {
	*auth.Keeper
	t     *testing.T
	cfg   auth.Config
	store *redisstore.Store
	ahead atomic.Int64
}

func newRig(t *testing.T, cfg auth.Config) *rig {
	t.Helper()
	store, err := redisstore.Open(t.Context(), redisstore.Config{URL: redistest.Start(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	r := &rig{t: t, cfg: cfg, store: store}
	r.cfg.Now = func() time.Time { return time.Now().Add(time.Duration(r.ahead.Load())) }
	if r.cfg.Store == nil {
		r.cfg.Store = store
	}
	r.Keeper = r.another()
	return r
}

// another is the keeper of another coordinator of the same store.
func (r *rig) another() *auth.Keeper { return auth.New(r.cfg) }

func (r *rig) advance(d time.Duration) { r.ahead.Add(int64(d)) }

func (r *rig) mint(g auth.Grant) string {
	r.t.Helper()
	if g.Spaces == nil {
		g.Spaces = []string{"main"}
	}
	return mint(r.t, r.Keeper, g)
}

// call admits a request until the test ends.
func (r *rig) call(token string, headers ...string) (c3po.Caller, context.Context) {
	r.t.Helper()
	caller, ctx, release, err := r.Caller(bearing(token, headers...), "rest")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(release)
	return caller, ctx
}

// recorded gives the audit's entries about something, without the store's own fields.
func (r *rig) recorded(do func()) []auth.AuditEntry {
	r.t.Helper()
	after := "0"
	if before := r.tail(""); len(before) > 0 {
		after = before[len(before)-1].ID
	}
	do()
	entries := r.tail(after)
	for i := range entries {
		e := &entries[i]
		e.ID, e.At, e.N, e.Prev, e.Hash = "", time.Time{}, 0, "", ""
	}
	return entries
}

func (r *rig) tail(after string) []auth.AuditEntry {
	r.t.Helper()
	entries, err := r.store.AuditTail(r.t.Context(), after, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	return entries
}

// wantRecorded compares the audit's entries about something.
func (r *rig) wantRecorded(name string, do func(), want ...auth.AuditEntry) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.recorded(do), cmpopts.EquateEmpty()); diff != "" {
		r.t.Errorf("%s is recorded differently (-want +got):\n%s", name, diff)
	}
}

func kidOf(token string) string { return strings.Split(token, "_")[2] }

// overSocket is a request over the coordinator's socket from a process.
func overSocket(r *http.Request, pid int, start int64) *http.Request {
	return r.WithContext(auth.OnSocket(r.Context(), pid, start))
}

// A stubborn store fails some of its steps and counts them.
type stubborn struct {
	auth.Store
	fail    atomic.Bool
	touched atomic.Int64
}

var errStubborn = c3po.Errorf(c3po.StoreFull, "the store is full")

func (s *stubborn) TouchGrant(ctx context.Context, kid string, life time.Duration) error {
	s.touched.Add(1)
	if s.fail.Load() {
		return errStubborn
	}
	return s.Store.TouchGrant(ctx, kid, life)
}

func (s *stubborn) NoteRun(ctx context.Context, run string) error {
	if s.fail.Load() {
		return errStubborn
	}
	return s.Store.NoteRun(ctx, run)
}

func (s *stubborn) Audit(ctx context.Context, e auth.AuditEntry) (auth.AuditEntry, error) {
	if s.fail.Load() {
		return auth.AuditEntry{}, errStubborn
	}
	return s.Store.Audit(ctx, e)
}

func (s *stubborn) SpendProof(ctx context.Context, id string) (auth.ProofOutcome, error) {
	if s.fail.Load() {
		return "", errStubborn
	}
	return s.Store.SpendProof(ctx, id)
}
