package hub

import (
	"context"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/node"
	"github.com/c3po-dev/c3po/internal/store"
)

// accountHour is how long what a token has used counts.
const accountHour = time.Hour

// accounts hold tokens to their budgets, whatever names their holders use. They
// count on this coordinator alone and in memory, so that a send costs the store
// nothing more: several coordinators allow a token so much each.
type accounts struct {
	limits c3po.Limits
	mu     sync.Mutex
	open   map[string]*tokenAccount
}

// A tokenAccount is what one token has used in the hour that began at since, and
// what it holds open.
type tokenAccount struct {
	since          time.Time
	used           spend
	waits, streams int
}

// A spend is what a call uses of a token's budgets.
type spend struct {
	agents, messages, bytes, questions int
}

func (s spend) plus(o spend) spend {
	return spend{s.agents + o.agents, s.messages + o.messages, s.bytes + o.bytes, s.questions + o.questions}
}

func (s spend) minus(o spend) spend {
	return s.plus(spend{-o.agents, -o.messages, -o.bytes, -o.questions})
}

func newAccounts(limits c3po.Limits) *accounts {
	return &accounts{limits: limits, open: map[string]*tokenAccount{}}
}

// of is called with the lock held. It also forgets accounts that nobody uses.
func (b *accounts) of(name string, now time.Time) *tokenAccount {
	account, ok := b.open[name]
	if !ok {
		for other, a := range b.open {
			if now.Sub(a.since) >= accountHour && a.waits == 0 && a.streams == 0 {
				delete(b.open, other)
			}
		}
		account = &tokenAccount{since: now}
		b.open[name] = account
	}
	if now.Sub(account.since) >= accountHour {
		account.since, account.used = now, spend{}
	}
	return account
}

// take books what a call is about to use, or refuses it. Undo takes it off the
// books again, for a call that came to nothing.
func (b *accounts) take(name string, s spend) (undo func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	account := b.of(name, time.Now())
	for _, budget := range []struct {
		asked, used, most int
		what              string
	}{
		{s.agents, account.used.agents, b.limits.TokenAgents, "new agents"},
		{s.questions, account.used.questions, b.limits.TokenQuestions, "messages to the person"},
		{s.messages, account.used.messages, b.limits.TokenMessages, "messages"},
		{s.bytes, account.used.bytes, b.limits.TokenBytes, "bytes"},
	} {
		if budget.asked > 0 && budget.most > 0 && budget.used+budget.asked > budget.most {
			return nil, refuseToken(budget.what, budget.most, accountHour-time.Since(account.since))
		}
	}
	account.used = account.used.plus(s)
	since := account.since
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if account.since.Equal(since) {
			account.used = account.used.minus(s)
		}
	}, nil
}

// hold counts a wait, or a stream, of a token until release is called.
func (b *accounts) hold(name string, stream bool) (release func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	account := b.of(name, time.Now())
	count, most, what := &account.waits, b.limits.TokenWaits, "waits"
	if stream {
		count, most, what = &account.streams, b.limits.TokenStreams, "streams of events"
	}
	if most > 0 && *count >= most {
		return nil, node.RefuseCrowd(what+" of this token", most)
	}
	*count++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		*count--
	}, nil
}

// refuseToken is BUDGET_SPENT for a token whose holders have used an hour's budget,
// under whatever names.
func refuseToken(what string, most int, left time.Duration) *c3po.Error {
	minutes := max(1, int((left+time.Minute-1)/time.Minute))
	return c3po.Errorf(c3po.BudgetSpent, "the agents of this token have used their %d %s an hour", most, what).
		Suggest("This call stored nothing. Try again in %d min; other names of the same token share this budget.", minutes)
}

// paying makes a call that stores something and has the caller's token pay for it,
// unless it fails or is a repeat. A repeat gets through also when the budget is
// spent: what was stored once is never said to be refused.
func paying[T any](me *identity, s spend, call func(refusal error) (T, error), repeat func(T) bool) (T, error) {
	undo, refusal := me.hub.accounts.take(me.caller.Account, s)
	out, err := call(refusal)
	if refusal == nil && (err != nil || repeat(out)) {
		undo()
	}
	return out, err
}

// payingForMessage is paying for a message that the caller writes.
func (me *identity) payingForMessage(d store.Draft, call func(refusal error) (store.Stored, error)) (store.Stored, error) {
	s := spend{messages: 1, bytes: d.Bytes()}
	if d.To == c3po.Human && d.Kind != c3po.KindReply {
		s.questions = 1
	}
	return paying(me, s, call, func(stored store.Stored) bool { return stored.Repeat })
}

// payForAgent is what register does first. It books a new agent; settle keeps that
// only if one was made. A token that has made all it may still finds those there are.
func (me *identity) payForAgent(ctx context.Context) (settle func(made bool), err error) {
	undo, err := me.hub.accounts.take(me.caller.Account, spend{agents: 1})
	if err == nil {
		return func(made bool) {
			if !made {
				undo()
			}
		}, nil
	}
	records, lookup := me.hub.store.Agents(ctx, me.space, []c3po.AgentID{me.caller.ID})
	if lookup != nil {
		return nil, lookup
	}
	if len(records) == 1 && (me.caller.Run == "" || records[0].Run == me.caller.Run || !records[0].Online) {
		return func(bool) {}, nil
	}
	if held, lookup := me.findOwnAgent(ctx); lookup != nil || held != nil {
		return func(bool) {}, lookup
	}
	return nil, err
}
