package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth/passkey"
)

// The acts by which a person changes their passkeys.
const (
	opAddPasskey    = "passkey_add"
	opRemovePasskey = "passkey_remove"
	opProofPolicy   = "proof_policy"
)

const maxPasskeyName = 40

// ServeAt says where the dashboard is: passkeys work on these pages alone.
func (k *Keeper) ServeAt(pages passkey.Origins) {
	k.vault.mu.Lock()
	defer k.vault.mu.Unlock()
	k.vault.pages = pages
}

// Demands says whether an act needs a proof that its door cannot bring.
func (k *Keeper) Demands(ctx context.Context, operation string) (bool, error) {
	if k.mode == None {
		return false, nil
	}
	err := k.vault.refresh(ctx, k.store, k.now())
	return err == nil && k.vault.demands(operation), err
}

// Passkeys are the person's, and what they are needed for.
func (k *Keeper) Passkeys(ctx context.Context, caller c3po.Caller) (c3po.Passkeys, error) {
	if !caller.Person() {
		return c3po.Passkeys{}, c3po.RefuseAgent()
	}
	if err := k.vault.refresh(ctx, k.store, k.now()); err != nil {
		return c3po.Passkeys{}, err
	}
	k.vault.mu.Lock()
	defer k.vault.mu.Unlock()
	told := c3po.Passkeys{Policy: k.vault.policy, Passkeys: []c3po.Passkey{}, ResetAt: k.vault.reset, Pages: append([]string{}, k.vault.pages...)}
	if told.Policy == "" {
		told.Policy = c3po.ProofOff
	}
	for _, held := range k.vault.live() {
		told.Passkeys = append(told.Passkeys, c3po.Passkey{ID: keyName(held.ID), Name: held.Name, Site: held.Site, Created: held.Created})
	}
	return told, nil
}

// OfferPasskey begins to add a passkey on a page of that name.
func (k *Keeper) OfferPasskey(ctx context.Context, caller c3po.Caller, site string) (c3po.PasskeyOffer, error) {
	if !caller.Person() {
		return c3po.PasskeyOffer{}, c3po.RefuseAgent()
	}
	if err := k.vault.refresh(ctx, k.store, k.now()); err != nil {
		return c3po.PasskeyOffer{}, err
	}
	id := strings.ToLower(rand.Text())
	if _, err := k.store.PutProof(ctx, id, offerText, proofLife); err != nil {
		return c3po.PasskeyOffer{}, err
	}
	k.vault.mu.Lock()
	defer k.vault.mu.Unlock()
	return c3po.PasskeyOffer{ID: id, Options: passkey.CreationOptions(site, challenge(id, offerText), k.vault.publicKeys())}, nil
}

// fingerprint is of what a passkey's signatures are checked with, and of where it works. It is
// signed with the name, so that the store can put no other key in its place.
func fingerprint(key passkey.Key) string {
	sum := sha256.Sum256([]byte(key.Site + "\x00" + string(key.Public)))
	return hex.EncodeToString(sum[:])
}

// offerText is what the record of an offer holds instead of an act.
const offerText = "a new passkey"

