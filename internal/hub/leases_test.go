package hub_test

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

func (h *testHub) leases(id c3po.AgentID, tree string, paths ...string) c3po.LeaseTaken {
	h.t.Helper()
	return must(h.as(id).LeaseTake(h.t.Context(), c3po.LeaseTakeInput{Repository: "r", Branch: "main", Tree: tree, Paths: paths}))(h.t)
}

func TestACommitIsCheckedAgainstWhoHoldsAFileAndWhoHasHadItSince(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, unlimited)
		h.enter("ann", "bob")
		check := func(as c3po.Service, tree string, number int64) int {
			t.Helper()
			return len(must(as.LeaseCheck(t.Context(), c3po.LeaseCheckInput{Repository: "r", Branch: "main", Tree: tree, Paths: []string{"a.go"}, Numbers: []int64{number}}))(t).Leases)
		}
		first := h.leases("ann", "t1", "a.go").Numbers[0]
		same(t, "its holder", check(h.as("ann"), "t1", first), 0)
		same(t, "another session, in the same tree", check(h.as("bob"), "t1", first), 1)
		same(t, "the person, in the same tree", check(h.asPerson(), "t1", first), 0)
		same(t, "the person, elsewhere on the branch", check(h.asPerson(), "t2", 0), 1)
		must(h.as("ann").Unregister(t.Context(), c3po.None{}))(t)
		same(t, "nobody since", check(h.as("ann"), "t1", first), 0)
		second := h.leases("bob", "t2", "a.go").Numbers[0]
		must(h.as("bob").LeaseRelease(t.Context(), c3po.LeaseReleaseInput{Repository: "r", Branch: "main", Tree: "t2", Paths: []string{"a.go"}}))(t)
		same(t, "another since", check(h.as("ann"), "t1", first), 1)
		same(t, "another since, for the person", check(h.asPerson(), "t1", first), 1)
		same(t, "the latest", check(h.as("bob"), "t2", second), 0)
		third := h.leases("ann", "t1", "a.go").Numbers[0]
		same(t, "edited again", check(h.as("ann"), "t1", third), 0)
		same(t, "edited again, for the other", check(h.as("bob"), "t2", second), 1)
	})
}

func TestAPersonBreaksALeaseAndAnAgentDoesNot(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, unlimited)
		h.enter("ann", "bob")
		in := c3po.LeaseBreakInput{Number: h.leases("ann", "t1", "a.go").Numbers[0]}
		_, err := h.as("bob").LeaseBreak(t.Context(), in)
		refused(t, err, c3po.Forbidden)
		same(t, "released", must(h.asPerson().LeaseBreak(t.Context(), in))(t).Released, 1)
		same(t, "held", len(must(h.as("bob").LeaseList(t.Context(), c3po.LeaseListInput{}))(t).Leases), 0)
		_, err = h.asPerson().LeaseBreak(t.Context(), in)
		refused(t, err, c3po.InvalidRequest)
	})
}

func TestNamesThatCannotBeLeasedAreRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, unlimited)
		h.enter("ann")
		for _, in := range []c3po.LeaseTakeInput{
			{Repository: "r", Paths: []string{"a"}}, {Tree: "t", Paths: []string{"a"}}, {Repository: "r", Tree: "t", Paths: []string{""}},
			{Repository: "r\x00", Tree: "t", Paths: []string{"a"}}, {Repository: "r", Tree: "t", Paths: []string{"a\x00b"}},
			{Repository: "r", Tree: "t", Paths: make([]string, c3po.MaxLeaseFiles+1)},
		} {
			_, err := h.as("ann").LeaseTake(t.Context(), in)
			refused(t, err, c3po.InvalidRequest)
		}
		same(t, "one path twice", len(h.leases("ann", "t", "a", "a").Numbers), 1)
	})
}

func TestNobodyIsInItsOwnWayInAnotherClone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, unlimited)
		h.enter("zoe")
		first, second := h.leases("zoe", "t1", "a.go").Numbers[0], h.leases("zoe", "t2", "a.go").Numbers[0]
		for tree, number := range map[string]int64{"t1": first, "t2": second} {
			in := c3po.LeaseCheckInput{Repository: "r", Branch: "main", Tree: tree, Paths: []string{"a.go"}, Numbers: []int64{number}}
			same(t, "in "+tree, len(must(h.as("zoe").LeaseCheck(t.Context(), in))(t).Leases), 0)
		}
	})
}

func TestAHolderThatIsOfflineForLongKeepsNobodyFromItsFile(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, unlimited)
		h.enter("ann", "bob")
		h.leases("ann", "t1", "a.go", "b.go")
		pass(c3po.DefaultLimits().LeaseOffline - time.Second)
		h.enter("bob")
		if held := h.leases("bob", "t2", "a.go").Held; held == nil || held.Holder != "ann" {
			t.Fatalf("before that, held is %+v", held)
		}
		pass(time.Second)
		same(t, "numbers", len(h.leases("bob", "t2", "a.go").Numbers), 1)
		list := must(h.asPerson().LeaseList(t.Context(), c3po.LeaseListInput{}))(t).Leases
		if len(list) != 1 || list[0].Holder != "bob" {
			t.Errorf("listed are %+v", list)
		}
	})
}
