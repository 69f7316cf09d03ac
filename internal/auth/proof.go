package auth

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth/passkey"
)

// proofLife is how long an act waits for its signature: the time to find a phone.
const proofLife = 5 * time.Minute

// maxOpenProofs is how many acts of one token wait for a signature at a time, so that a
// program that has it cannot fill the store with them.
const maxOpenProofs = 50

// A ProofRecord is an act and the signature of the person who agreed to it.
type ProofRecord struct {
	ID        string
	Act       string // JSON of a c3po.Act; what is signed
	Signature string // what the browser sent; empty until it did
	Expires   time.Time
	Used      bool
}

// A ProofOutcome is how a step with a proof ended.
type ProofOutcome string

// The outcomes. Only the first one lets an act through.
const (
	ProofOK      ProofOutcome = "ok"
	ProofUnknown ProofOutcome = "unknown"
	ProofExpired ProofOutcome = "expired"
	ProofSigned  ProofOutcome = "signed"
	ProofUsed    ProofOutcome = "used"
)

// refusals say why an outcome lets no act through.
var refusals = map[ProofOutcome]string{
	ProofUnknown: "is not known here", ProofExpired: "has expired", ProofSigned: "is signed already", ProofUsed: "was used before",
}

// proofIDKey is under which the context of a request holds the proof that it names.
type proofIDKey struct{}

// challenge is what a passkey signs: the exact act, under a number that is used once.
func challenge(id, act string) []byte {
	sum := sha256.Sum256([]byte("c3po proof 1\x00" + id + "\x00" + act))
	return sum[:]
}

// Prove lets an act through if its caller needs no proof for it, or shows one that is for
// exactly this act and unused. Otherwise PROOF_REQUIRED names what is to be signed.
// describe, if it is not nil, adds what the act is about once that is wanted.
func (k *Keeper) Prove(ctx context.Context, caller c3po.Caller, in c3po.Act, describe func(context.Context, *c3po.Act) error) (context.Context, error) {
	if !caller.Person() || k.mode == None {
		return ctx, nil
	}
	if err := k.vault.refresh(ctx, k.store, k.now()); err != nil {
		return ctx, err
	}
	if !k.vault.demands(in.Operation) {
		return ctx, nil
	}
	if describe != nil {
		if err := describe(ctx, &in); err != nil {
			return ctx, err
		}
	}
	act, err := actJSON(caller, in)
	if err != nil {
		return ctx, err
	}
	id, _ := ctx.Value(proofIDKey{}).(string)
	if id == "" {
		return ctx, k.askForProof(ctx, caller.KID, act)
	}
	signed, err := k.spend(ctx, id, act)
	if err != nil {
		k.refusedProof(ctx, caller, in.Operation, err)
		return ctx, err
	}
	return c3po.WithProof(ctx, signed), nil
}

// proveInput is Prove for an act that is no operation.
func (k *Keeper) proveInput(ctx context.Context, caller c3po.Caller, operation string, in any) (context.Context, error) {
	arguments, err := json.Marshal(in)
	if err != nil {
		return ctx, err
	}
	return k.Prove(ctx, caller, c3po.Act{Operation: operation, As: caller.ID, Arguments: arguments}, nil)
}

func actJSON(caller c3po.Caller, in c3po.Act) (string, error) {
	var exact bytes.Buffer
	if len(bytes.TrimSpace(in.Arguments)) > 0 {
		if err := json.Compact(&exact, in.Arguments); err != nil {
			return "", c3po.Because(err, c3po.InvalidRequest, "the arguments are not JSON").Suggest("Check parameter values and formats.")
		}
	}
	in.Space, in.Arguments = caller.Space, exact.Bytes()
	act, err := json.Marshal(in)
	return string(act), err
}

