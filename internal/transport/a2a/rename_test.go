package a2a_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/a2a"
)

func (s stack) rename(t *testing.T, id c3po.AgentID, to string) {
	t.Helper()
	if _, err := s.as(id).Rename(t.Context(), c3po.RenameInput{NewID: to}); err != nil {
		t.Fatal(err)
	}
}

func TestATaskKeepsItsIDWhenItsAgentIsRenamed(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		id := s.call(t, ask("m-1", "Deploy?")).task(t).ID
		stream := httptest.NewRecorder()
		var streaming sync.WaitGroup
		streaming.Go(func() {
			s.ServeHTTP(stream, call{version: "1.0", method: "SubscribeToTask", params: get(id).params}.request(t.Context()))
		})
		synctest.Wait()
		s.rename(t, "api", "backend")
		renamed := strings.Replace(id, "::api::", "::backend::", 1)
		for _, target := range []string{"api", "backend", "-"} {
			for _, asked := range []string{id, renamed} {
				c := get(asked)
				c.target = target
				if got := s.call(t, c).task(t); got.ID != id {
					t.Errorf("at %s %s is %s", target, asked, got.ID)
				}
			}
			list := s.call(t, call{version: "1.0", target: target, method: "ListTasks", params: "{}"}).text
			if !strings.Contains(list, `"id":"`+id+`"`) || strings.Contains(list, renamed) {
				t.Errorf("at %s the list is %s", target, list)
			}
		}
		again := ask("m-1", "Deploy?")
		again.target = "backend"
		if got := s.call(t, again).task(t); got.ID != id {
			t.Errorf("the repeat is %s", got.ID)
		}
		s.reply(t, "backend", s.read(t, "backend").ID, "Done.")
		streaming.Wait()
		if text := stream.Body.String(); strings.Contains(text, renamed) || !strings.Contains(text, "TASK_STATE_COMPLETED") {
			t.Errorf("the stream is %s", text)
		}
	})
}

func TestWhoIsAskedUnderAFormerNameHasACardUnderIt(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		s.rename(t, "api", "backend")
		s.call(t, ask("m-1", "Deploy?")).task(t)
		card := httptest.NewRecorder()
		s.ServeHTTP(card, httptest.NewRequest(http.MethodGet, a2a.Prefix+"api"+a2a.WellKnown, nil))
		if card.Code != http.StatusOK || !strings.Contains(card.Body.String(), `"name":"backend"`) {
			t.Errorf("the card is %d %s", card.Code, card.Body)
		}
	})
}

func TestATaskIsNotShownAtAnotherAgent(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		s.register(t, "web")
		id := s.call(t, ask("m-1", "Deploy?")).task(t).ID
		for _, c := range []call{
			{target: "web", params: fmt.Sprintf(`{"id":%q}`, id)},
			{target: "nobody", params: fmt.Sprintf(`{"id":%q}`, id)},
			{target: "-", params: fmt.Sprintf(`{"id":%q,"tenant":"web"}`, id)},
		} {
			for _, c.method = range []string{"GetTask", "CancelTask", "SubscribeToTask"} {
				c.version = "1.0"
				if got := s.call(t, c); got.Error.Code != -32001 {
					t.Errorf("%s at %s with %s: %s", c.method, c.target, c.params, got.text)
				}
			}
		}
		here := call{version: "1.0", target: "-", method: "GetTask", params: fmt.Sprintf(`{"id":%q,"tenant":"api"}`, id)}
		if got := s.call(t, here).task(t); got.Status.State != "TASK_STATE_SUBMITTED" {
			t.Errorf("it is %+v", got)
		}
	})
}

func TestAPageGoesOnAlthoughItsLastTaskHasChanged(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		var ids []string
		for i := range 4 {
			ids = append(ids, s.call(t, ask(fmt.Sprintf("m-%d", i), fmt.Sprintf("Question %d", i))).task(t).ID)
			pass(c3po.DefaultLimits().OnlineWindow)
		}
		list := func(params string) answer {
			return s.call(t, call{version: "1.0", method: "ListTasks", params: params})
		}
		_, token, _ := strings.Cut(list(`{"pageSize":2}`).text, `"nextPageToken":"`)
		token, _, _ = strings.Cut(token, `"`)
		s.reply(t, "api", c3po.MessageID(ids[2]), "Done.") // the last of the first page
		rest := list(fmt.Sprintf(`{"pageSize":2,"pageToken":%q}`, token)).text
		if !strings.Contains(rest, ids[0]) || !strings.Contains(rest, ids[1]) || strings.Contains(rest, ids[2]) || strings.Contains(rest, ids[3]) {
			t.Errorf("the second page is %s", rest)
		}
		if got := list(`{"pageToken":"!"}`); got.Error.Code != -32602 {
			t.Errorf("a token that is none: %s", got.text)
		}
	})
}
