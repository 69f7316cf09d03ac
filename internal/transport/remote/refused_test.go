package remote_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

// The coordinator serves it under the name it was added with, so that mail to another one
// would wait for ever.
func TestNobodyRenamesARemote(t *testing.T) {
	t.Parallel()
	f := newForeign(t, "1.0", func(string, int) (int, string) { return 200, result(`{"task":` + completed + `}`) })
	s := newSite(t)
	s.run()
	s.add(f.URL, "")
	for _, role := range []c3po.Role{c3po.RoleAgent, c3po.RoleAdmin} {
		_, err := s.hub.As(c3po.Caller{Space: c3po.DefaultSpace, ID: "billing", Role: role}).Rename(t.Context(), c3po.RenameInput{NewID: "invoices"})
		if !errors.Is(err, c3po.Forbidden) || !strings.Contains(c3po.AsError(err).Suggestion, "removing it and adding it again") {
			t.Errorf("%s renames it: %v", role, err)
		}
	}
	if got := s.ask("order 7"); got.Response != "Invoice 7" {
		t.Errorf("the answer is %+v", got)
	}
}

func TestARefusedRemoteLeavesNoToken(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	added := s.add("http://x", "")
	follow := s.keeper.FollowRemotes()
	if _, err := follow.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.tryAdd("http://x", "billing", ""); !errors.Is(err, c3po.InvalidRequest) {
		t.Fatalf("adding it twice is answered with %v", err)
	}
	tokens, err := s.keeper.Tokens(t.Context(), s.admin())
	if err != nil || len(tokens) != 1 || tokens[0].KID != added.KID {
		t.Errorf("the tokens are %+v, %v", tokens, err)
	}
	there, err := follow.List(t.Context())
	if err != nil || len(there) != 1 || there[added.KID].Agent != "billing" || len(follow.Ended()) != 0 {
		t.Errorf("those that follow them see %v, %v", there, err)
	}
}
