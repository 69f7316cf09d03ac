package a2a_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/transport/a2a"
)

// in asks in a context of the caller's choice.
func in(context, id, text string) call {
	return send(fmt.Sprintf(`"messageId":%q,"contextId":%q,"parts":[{"text":%q}]`, id, context, text))
}

func TestACallerCannotSpendTheBudgetOfAnothersContext(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		mine := s.call(t, in("deploys", "m-1", "Which port?")).task(t)
		spent := false
		for i := range 2 * c3po.DefaultLimits().ChainMessages {
			pass(10 * time.Second) // slower than the rate allows
			theirs := in("deploys", fmt.Sprint("x-", i), fmt.Sprint("Question ", i))
			theirs.as = "crm"
			got := s.call(t, theirs)
			if spent = got.Error.Code != 0; spent {
				break
			}
			if shown := got.task(t); shown.ContextID != "deploys" {
				t.Fatalf("the other's context is called %s", shown.ContextID)
			}
		}
		if !spent {
			t.Error("the other's own context has no budget")
		}
		s.read(t, "api")
		s.reply(t, "api", c3po.MessageID(mine.ID), "8443")
		if got := s.call(t, get(mine.ID)).task(t); got.Status.State != "TASK_STATE_COMPLETED" || got.ContextID != "deploys" {
			t.Errorf("it is %+v", got)
		}
	})
}

func TestTheSameMessageIDOfTwoCallersIsTwoContexts(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		threads := map[string]bool{}
		for _, as := range []string{"bot", "crm"} {
			c := ask("1", "Hello from "+as)
			c.as = as
			if got := s.call(t, c).task(t); got.ContextID != "a2a-1" {
				t.Errorf("%s is in %s", as, got.ContextID)
			}
			threads[s.read(t, "api").Thread] = true
		}
		if len(threads) != 2 {
			t.Errorf("the threads are %v", threads)
		}
	})
}

func TestAContextIsListedByTheNameThatItsCallerGaveIt(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		for i, context := range []string{"deploys", "tests", "deploys"} {
			s.call(t, in(context, fmt.Sprint("m-", i), fmt.Sprint("Question ", i))).task(t)
		}
		if got := s.call(t, call{version: "1.0", method: "ListTasks", params: `{"contextId":"deploys"}`}).text; !strings.Contains(got, `"totalSize":2`) || strings.Contains(got, `"tests"`) {
			t.Errorf("the list is %s", got)
		}
	})
}

func TestATaskFromBeforeContextsWereSeparateKeepsItsContext(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		// As it was sent then: the context is the thread.
		old, err := s.as("bot").SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "Deploy?", Thread: "a2a-m-1", ClientKey: "a2a:m-1"})
		if err != nil {
			t.Fatal(err)
		}
		got := s.call(t, get(string(old.ID))).task(t)
		if got.ContextID != "a2a-m-1" || got.History[0].MessageID != "m-1" {
			t.Errorf("it is %+v", got)
		}
		more := send(fmt.Sprintf(`"messageId":"m-2","taskId":%q,"contextId":"a2a-m-1"`, got.ID))
		if again := s.call(t, more).task(t); again.ID != got.ID || s.read(t, "api").Thread != "a2a-m-1" {
			t.Errorf("it goes on as %+v", again)
		}
	})
}

// Such tokens share a name, and nothing else.
func TestTokensForSeveralNamesShareNeitherContextsNorIDs(t *testing.T) {
	t.Parallel()
	p := newTokens(t)
	p.register(t, "api")
	_, first := p.token(t, "x*")
	_, second := p.token(t, "x*")
	one, two := first(ask("1", "Deploy?")).task(t), second(ask("1", "Delete?")).task(t)
	if one.ID == two.ID || one.History[0].Parts[0].Text != "Deploy?" || two.History[0].Parts[0].Text != "Delete?" {
		t.Errorf("they are %+v and %+v", one, two)
	}
	if got := second(ask("1", "Deploy?")); got.Error.Message != "the messageId '1' was used for another message" {
		t.Errorf("another text under the same id: %s", got.text)
	}
	if again := first(ask("1", "Deploy?")).task(t); again.ID != one.ID {
		t.Errorf("the repeat is %s, not %s", again.ID, one.ID)
	}
	mail, err := p.as("api").GetMessages(t.Context(), c3po.GetMessagesInput{})
	if err != nil || len(mail.Messages) != 2 || mail.Messages[0].Thread == mail.Messages[1].Thread {
		t.Errorf("the agent got %+v, %v", mail.Messages, err)
	}
}

func TestARotatedTokenGoesOnWithItsContexts(t *testing.T) {
	t.Parallel()
	p := newTokens(t)
	p.register(t, "api")
	kid, before := p.token(t, "crm")
	one := before(in("deploys", "m-1", "Deploy?")).task(t)
	made, err := p.keeper.RotateToken(t.Context(), c3po.Caller{Space: c3po.DefaultSpace, Role: c3po.RoleAdmin}, kid)
	if err != nil {
		t.Fatal(err)
	}
	after := p.with(t, made.Secret)
	if again := after(in("deploys", "m-1", "Deploy?")).task(t); again.ID != one.ID {
		t.Errorf("the repeat is %s, not %s", again.ID, one.ID)
	}
	after(in("deploys", "m-2", "And now?")).task(t)
	mail, err := p.as("api").GetMessages(t.Context(), c3po.GetMessagesInput{})
	if err != nil || len(mail.Messages) != 2 || mail.Messages[0].Thread != mail.Messages[1].Thread {
		t.Errorf("the agent got %+v, %v", mail.Messages, err)
	}
}

// tokens is a stack on Redis whose callers show tokens.
type tokens struct {
	stack
	keeper *auth.Keeper
}

func newTokens(t *testing.T) tokens {
	t.Helper()
	store, err := redisstore.Open(t.Context(), redisstore.Config{URL: redistest.New(t).URL(), Limits: c3po.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	h, keeper := hub.New(hub.Config{Store: store}), auth.New(auth.Config{Store: store, Mode: auth.Tokens})
	return tokens{stack{a2a.New(a2a.Config{Hub: h, Auth: keeper}), h}, keeper}
}

// token makes a caller with a separate token for one agent.
func (p tokens) token(t *testing.T, pattern string) (kid string, as func(c call) answer) {
	t.Helper()
	made, err := p.keeper.Mint(t.Context(), auth.Grant{Role: c3po.RoleAgent, Spaces: []string{"main"}, Pattern: pattern})
	if err != nil {
		t.Fatal(err)
	}
	return made.KID, p.with(t, made.Secret)
}

// with makes a caller that shows a token.
func (p tokens) with(t *testing.T, secret string) func(c call) answer {
	return func(c call) answer {
		t.Helper()
		r := c.request(t.Context())
		r.Header.Del("X-Agent-ID")
		r.Header.Set("Authorization", "Bearer "+secret)
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		got := answer{text: w.Body.String()}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		return got
	}
}
