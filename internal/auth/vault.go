package auth

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth/passkey"
)

const (
	// vaultAge is how soon a passkey that another coordinator has added works here.
	vaultAge = time.Second
	// resetAfter is how long a person has to notice that somebody else wants their passkeys
	// forgotten.
	resetAfter = time.Hour
)

// The names under which the store keeps what is not of one passkey.
const (
	policyName = "policy"
	resetName  = "reset"
)

// A heldKey is a passkey as it is stored.
type heldKey struct {
	passkey.Key
	Name    string       `json:"name"`
	Created time.Time    `json:"created"`
	Removed bool         `json:"removed,omitempty"`
	By      *endorsement `json:"by,omitempty"` // who has added or removed it: nil for the first one
}

// An endorsement is a signed act. It proves which passkey agreed to it, whoever stored it.
type endorsement struct {
	Proof     string `json:"proof"`
	Act       string `json:"act"`
	Signature string `json:"signature"`
}

type heldPolicy struct {
	Policy c3po.ProofPolicy `json:"policy"`
}

type heldReset struct {
	At time.Time `json:"at"` // when it takes effect
}

// A vault is what this coordinator knows of passkeys. What it has once seen it does not
// give up because the store says something else: an agent of the same user can write there.
// Only a signature of a known passkey adds another or removes one.
type vault struct {
	mu     sync.Mutex
	read   time.Time // when the store was last asked; zero if never
	keys   map[string]heldKey
	policy c3po.ProofPolicy
	reset  time.Time // zero if none is under way
	// pages are where the dashboard is.
	pages passkey.Origins
}

// refresh reads what is stored unless that was done a moment ago.
func (v *vault) refresh(ctx context.Context, store Store, now time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now.Sub(v.read) < vaultAge {
		return nil
	}
	all, err := store.Passkeys(ctx)
	if err != nil {
		return err
	}
	first := v.read.IsZero()
	if first {
		v.keys = map[string]heldKey{}
	}
	v.read = now
	for name, text := range all {
		switch name {
		case policyName:
			var held heldPolicy
			if json.Unmarshal([]byte(text), &held) == nil {
				v.raise(held.Policy)
			}
		case resetName:
			var held heldReset
			if json.Unmarshal([]byte(text), &held) == nil {
				v.seeReset(held.At, first, now)
			}
		default:
			var held heldKey
			if json.Unmarshal([]byte(text), &held) == nil {
				v.see(name, held, first)
			}
		}
	}
	if !v.reset.IsZero() && !now.Before(v.reset) {
		return v.forget(ctx, store)
	}
	return nil
}

// forget ends all passkeys because a reset was not ended in time.
func (v *vault) forget(ctx context.Context, store Store) error {
	v.read = time.Time{}.Add(1) // asked again if a step fails, and not for the first time
	for id, held := range v.keys {
		held.Removed, held.By = true, nil
		if err := put(ctx, store, id, held); err != nil {
			return err
		}
	}
	if err := put(ctx, store, policyName, heldPolicy{c3po.ProofOff}); err != nil {
		return err
	}
	if err := put(ctx, store, resetName, heldReset{}); err != nil {
		return err
	}
	for id, held := range v.keys {
		held.Removed = true
		v.keys[id] = held
	}
	v.policy, v.reset = c3po.ProofOff, time.Time{}
	return nil
}

// put stores one of the texts that the vault reads.
func put(ctx context.Context, store Store, name string, held any) error {
	text, err := json.Marshal(held)
	if err != nil {
		return err
	}
	return store.PutPasskey(ctx, name, string(text))
}

// see takes up a passkey, or that it was removed, if that is proved or if nothing is known
// yet that could prove it.
func (v *vault) see(id string, held heldKey, first bool) {
	known, have := v.keys[id]
	switch {
	case first || !have && len(v.live()) == 0, !have && v.agreed(opAddPasskey, id, held):
		v.keys[id] = held
	case have && !known.Removed && held.Removed && v.agreed(opRemovePasskey, id, held):
		v.keys[id] = held
	}
}

// seeReset believes the store about a reset only as far as it leaves the person their time.
func (v *vault) seeReset(at time.Time, first bool, now time.Time) {
	switch {
	case at.IsZero():
		v.reset = time.Time{}
	case first || !v.reset.IsZero():
		if v.reset.IsZero() {
			v.reset = at
		}
	default:
		v.reset = now.Add(resetAfter)
	}
}

// agreed says that the holder of a known passkey has signed that this is done to a passkey.
func (v *vault) agreed(operation, id string, held heldKey) bool {
	by := held.By
	if by == nil {
		return false
	}
	var act c3po.Act
	var about struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Key  string `json:"key"`
	}
	if json.Unmarshal([]byte(by.Act), &act) != nil || json.Unmarshal(act.Arguments, &about) != nil {
		return false
	}
	if act.Operation != operation || about.ID != id || about.Name != held.Name {
		return false
	}
	if operation == opAddPasskey && (about.Key != fingerprint(held.Key) || keyName(held.ID) != id) {
		return false
	}
	_, err := passkey.Verify(v.pages, challenge(by.Proof, by.Act), []byte(by.Signature), v.publicKeys())
	return err == nil
}

func (v *vault) raise(policy c3po.ProofPolicy) {
	if policy.Strictness() > v.policy.Strictness() {
		v.policy = policy
	}
}

// live are the passkeys that work, oldest first.
func (v *vault) live() []heldKey {
	all := []heldKey{}
	for _, held := range v.keys {
		if !held.Removed {
			all = append(all, held)
		}
	}
	slices.SortFunc(all, func(a, b heldKey) int { return a.Created.Compare(b.Created) })
	return all
}

func (v *vault) publicKeys() []passkey.Key {
	keys := []passkey.Key{}
	for _, held := range v.live() {
		keys = append(keys, held.Key)
	}
	return keys
}

// demands says whether an act needs proof. What is done to passkeys needs it as soon as
// there is one, whatever the policy.
func (v *vault) demands(operation string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch operation {
	case opAddPasskey, opRemovePasskey, opProofPolicy:
		return len(v.live()) > 0
	}
	return v.policy.Demands(operation)
}
