package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// An account is what a chain, a pair or an agent has sent in its hour.
type account struct {
	start    time.Time
	messages int
	bytes    int
	hops     int
	untold   bool
	question c3po.MessageID
	handlers []c3po.AgentID
	texts    []sentText
	same     int       // of the message that is reckoned: how often its text was sent, with this
	tokens   int64     // of the message that is reckoned: what its chain has used this hour
	listed   time.Time // since when it is on the list of what can be forgotten
}

type sentText struct {
	digest string
	at     time.Time
}

func (a *account) spent() bool { return a.untold || a.question != "" }

func isChain(name string) bool { return name[:2] == "t:" }

// account gives a copy as it stands now: its hour may be over.
func (sp *space) account(name string, now time.Time) account {
	known := sp.accounts[name]
	if known == nil {
		return account{start: now}
	}
	a := *known
	a.same, a.tokens = 0, 0
	paused := isChain(name) && a.spent()
	if !paused && (a.start.After(now) || now.Sub(a.start) >= time.Hour) {
		a.start, a.messages, a.bytes, a.untold, a.question = now, 0, 0, false, ""
	}
	return a
}

// A bill is the accounts a message is charged to, as they will be.
type bill map[string]account

// reckon makes the bill of a message, or says what is spent.
func (sp *space) reckon(d store.Draft, chain, digest string, now time.Time) (bill, *store.Spent) {
	l := sp.limits
	limited := l.ChainMessages+l.ChainBytes+l.ChainHops+l.PairMessages+l.PairBytes+l.AgentMessages+l.AgentBytes+l.SameTexts+l.ChainTokens > 0
	if !limited || d.From == c3po.System || d.To == c3po.Human {
		return nil, nil
	}
	chainName := "t:" + chain
	if d.From == c3po.Human {
		if chain == "" || sp.accounts[chainName] == nil {
			return nil, nil
		}
		a := sp.account(chainName, now)
		a.hops, a.messages, a.bytes = 0, 0, 0
		if !a.spent() {
			a.start = now
		}
		return bill{chainName: a}, nil
	}
	pairName, agentName := "p:"+string(min(d.From, d.To))+" "+string(max(d.From, d.To)), "a:"+string(d.From)
	c, p, a := account{start: now}, sp.account(pairName, now), sp.account(agentName, now)
	if chain != "" {
		c = sp.account(chainName, now)
		if cost := sp.costs[chain]; cost != nil && l.ChainTokens > 0 && cost.hour.Equal(c.start) {
			c.tokens = cost.tokens
		}
	}
	over := func(used, most int) bool { return most > 0 && used > most }
	spent := func(whose, what, name string, acc account) (bill, *store.Spent) {
		if !acc.spent() {
			acc.untold, acc.listed = true, now
			sp.accounts[name] = &acc
		}
		return nil, &store.Spent{Whose: whose, What: what, Account: name, Untold: acc.untold, Question: acc.question, Since: acc.start, Handlers: slices.Clone(c.handlers)}
	}
	switch {
	case c.spent():
		return spent(store.SpentChain, "paused", chainName, c)
	case chain != "" && over(c.messages+1, l.ChainMessages):
		return spent(store.SpentChain, "messages", chainName, c)
	case chain != "" && over(c.bytes+d.Bytes(), l.ChainBytes):
		return spent(store.SpentChain, "bytes", chainName, c)
	case chain != "" && over(c.hops+1, l.ChainHops):
		return spent(store.SpentChain, "hops", chainName, c)
	case over(p.messages+1, l.PairMessages):
		return spent(store.SpentPair, "messages", pairName, p)
	case over(p.bytes+d.Bytes(), l.PairBytes):
		return spent(store.SpentPair, "bytes", pairName, p)
	case over(a.messages+1, l.AgentMessages):
		return spent(store.SpentAgent, "messages", agentName, a)
	case over(a.bytes+d.Bytes(), l.AgentBytes):
		return spent(store.SpentAgent, "bytes", agentName, a)
	}
	if digest != "" && l.SameTexts > 0 {
		before := 0
		var kept []sentText
		for _, text := range p.texts {
			if !text.at.After(now) && now.Sub(text.at) < l.SameTextWindow {
				kept = append(kept, text)
				if text.digest == digest {
					before++
				}
			}
		}
		if before >= l.SameTexts {
			return nil, &store.Spent{Whose: store.SpentText, What: "repeated"}
		}
		p.texts, p.same = lastOf(append(kept, sentText{digest, now})), before+1
	}
	for _, acc := range []*account{&c, &p, &a} {
		acc.messages, acc.bytes = acc.messages+1, acc.bytes+d.Bytes()
	}
	c.hops, c.handlers = c.hops+1, lastOf(append(slices.Clone(c.handlers), d.From))
	return bill{chainName: c, pairName: p, agentName: a}, nil
}

