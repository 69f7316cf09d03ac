package auth

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth/passkey"
	"github.com/c3po-dev/c3po/internal/testkit/authenticator"
)

// scribbled is a store in which somebody writes what they like. Nothing else of it is used.
type scribbled struct {
	Store
	texts map[string]string
}

func (s scribbled) Passkeys(context.Context) (map[string]string, error) { return s.texts, nil }

func (s scribbled) write(t *testing.T, name string, held any) {
	t.Helper()
	text, err := json.Marshal(held)
	if err != nil {
		t.Fatal(err)
	}
	s.texts[name] = string(text)
}

func heldOf(key *authenticator.Authenticator) heldKey {
	return heldKey{Key: passkey.Key{ID: key.ID, Public: key.Public(), Site: "localhost"}, Name: "key"}
}

func TestWhatIsWrittenIntoTheStoreByHandChangesNoPasskey(t *testing.T) {
	t.Parallel()
	const page = "http://localhost:8420"
	mine, forged := authenticator.New(), authenticator.New()
	store, v, now := scribbled{texts: map[string]string{}}, vault{pages: passkey.Origins{page}}, time.Now()
	store.write(t, keyName(mine.ID), heldOf(mine))
	store.write(t, policyName, heldPolicy{c3po.ProofDecisions})
	look := func() {
		t.Helper()
		now = now.Add(2 * vaultAge)
		if err := v.refresh(t.Context(), store, now); err != nil {
			t.Fatal(err)
		}
		if live := v.live(); len(live) != 1 || string(live[0].ID) != string(mine.ID) || v.policy != c3po.ProofDecisions {
			t.Fatalf("the passkeys are %+v under the policy %q", live, v.policy)
		}
	}
	look()

	store.write(t, keyName(forged.ID), heldOf(forged))
	look()
	act := `{"operation":"passkey_add","space":"main","arguments":{"id":"` + keyName(forged.ID) + `"}}`
	self := heldOf(forged)
	self.By = &endorsement{Proof: "p", Act: act, Signature: string(forged.Sign(keyName(challenge("p", act)), "localhost", page))}
	store.write(t, keyName(forged.ID), self)
	look()
	other := `{"operation":"passkey_add","space":"main","arguments":{"id":"other"}}`
	self.By = &endorsement{Proof: "p", Act: other, Signature: string(mine.Sign(keyName(challenge("p", other)), "localhost", page))}
	store.write(t, keyName(forged.ID), self)
	look()

	gone := heldOf(mine)
	gone.Removed = true
	store.write(t, keyName(mine.ID), gone)
	look()
	delete(store.texts, keyName(mine.ID))
	look()
	store.write(t, policyName, heldPolicy{c3po.ProofOff})
	look()
	store.write(t, resetName, heldReset{At: now.Add(-time.Hour)})
	look()
}

func TestAPasskeyThatAnotherCoordinatorAddedCountsIfAKnownOneSignedForIt(t *testing.T) {
	t.Parallel()
	const page = "http://localhost:8420"
	first, second := authenticator.New(), authenticator.New()
	store, v, now := scribbled{texts: map[string]string{}}, vault{pages: passkey.Origins{page}}, time.Now()
	store.write(t, keyName(first.ID), heldOf(first))
	if err := v.refresh(t.Context(), store, now); err != nil {
		t.Fatal(err)
	}
	held := heldOf(second)
	act := `{"operation":"passkey_add","space":"main","arguments":{"id":"` + keyName(second.ID) + `","name":"key","key":"` + fingerprint(held.Key) + `"}}`
	held.By = &endorsement{Proof: "p", Act: act, Signature: string(first.Sign(keyName(challenge("p", act)), "localhost", page))}
	look := func(want int) {
		t.Helper()
		now = now.Add(2 * vaultAge)
		if err := v.refresh(t.Context(), store, now); err != nil {
			t.Fatal(err)
		}
		if live := v.live(); len(live) != want {
			t.Errorf("the passkeys are %+v", live)
		}
	}
	// The signature is for that key and that name alone.
	swapped, renamed := held, held
	swapped.Public = authenticator.New().Public()
	renamed.Name = "phone"
	for _, changed := range []heldKey{swapped, renamed} {
		store.write(t, keyName(second.ID), changed)
		look(1)
	}
	store.write(t, keyName(second.ID), held)
	look(2)
}

func FuzzNoTextIsASignature(f *testing.F) {
	key := authenticator.New()
	f.Add([]byte(`{}`))
	f.Add([]byte(authenticator.New().Sign("AAAA", "localhost", "http://localhost:1")))
	keys := []passkey.Key{{ID: key.ID, Public: key.Public(), Site: "localhost"}}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := passkey.Verify(passkey.Origins{"http://localhost:1"}, []byte("challenge"), text, keys); err == nil {
			t.Errorf("%q counts as a signature", text)
		}
		if _, err := passkey.Register(passkey.Origins{"http://localhost:1"}, []byte("challenge"), text); err == nil {
			t.Errorf("%q counts as a new passkey", text)
		}
	})
}