// askForProof stores the act and refuses it until it is signed.
func (k *Keeper) askForProof(ctx context.Context, kid, act string) error {
	k.vault.mu.Lock()
	none := len(k.vault.live()) == 0
	k.vault.mu.Unlock()
	if none {
		return c3po.Errorf(c3po.ProofRequired, "this needs a passkey, and you have none").
			Suggest("Add one on the dashboard, under Access: `c3po open`.")
	}
	id := proofID(k.now())
	if !k.proofs.open(kid, id, k.now()) {
		return c3po.Errorf(c3po.RateLimited, "%d acts of this token already wait for your passkey", maxOpenProofs).
			Suggest("Wait %d minutes. If it was not you, a program has your token: end it with `c3po token revoke`.", int(proofLife/time.Minute))
	}
	if _, err := k.store.PutProof(ctx, id, act, proofLife); err != nil {
		return err
	}
	refusal := c3po.Errorf(c3po.ProofRequired, "this needs your passkey").
		Suggest("Confirm it on the dashboard within 5 minutes: #/prove/%s", id)
	refusal.Proof = id
	return refusal
}

// A proof's id ends with when it was drawn. The signature covers the id, so this holds
// whatever the store says of its end: whoever writes there can begin no old proof anew.
const proofWord = 26 // letters of rand.Text

func proofID(now time.Time) string {
	return strings.ToLower(rand.Text()) + strconv.FormatInt(now.UnixMilli(), 36)
}

// isRecent says that an id was drawn lately. Coordinators' clocks differ a little.
func isRecent(id string, now time.Time) bool {
	if len(id) <= proofWord {
		return false
	}
	drawn, err := strconv.ParseInt(id[proofWord:], 36, 64)
	age := now.Sub(time.UnixMilli(drawn))
	return err == nil && age < 2*proofLife && age > -proofLife
}

// openProofs knows, on this coordinator, the acts that wait for a signature and the proofs
// that were used while they were recent.
type openProofs struct {
	mu    sync.Mutex
	all   map[string]openProof
	spent map[string]bool
}

type openProof struct {
	kid     string
	expires time.Time
}

// open counts one more, unless its token has too many.
func (o *openProofs) open(kid, id string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	own := 0
	for id, one := range o.all {
		switch {
		case !now.Before(one.expires):
			delete(o.all, id)
		case one.kid == kid:
			own++
		}
	}
	if own >= maxOpenProofs {
		return false
	}
	if o.all == nil {
		o.all = map[string]openProof{}
	}
	o.all[id] = openProof{kid, now.Add(proofLife)}
	return true
}

// spend uses a proof up; false if it was used here before. What is too old to count is
// forgotten.
func (o *openProofs) spend(id string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, id)
	if o.spent[id] {
		return false
	}
	for old := range o.spent {
		if !isRecent(old, now) {
			delete(o.spent, old)
		}
	}
	if o.spent == nil {
		o.spent = map[string]bool{}
	}
	o.spent[id] = true
	return true
}

// unspend is for a proof of which nobody knows whether the store has used it up.
func (o *openProofs) unspend(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.spent, id)
}

// spend checks everything about a proof, and uses it up.
func (k *Keeper) spend(ctx context.Context, id, act string) (c3po.Proof, error) {
	record, ok, err := k.store.Proof(ctx, id)
	switch {
	case err != nil:
		return c3po.Proof{}, err
	case !ok:
		return c3po.Proof{}, refuseProof(refusals[ProofUnknown])
	case !isRecent(id, k.now()):
		return c3po.Proof{}, refuseProof(refusals[ProofExpired])
	case record.Act != act:
		return c3po.Proof{}, refuseProof("is for something else")
	case record.Signature == "":
		return c3po.Proof{}, refuseProof("is not signed yet")
	}
	held, err := k.verify(record)
	if err != nil {
		return c3po.Proof{}, err
	}
	if !k.proofs.spend(id, k.now()) {
		return c3po.Proof{}, refuseProof(refusals[ProofUsed])
	}
	outcome, err := k.store.SpendProof(ctx, id)
	if err != nil {
		k.proofs.unspend(id)
		return c3po.Proof{}, err
	}
	if outcome != ProofOK {
		return c3po.Proof{}, refuseProof(refusals[outcome])
	}
	k.keepPasskeys(ctx)
	return c3po.Proof{ID: id, Passkey: held.Name, At: k.now().UTC()}, nil
}

