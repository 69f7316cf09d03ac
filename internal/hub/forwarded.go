package hub

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// ForwardedChain is the name in a message's metadata under which a coordinator that asks
// an agent of another system says which chain it goes on. If that system is a coordinator
// too, perhaps this one, a loop through both stays one chain there and spends its budget.
const ForwardedChain = "c3po_chain"

const forwardedPrefix = "c3po-"

var forwardedForm = regexp.MustCompile(`^` + forwardedPrefix + `[0-9a-f]{32}$`)

// ForwardedIn is the chain that metadata names; empty if it names none. Anybody can write
// one, and gains nothing: what goes on a chain is charged to it.
func ForwardedIn(metadata json.RawMessage) string {
	var all map[string]json.RawMessage
	var name string
	if json.Unmarshal(metadata, &all) != nil || json.Unmarshal(all[ForwardedChain], &name) != nil || !forwardedForm.MatchString(name) {
		return ""
	}
	return name
}

// A Forwarding is what the coordinator that asks an agent of another system knows of a
// message to it, beside what the message says.
type Forwarding struct {
	Chain    string          // its name for other systems
	Trace    string          // its traceparent; empty if nothing is traced
	Accepted time.Time       // when it was stored
	Received bool            // the other system has had it
	Before   json.RawMessage // the metadata of what the agent said before: what this answers, or the last in the thread
}

// Forwarding is how a message to the caller, an agent of another system, goes there.
func (a *Actor) Forwarding(ctx context.Context, m c3po.Message) (Forwarding, error) {
	entry, err := a.hub.store.Message(ctx, a.space, m.ID)
	if err != nil {
		return Forwarding{}, err
	}
	way := Forwarding{Chain: a.forwardedName(m.Thread, m.ID), Accepted: m.Timestamp}
	if entry != nil {
		way.Chain, way.Accepted, way.Received = a.forwardedName(chainOf(*entry), m.ID), entry.Facts.Accepted, entry.Facts.Received != nil
		if a.hub.ended != nil {
			place, err := placing{a.spaceHub, map[c3po.MessageID]*store.Entry{}}.of(ctx, *entry)
			if err != nil {
				return Forwarding{}, err
			}
			way.Trace = place.Parent()
		}
	}
	way.Before, err = a.saidBefore(ctx, m)
	return way, err
}

// forwardedName is the name for other systems of a chain. It tells nothing of the chain. A
// chain that came from another system keeps its name.
func (a *Actor) forwardedName(chain string, id c3po.MessageID) string {
	if forwardedForm.MatchString(chain) {
		return chain
	}
	sum := sha256.Sum256([]byte(string(a.space) + "\x00" + cmp.Or(chain, string(id))))
	return forwardedPrefix + hex.EncodeToString(sum[:16])
}

// saidBefore is the metadata of what the caller has said to a message's sender before it.
// What it said to others in the same thread is theirs.
func (a *Actor) saidBefore(ctx context.Context, m c3po.Message) (json.RawMessage, error) {
	if m.Kind == c3po.KindReply {
		answered, err := a.hub.store.Message(ctx, a.space, m.MessageID)
		if err != nil || answered == nil || answered.Message.FromAgent != a.caller.ID {
			return nil, err
		}
		return answered.Message.Metadata, nil
	}
	var last json.RawMessage
	for after := int64(0); ; {
		entries, err := a.hub.store.Thread(ctx, a.space, m.Thread, after, a.hub.limits.PageItems)
		if err != nil || len(entries) == 0 {
			return last, err
		}
		for _, entry := range entries {
			if said := entry.Message; said.FromAgent == a.caller.ID && said.ToAgent == m.FromAgent && said.Seq < m.Seq {
				last = said.Metadata
			}
			after = entry.Message.Seq
		}
	}
}

// NoteRemotes says which agents of the default space belong to other systems. Coordinators
// attach to their mailboxes, which makes them look online.
func (h *Hub) NoteRemotes(ids []c3po.AgentID) { h.forwarded.Store(&ids) }
