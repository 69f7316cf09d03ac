package hub_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// found are the excerpts of all pages.
func (h *testHub) found(words string, limit int) (all []string) {
	h.t.Helper()
	for cursor := ""; ; {
		page := must(h.asPerson().Search(h.t.Context(), c3po.SearchInput{Words: words, Cursor: cursor, Limit: limit}))(h.t)
		if len(page.Hits) > limit {
			h.t.Fatalf("%d hits on a page of %d", len(page.Hits), limit)
		}
		for _, hit := range page.Hits {
			all = append(all, hit.Excerpt)
		}
		if page.Next == "" {
			return all
		}
		cursor = page.Next
	}
}

func TestMessagesAreFoundByAllTheirWordsInAnyCaseNewestFirst(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("api", "docs")
	asked := h.send("api", "docs", "Which FIELDS does the Straße table have?\nThe second line.")
	h.reply("docs", asked.ID, "the fields id and name")
	must(h.as("api").RoomJoin(t.Context(), c3po.RoomJoinInput{Room: "build"}))(t)
	must(h.as("api").RoomPost(t.Context(), c3po.RoomPostInput{Room: "build", Message: "@docs fields are green"}))(t)
	h.send("docs", "api", "ΣΟΦΙΑ")
	for _, limit := range []int{1, 2, 100} {
		same(t, "all of them", h.found("fields", limit), []string{"@docs fields are green", "the fields id and name", "Which FIELDS does the Straße table have?"})
	}
	same(t, "every word", h.found("SECOND fields", 10), []string{"The second line."})
	same(t, "another script", h.found("σοφια", 10), []string{"ΣΟΦΙΑ"})
	same(t, "other letters", len(h.found("STRASS", 10)), 0)
	same(t, "no pattern", len(h.found(".*", 10)), 0)
	hit := must(h.asPerson().Search(t.Context(), c3po.SearchInput{Words: "second"}))(t).Hits[0]
	same(t, "which", hit.ID, asked.ID)
	same(t, "from", hit.FromAgent, c3po.AgentID("api"))
	same(t, "in the thread", hit.Thread, asked.Thread)
}

func TestMessagesOlderThanTheLogAreFoundToo(t *testing.T) {
	t.Parallel()
	h := build(t, func(l *c3po.Limits) { *l = l.Unbudgeted(); l.EventEntries = 20 })
	h.enter("api", "docs")
	var want []string
	for i := range 450 {
		text := fmt.Sprintf("needle %03d", i)
		h.send("api", "docs", text)
		want = append([]string{text}, want...)
	}
	for _, limit := range []int{7, 100} {
		got := map[string]int{}
		for _, text := range h.found("needle", limit) {
			got[text]++
		}
		for _, text := range want {
			if got[text] != 1 {
				t.Errorf("pages of %d: %q was found %d times", limit, text, got[text])
			}
		}
	}
}

func TestWhatIsForgottenOrOfAnotherSpaceIsNotFound(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { l.EndedLife = time.Hour })
		h.enter("api", "docs")
		sent := h.send("api", "docs", "a needle")
		other := h.As(c3po.Caller{Role: c3po.RoleHuman, Route: "rest", Space: "other"})
		same(t, "elsewhere", len(must(other.Search(t.Context(), c3po.SearchInput{Words: "needle"}))(t).Hits), 0)
		same(t, "here", len(h.found("needle", 10)), 1)
		must(h.as("api").Cancel(t.Context(), c3po.MessageInput{MessageID: sent.ID}))(t)
		pass(3 * time.Hour)
		same(t, "after its life", len(h.found("needle", 10)), 0)
	})
}

func TestAPrivateRoomIsSearchedForThePersonAlone(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("api")
	must(h.as("api").RoomJoin(t.Context(), c3po.RoomJoinInput{Room: "secret", Visibility: c3po.InviteOnly}))(t)
	must(h.as("api").RoomPost(t.Context(), c3po.RoomPostInput{Room: "secret", Message: "a needle"}))(t)
	same(t, "the person", len(h.found("needle", 10)), 1)
	observer := h.As(c3po.Caller{Role: c3po.RoleObserver, Route: "rest"})
	h.enter("docs")
	must(h.as("api").RoomInvite(t.Context(), c3po.RoomInviteInput{Room: "secret", Agent: "docs"}))(t)
	must(h.as("docs").RoomJoin(t.Context(), c3po.RoomJoinInput{Room: "secret"}))(t)
	must(h.as("api").RoomPost(t.Context(), c3po.RoomPostInput{Room: "secret", Message: "@docs another needle"}))(t)
	same(t, "the person finds a mention once", len(h.found("needle", 10)), 2)
	same(t, "an observer", len(must(observer.Search(t.Context(), c3po.SearchInput{Words: "needle"}))(t).Hits), 0)
}

func TestASearchThatMakesNoSenseIsRefused(t *testing.T) {
	t.Parallel()
	h := build(t)
	for name, in := range map[string]c3po.SearchInput{
		"nothing":         {Words: " \t"},
		"a book":          {Words: strings.Repeat("x", 10_000)},
		"too many words":  {Words: strings.Repeat("x ", 21)},
		"no text":         {Words: "\xff"},
		"a foreign place": {Words: "x", Cursor: "cTU"},
		"nonsense":        {Words: "x", Cursor: "!"},
		"a negative page": {Words: "x", Limit: -1},
	} {
		if _, err := h.asPerson().Search(t.Context(), in); !errors.Is(err, c3po.InvalidRequest) {
			t.Errorf("%s: %v, want %v", name, err, c3po.InvalidRequest)
		}
	}
}

// Nobody is given such a cursor; who makes one must not have the whole of numbers searched.
func TestASearchFromBeyondTheEndBeginsAtTheEnd(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("api", "docs")
	h.send("api", "docs", "a needle")
	beyond := base64.RawURLEncoding.EncodeToString([]byte("s4611686018427387904"))
	page := must(h.asPerson().Search(t.Context(), c3po.SearchInput{Words: "needle", Cursor: beyond}))(t)
	same(t, "hits", len(page.Hits), 1)
	same(t, "next", page.Next, "")
}

func TestALongLineIsCutAroundTheWord(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("api", "docs")
	h.send("api", "docs", strings.Repeat("ü", 1000)+" needle "+strings.Repeat("ß", 1000))
	excerpt := h.found("NEEDLE", 10)[0]
	if runes := []rune(excerpt); len(runes) > 162 || runes[0] != '…' || runes[len(runes)-1] != '…' || !strings.Contains(excerpt, "needle") {
		t.Errorf("it is shown as %q", excerpt)
	}
}
