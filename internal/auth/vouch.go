package auth

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/c3po-dev/c3po/c3po"
)

// vouchedKept is how many signatures are remembered as checked. More are checked again.
const vouchedKept = 4096

// vouchedActs are signatures that were checked: what a passkey has signed stays signed. Whether the
// passkey still works is asked each time.
type vouchedActs struct {
	mu       sync.Mutex
	acts     map[string]vouchedAct
	withheld map[c3po.MessageID]bool // that was written down
}

type vouchedAct struct {
	act c3po.Act
	key string // the passkey's id
}

func (v *vouchedActs) find(id string) (vouchedAct, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	one, ok := v.acts[id]
	return one, ok
}

func (v *vouchedActs) keep(id string, one vouchedAct) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.acts == nil || len(v.acts) >= vouchedKept {
		v.acts = map[string]vouchedAct{}
	}
	v.acts[id] = one
}

// first says that a message was not withheld before, as far as is known.
func (v *vouchedActs) first(id c3po.MessageID) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.withheld[id] {
		return false
	}
	if v.withheld == nil || len(v.withheld) >= vouchedKept {
		v.withheld = map[c3po.MessageID]bool{}
	}
	v.withheld[id] = true
	return true
}

// Signed gives the act that a passkey which works now has signed under the number of a proof, and
// the proof with that passkey's name. Nothing that the store says of it is believed: not the name,
// and not when it was, unless the signed number agrees. Without passkeys it asks nobody.
func (k *Keeper) Signed(ctx context.Context, claimed c3po.Proof) (c3po.Act, c3po.Proof, bool, error) {
	none := func(err error) (c3po.Act, c3po.Proof, bool, error) { return c3po.Act{}, c3po.Proof{}, false, err }
	if k.mode == None || !isRecent(claimed.ID, claimed.At) {
		return none(nil)
	}
	if err := k.vault.refresh(ctx, k.store, k.now()); err != nil {
		return none(err)
	}
	if !k.vault.any() {
		return none(nil)
	}
	one, ok := k.vouched.find(claimed.ID)
	if !ok {
		record, stored, err := k.store.Proof(ctx, claimed.ID)
		if err != nil || !stored || record.Signature == "" {
			return none(err)
		}
		held, err := k.verify(record)
		if err != nil || json.Unmarshal([]byte(record.Act), &one.act) != nil {
			return none(nil)
		}
		one.key = keyName(held.ID)
		k.vouched.keep(claimed.ID, one)
	}
	name, works := k.vault.nameOf(one.key)
	if !works {
		return none(nil)
	}
	return one.act, c3po.Proof{ID: claimed.ID, Passkey: name, At: claimed.At}, true, nil
}

// Withheld writes down, once, that a message in the person's name was given to nobody.
func (k *Keeper) Withheld(ctx context.Context, space c3po.Space, id c3po.MessageID) {
	if !k.vouched.first(id) || !k.failures.allow(k.now(), maxFailuresPerSecond) {
		return
	}
	_, to, _ := id.Split()
	k.Record(context.WithoutCancel(ctx), AuditEntry{
		Event: EventProofRefused, Space: string(space), Agent: string(to), Detail: "withheld, as no passkey has signed it: " + clip(string(id)),
	})
}

// any says that there is a passkey that works.
func (v *vault) any() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.live()) > 0
}

// nameOf is the name of a passkey that works.
func (v *vault) nameOf(id string) (string, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	held, ok := v.keys[id]
	return held.Name, ok && !held.Removed
}