// AddPasskey adds the passkey that a browser has made after an offer. If there is one
// already, that one has to agree.
func (k *Keeper) AddPasskey(ctx context.Context, caller c3po.Caller, in c3po.PasskeyInput) (c3po.Passkeys, error) {
	if !caller.Person() {
		return c3po.Passkeys{}, c3po.RefuseAgent()
	}
	name := strings.TrimSpace(in.Name)
	if name == "" || utf8.RuneCountInString(name) > maxPasskeyName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return c3po.Passkeys{}, c3po.Errorf(c3po.InvalidRequest, "a passkey's name is plain text of at most %d characters", maxPasskeyName).
			Suggest("Name it after what holds it, for example: phone.")
	}
	if err := k.vault.refresh(ctx, k.store, k.now()); err != nil {
		return c3po.Passkeys{}, err
	}
	k.vault.mu.Lock()
	pages := k.vault.pages
	taken := slices.ContainsFunc(k.vault.live(), func(held heldKey) bool { return strings.EqualFold(held.Name, name) })
	k.vault.mu.Unlock()
	if taken {
		return c3po.Passkeys{}, c3po.Errorf(c3po.InvalidRequest, "you have a passkey of this name, and could not tell the two apart").
			Suggest("Give this one another name.")
	}
	key, err := passkey.Register(pages, challenge(in.ID, offerText), in.Credential)
	if err != nil {
		return c3po.Passkeys{}, c3po.Because(err, c3po.InvalidRequest, "the browser's new passkey can't be used: "+err.Error()).
			Suggest("Try again on one of the dashboard's own addresses: %s.", strings.Join(pages, ", "))
	}
	held := heldKey{Key: key, Name: name, Created: k.now().UTC()}
	ctx, err = k.changePasskey(ctx, caller, opAddPasskey, &held, map[string]string{"id": keyName(key.ID), "name": name, "key": fingerprint(key)})
	if err != nil {
		return c3po.Passkeys{}, err
	}
	record, ok, err := k.store.Proof(ctx, in.ID)
	if err == nil && (!ok || record.Act != offerText) {
		err = refuseProof(refusals[ProofUnknown])
	}
	if err == nil {
		var outcome ProofOutcome
		if outcome, err = k.store.SpendProof(ctx, in.ID); err == nil && outcome != ProofOK {
			err = refuseProof(refusals[outcome])
		}
	}
	if err != nil {
		return c3po.Passkeys{}, err
	}
	return k.storePasskey(ctx, caller, held, "added "+name)
}

// RemovePasskey forgets a passkey; one of them has to agree.
func (k *Keeper) RemovePasskey(ctx context.Context, caller c3po.Caller, id string) (c3po.Passkeys, error) {
	if _, err := k.Passkeys(ctx, caller); err != nil {
		return c3po.Passkeys{}, err
	}
	k.vault.mu.Lock()
	held, ok := k.vault.keys[id]
	k.vault.mu.Unlock()
	if !ok || held.Removed {
		return c3po.Passkeys{}, c3po.Errorf(c3po.InvalidRequest, "there is no passkey '%s'", clip(id)).Suggest("`c3po passkey list` shows them.")
	}
	ctx, err := k.changePasskey(ctx, caller, opRemovePasskey, &held, map[string]string{"id": id, "name": held.Name})
	if err != nil {
		return c3po.Passkeys{}, err
	}
	held.Removed = true
	return k.storePasskey(ctx, caller, held, "removed "+held.Name)
}

// changePasskey has a change of a passkey proved, and writes down by what.
func (k *Keeper) changePasskey(ctx context.Context, caller c3po.Caller, operation string, held *heldKey, about map[string]string) (context.Context, error) {
	arguments, err := json.Marshal(about)
	if err != nil {
		return ctx, err
	}
	if ctx, err = k.Prove(ctx, caller, c3po.Act{Operation: operation, As: c3po.Human, Arguments: arguments}, nil); err != nil {
		return ctx, err
	}
	if proof := c3po.ProofOf(ctx); proof != nil {
		record, _, err := k.store.Proof(ctx, proof.ID)
		if err != nil {
			return ctx, err
		}
		held.By = &endorsement{Proof: proof.ID, Act: record.Act, Signature: record.Signature}
	}
	return ctx, nil
}

func (k *Keeper) storePasskey(ctx context.Context, caller c3po.Caller, held heldKey, detail string) (c3po.Passkeys, error) {
	if err := put(ctx, k.store, keyName(held.ID), held); err != nil {
		return c3po.Passkeys{}, err
	}
	k.vault.mu.Lock()
	k.vault.keys[keyName(held.ID)] = held
	k.vault.mu.Unlock()
	k.recordPasskey(ctx, caller, detail)
	return k.Passkeys(ctx, caller)
}

