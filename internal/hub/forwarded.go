package hub

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"

	"github.com/c3po-dev/c3po"
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

// Forwarded is the name for other systems of the chain that a message is of. It tells
// nothing of the chain. A chain that came from another system keeps its name.
func (a *Actor) Forwarded(ctx context.Context, m c3po.Message) (string, error) {
	entry, err := a.hub.store.Message(ctx, a.space, m.ID)
	if err != nil {
		return "", err
	}
	chain := m.Thread
	if entry != nil {
		chain = chainOf(*entry)
	}
	if forwardedForm.MatchString(chain) {
		return chain, nil
	}
	sum := sha256.Sum256([]byte(string(a.space) + "\x00" + cmp.Or(chain, string(m.ID))))
	return forwardedPrefix + hex.EncodeToString(sum[:16]), nil
}