// verify finds the passkey that has signed a record, whatever the store says about it.
func (k *Keeper) verify(record ProofRecord) (heldKey, error) {
	k.vault.mu.Lock()
	defer k.vault.mu.Unlock()
	key, err := passkey.Verify(k.vault.pages, challenge(record.ID, record.Act), []byte(record.Signature), k.vault.publicKeys())
	if err != nil {
		return heldKey{}, c3po.Because(err, c3po.Forbidden, "the passkey's signature doesn't count: "+err.Error()).
			Suggest("Confirm it on the dashboard with one of your passkeys.")
	}
	return k.vault.keys[keyName(key.ID)], nil
}

func refuseProof(why string) *c3po.Error {
	return c3po.Errorf(c3po.Forbidden, "this proof %s", why).Suggest("Repeat the request without it; you are then asked to confirm it again.")
}

func (k *Keeper) refusedProof(ctx context.Context, caller c3po.Caller, operation string, err error) {
	if !k.failures.allow(k.now(), maxFailuresPerSecond) {
		return
	}
	remote, _ := ctx.Value(remoteKey{}).(string)
	k.Record(ctx, AuditEntry{
		Event: EventProofRefused, KID: caller.KID, Role: caller.Role, Space: string(caller.Space), Remote: remote, Detail: operation + ": " + c3po.AsError(err).Message,
	})
}

// ProofRequest shows the person what they are asked to sign. Site is the name of the page
// they see it on.
func (k *Keeper) ProofRequest(ctx context.Context, caller c3po.Caller, id, site string) (c3po.ProofRequest, error) {
	record, err := k.proof(ctx, caller, id)
	if err != nil {
		return c3po.ProofRequest{}, err
	}
	request := c3po.ProofRequest{ID: id, Code: proofCode(id), Expires: record.Expires, State: c3po.ProofWaits}
	if err := json.Unmarshal([]byte(record.Act), &request.Act); err != nil {
		return c3po.ProofRequest{}, err
	}
	switch {
	case record.Used:
		request.State = c3po.ProofUsed
	case record.Signature != "":
		request.State = c3po.ProofSigned
	default:
		k.vault.mu.Lock()
		if keys := passkey.For(site, k.vault.publicKeys()); len(keys) > 0 {
			request.Options = passkey.RequestOptions(site, challenge(id, record.Act), keys)
		}
		k.vault.mu.Unlock()
	}
	return request, nil
}

// SignProof takes the signature that a person's browser sends.
func (k *Keeper) SignProof(ctx context.Context, caller c3po.Caller, id string, signature []byte) error {
	record, err := k.proof(ctx, caller, id)
	if err != nil {
		return err
	}
	record.Signature = string(signature)
	if _, err := k.verify(record); err != nil {
		k.refusedProof(ctx, caller, "sign", err)
		return err
	}
	outcome, err := k.store.SignProof(ctx, id, record.Signature)
	if err != nil || outcome == ProofOK {
		return err
	}
	return refuseProof(refusals[outcome])
}

// proof reads a record for a person.
func (k *Keeper) proof(ctx context.Context, caller c3po.Caller, id string) (ProofRecord, error) {
	if !caller.Person() {
		return ProofRecord{}, c3po.RefuseAgent()
	}
	if err := k.vault.refresh(ctx, k.store, k.now()); err != nil {
		return ProofRecord{}, err
	}
	record, ok, err := k.store.Proof(ctx, id)
	if err == nil && !ok {
		err = c3po.Errorf(c3po.InvalidRequest, "nothing waits to be confirmed under this address").
			Suggest("It may have expired: do it again.")
	}
	return record, err
}

// proofCode is short enough to compare by eye what a terminal and a page show.
func proofCode(id string) string {
	sum := sha256.Sum256([]byte("c3po code\x00" + id))
	code := base32.StdEncoding.EncodeToString(sum[:])
	return fmt.Sprintf("%s-%s", code[:3], code[3:6])
}