// forgetTexts lets the pair say the same again.
func (b bill) forgetTexts() {
	for name, a := range b {
		if name[:2] == "p:" {
			a.texts = nil
			b[name] = a
		}
	}
}

// spending is what the accounts have used with this message.
func (b bill) spending() store.Spending {
	var s store.Spending
	for name, a := range b {
		switch name[:2] {
		case "t:":
			s.ChainMessages, s.ChainBytes, s.ChainHops, s.ChainTokens = a.messages, a.bytes, a.hops, a.tokens
		case "p:":
			s.PairMessages, s.PairBytes, s.SameTexts = a.messages, a.bytes, a.same
		case "a:":
			s.AgentMessages, s.AgentBytes = a.messages, a.bytes
		}
	}
	return s
}

// lastOf keeps the last few.
func lastOf[T any](all []T) []T { return all[max(0, len(all)-8):] }

// charge writes a bill down; id names the chain of a message that began one. Accounts of
// pairs and agents are listed once an hour: nothing of them counts that is older.
func (sp *space) charge(b bill, id c3po.MessageID, now time.Time) {
	for name, a := range b {
		if name == "t:" {
			name += string(id)
		}
		if !a.spent() && (isChain(name) || a.start.Equal(now) || sp.limits.SameTextWindow > time.Hour) {
			a.listed = now
		}
		sp.accounts[name] = &a
	}
}

// Told implements store.Store.
func (m *Model) Told(_ context.Context, name c3po.Space, account string, question c3po.MessageID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a := m.space(name).accounts[account]; a != nil && a.untold {
		a.untold, a.question = false, question
	}
	return nil
}

// ResumeChain implements store.Store.
func (m *Model) ResumeChain(_ context.Context, name c3po.Space, chain string) (store.Resumed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp, now := m.space(name), m.now()
	a := sp.accounts["t:"+chain]
	if a == nil || !a.spent() {
		return store.Resumed{}, nil
	}
	out := store.Resumed{Done: true, Question: a.question}
	if msg := sp.messages[a.question]; sp.ownership(a.question, c3po.Human) == store.AckAlready && msg.state == c3po.StatePending {
		sp.ack(msg, now)
		out.Acked = true
	}
	sp.accounts["t:"+chain] = &account{start: now, listed: now, handlers: a.handlers}
	return out, nil
}

// unused is which accounts and costs of chains (c:CHAIN) can be forgotten: those that
// are on the list for longest first, and of one age by their names.
func (sp *space) unused(now time.Time) []string {
	since := map[string]time.Time{}
	for name, a := range sp.accounts {
		if !isChain(name) || !a.spent() {
			since[name] = a.listed
		}
	}
	for chain, cost := range sp.costs {
		since["c:"+chain] = cost.told.Add(store.CostLife - store.FlowIdle)
	}
	maps.DeleteFunc(since, func(_ string, at time.Time) bool { return now.Sub(at) < store.FlowIdle })
	return slices.SortedFunc(maps.Keys(since), func(x, y string) int {
		return cmp.Or(since[x].Compare(since[y]), cmp.Compare(x, y))
	})
}

func (sp *space) trimAccounts(limit int, now time.Time) {
	names := sp.unused(now)
	for _, name := range names[:min(limit, len(names))] {
		delete(sp.accounts, name)
		if chain, isCost := strings.CutPrefix(name, "c:"); isCost {
			delete(sp.costs, chain)
		}
	}
}