// SetProofPolicy says what passkeys are needed for.
func (k *Keeper) SetProofPolicy(ctx context.Context, caller c3po.Caller, in c3po.ProofPolicyInput) (c3po.Passkeys, error) {
	policy, err := c3po.ParseProofPolicy(string(in.Policy))
	if err != nil {
		return c3po.Passkeys{}, err
	}
	now, err := k.Passkeys(ctx, caller)
	if err != nil {
		return c3po.Passkeys{}, err
	}
	if len(now.Passkeys) == 0 && policy != c3po.ProofOff {
		return c3po.Passkeys{}, c3po.Errorf(c3po.InvalidRequest, "you have no passkey yet").Suggest("Add one first: c3po passkey add")
	}
	arguments, err := json.Marshal(in)
	if err != nil {
		return c3po.Passkeys{}, err
	}
	if ctx, err = k.Prove(ctx, caller, c3po.Act{Operation: opProofPolicy, As: c3po.Human, Arguments: arguments}, nil); err != nil {
		return c3po.Passkeys{}, err
	}
	if err := put(ctx, k.store, policyName, heldPolicy{policy}); err != nil {
		return c3po.Passkeys{}, err
	}
	k.vault.mu.Lock()
	k.vault.policy = policy
	k.vault.mu.Unlock()
	k.recordPasskey(ctx, caller, "policy "+string(policy))
	return k.Passkeys(ctx, caller)
}

// ResetPasskeys forgets all passkeys an hour from now, for a person who has lost theirs.
// Whoever still has one ends that by using it.
func (k *Keeper) ResetPasskeys(ctx context.Context, caller c3po.Caller) (c3po.Passkeys, error) {
	if caller.Role != c3po.RoleAdmin {
		return c3po.Passkeys{}, c3po.Errorf(c3po.Forbidden, "only an admin can reset passkeys").
			Suggest("Run `c3po passkey reset` on the coordinator's machine, as the user it runs as.")
	}
	now, err := k.Passkeys(ctx, caller)
	if err != nil {
		return c3po.Passkeys{}, err
	}
	if len(now.Passkeys) == 0 {
		return c3po.Passkeys{}, c3po.Errorf(c3po.InvalidRequest, "there are no passkeys").Suggest("Add one on the dashboard: `c3po open`.")
	}
	if !now.ResetAt.IsZero() {
		return now, nil
	}
	if err := k.putReset(ctx, k.now().Add(resetAfter).UTC()); err != nil {
		return c3po.Passkeys{}, err
	}
	k.recordPasskey(ctx, caller, "all are forgotten in an hour")
	return k.Passkeys(ctx, caller)
}

func (k *Keeper) putReset(ctx context.Context, at time.Time) error {
	if err := put(ctx, k.store, resetName, heldReset{at}); err != nil {
		return err
	}
	k.vault.mu.Lock()
	defer k.vault.mu.Unlock()
	k.vault.reset = at
	return nil
}

// keepPasskeys ends a reset: their owner is there.
func (k *Keeper) keepPasskeys(ctx context.Context) {
	k.vault.mu.Lock()
	none := k.vault.reset.IsZero()
	k.vault.mu.Unlock()
	if none {
		return
	}
	if err := k.putReset(ctx, time.Time{}); err != nil {
		k.log.WarnContext(ctx, "cannot end the reset of the passkeys", "err", err)
		return
	}
	k.Record(ctx, AuditEntry{Event: EventPasskey, Detail: "the reset was ended by the use of a passkey"})
}

func (k *Keeper) recordPasskey(ctx context.Context, caller c3po.Caller, detail string) {
	remote, _ := ctx.Value(remoteKey{}).(string)
	k.Record(ctx, AuditEntry{Event: EventPasskey, KID: caller.KID, Role: caller.Role, Remote: remote, Detail: detail + provedBy(ctx)})
}

// provedBy is what the audit says of how an act was proved.
func provedBy(ctx context.Context) string {
	if proof := c3po.ProofOf(ctx); proof != nil {
		return ", proved by passkey " + proof.Passkey + " (" + proof.ID + ")"
	}
	return ""
}

// keyName is what a passkey is called in the store and in addresses.
func keyName(id []byte) string { return base64.RawURLEncoding.EncodeToString(id) }
