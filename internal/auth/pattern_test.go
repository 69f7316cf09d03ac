package auth_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/testkit/seed"
)

// reference is what a pattern means, said as plainly as possible: a * is nothing,
// or any character but the slash and then a * again.
func reference(pattern, id string) bool {
	switch {
	case pattern == "":
		return id == ""
	case pattern[0] == '*':
		return reference(pattern[1:], id) || id != "" && id[0] != '/' && reference(pattern, id[1:])
	default:
		return id != "" && id[0] == pattern[0] && reference(pattern[1:], id[1:])
	}
}

// random makes a text of few letters, so that many pairs match.
func random(r *rand.Rand, letters string, most int) string {
	var text strings.Builder
	for range 1 + r.IntN(most) {
		text.WriteByte(letters[r.IntN(len(letters))])
	}
	return text.String()
}

func TestAPatternCoversWhatTheReferenceSays(t *testing.T) {
	t.Parallel()
	const pairs = 100_000
	r := seed.Rand(t, 1)
	matched := 0
	for range pairs {
		pattern, id := random(r, "ab**", 6), random(r, "ab", 6)
		if r.IntN(2) == 0 {
			pattern += "/" + random(r, "ab**", 6)
		}
		if r.IntN(2) == 0 {
			id += "/" + random(r, "ab", 6)
		}
		want := reference(pattern, id)
		if got := c3po.Pattern(pattern).Covers(c3po.AgentID(id)); got != want {
			t.Fatalf("Covers(%q, %q) = %v, the reference says %v", pattern, id, got, want)
		}
		if want {
			matched++
		}
	}
	if matched < pairs/20 || matched > pairs-pairs/20 {
		t.Errorf("%d of %d pairs match: the test has become one-sided", matched, pairs)
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("box/*", "box/api")
	f.Add("*", "box/api")
	f.Add("a*b*c", "aXbXc")
	f.Add("**", "a")
	f.Add("box/", "box/")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		id, err := c3po.ParseAgentID(text)
		if err != nil || strings.Count(pattern, "/") > 1 || len(pattern)+len(id) > 30 {
			return
		}
		if got, want := c3po.Pattern(pattern).Covers(id), reference(pattern, string(id)); got != want {
			t.Errorf("Covers(%q, %q) = %v, the reference says %v", pattern, id, got, want)
		}
	})
}

func TestAPatternThatIsMeantToBeSlowIsNot(t *testing.T) {
	t.Parallel()
	// A matcher that goes back to every star would not come back from this.
	pattern, id := strings.Repeat("*a", 30)+"b", strings.Repeat("a", 64)
	if c3po.Pattern(pattern).Covers(c3po.AgentID(id)) {
		t.Error("it covers what it does not")
	}
}

func TestARunnerHandsOutNoMoreThanItHas(t *testing.T) {
	t.Parallel()
	k, store := newKeeper(t)
	runner := mint(t, k, auth.Grant{Role: c3po.RoleRunner, Spaces: []string{"main", "repo-*"}, Pattern: "box/*"})
	for _, test := range []struct {
		in   c3po.TokenInput
		want error
	}{
		{c3po.TokenInput{Role: c3po.RoleAgent, Agents: "box/api"}, nil},
		{c3po.TokenInput{Role: c3po.RoleAgent, Agents: "box/api*", Spaces: []string{"repo-1"}}, nil},
		{c3po.TokenInput{Role: c3po.RoleAgent, Agents: "box/*", Spaces: []string{"repo-*"}}, nil},
		{c3po.TokenInput{Role: c3po.RoleAgent, Agents: "*/api"}, c3po.Forbidden},
		{c3po.TokenInput{Role: c3po.RoleAgent, Agents: "*"}, c3po.Forbidden},
		{c3po.TokenInput{Role: c3po.RoleAgent, Agents: "other/api"}, c3po.Forbidden},
		{c3po.TokenInput{Role: c3po.RoleAgent, Agents: "box/api", Spaces: []string{"team"}}, c3po.Forbidden},
		{c3po.TokenInput{Role: c3po.RoleAgent, Agents: "box/api", Spaces: []string{"*"}}, c3po.Forbidden},
		{c3po.TokenInput{Role: c3po.RoleRunner, Agents: "box/*"}, c3po.Forbidden},
		{c3po.TokenInput{Role: c3po.RoleHuman}, c3po.Forbidden},
		{c3po.TokenInput{Role: c3po.RoleAdmin}, c3po.Forbidden},
		{c3po.TokenInput{Role: c3po.RoleAgent}, c3po.InvalidRequest},
		{c3po.TokenInput{Role: c3po.RoleAgent, Agents: "a/b/c"}, c3po.InvalidRequest},
		{c3po.TokenInput{Role: "god"}, c3po.InvalidRequest},
	} {
		caller, ctx, release, err := k.Caller(bearing(runner), "rest")
		if err != nil {
			t.Fatal(err)
		}
		made, err := k.CreateToken(ctx, caller, test.in)
		release()
		if !errors.Is(err, test.want) {
			t.Errorf("%+v: %v, want %v", test.in, err, test.want)
		}
		if _, found, err := store.Grant(t.Context(), made.KID); err != nil || found != (test.want == nil) {
			t.Errorf("%+v: the grant is there: %v, %v", test.in, found, err)
		}
	}
}
