package c3po

import (
	"context"
	"encoding/json"
	"time"
)

// A ProofPolicy says for which of a person's acts a token alone is not enough.
type ProofPolicy string

// The policies, from the most lenient to the strictest.
const (
	ProofOff       ProofPolicy = "off"
	ProofDecisions ProofPolicy = "decisions"  // answers, resuming, tokens, invitations
	ProofAll       ProofPolicy = "everything" // whatever changes something in a person's name
)

// ParseProofPolicy reads a policy; the empty text is ProofOff.
func ParseProofPolicy(text string) (ProofPolicy, error) {
	switch p := ProofPolicy(text); p {
	case "":
		return ProofOff, nil
	case ProofOff, ProofDecisions, ProofAll:
		return p, nil
	}
	return "", Errorf(InvalidRequest, "there is no proof policy %.40q", text).Suggest("Use off, decisions or everything.")
}

// Strictness orders policies.
func (p ProofPolicy) Strictness() int {
	switch p {
	case ProofDecisions:
		return 1
	case ProofAll:
		return 2
	default:
		return 0
	}
}

// decisions are the acts that need proof under ProofDecisions.
var decisions = map[string]bool{
	"human_answer": true, "resume": true, "thread_resume": true,
	"token_create": true, "token_rotate": true, "invite": true,
	"passkey_add": true, "passkey_remove": true, "proof_policy": true,
}

// Demands says whether an act needs proof.
func (p ProofPolicy) Demands(operation string) bool {
	return p == ProofAll || p == ProofDecisions && decisions[operation]
}

// An Act is what a person is asked to confirm: one operation with its exact arguments.
// The signature of a passkey covers its JSON, byte for byte.
type Act struct {
	Operation string          `json:"operation"`
	Space     Space           `json:"space"`
	As        AgentID         `json:"as,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// For an answer: who asks, the exact question, and the exact words of the answer. The
	// coordinator puts them here, so that they are signed too.
	Asker    AgentID `json:"asker,omitempty"`
	Kind     Kind    `json:"kind,omitempty"`
	Question string  `json:"question,omitempty"`
	Answer   string  `json:"answer,omitempty"`
	// For an answer to an approval: what it decides, with the hash of the exact tool and input,
	// the session and the request.
	Verdict *Verdict `json:"verdict,omitempty"`
}

// A Proof says that a person confirmed an act with a passkey.
type Proof struct {
	ID      string    `json:"id"`      // of the record that holds the signature
	Passkey string    `json:"passkey"` // its name
	At      time.Time `json:"at"`
}

// A Word is a message that a person wrote. What other agents write because of it goes back
// to it. That says who began, and not that they agree with what was made of it.
type Word struct {
	ID      MessageID `json:"id"`
	At      time.Time `json:"at"`
	Passkey string    `json:"passkey,omitempty"` // that confirmed it; empty if a token was enough
}

// ProofHeader carries the id of a proof with the repeated request that it is for.
const ProofHeader = "X-C3PO-Proof"

// A ProofRequest is an act that waits for its proof.
type ProofRequest struct {
	ID      string          `json:"id"`
	Code    string          `json:"code"` // short, to compare by eye what a terminal and a browser show
	Act     Act             `json:"act"`
	Expires time.Time       `json:"expires"`
	State   ProofState      `json:"state"`
	Options json.RawMessage `json:"options,omitempty"` // for navigator.credentials.get
}

// ProofState says how far a proof has come.
type ProofState string

// The states of a proof.
const (
	ProofWaits  ProofState = "waits"
	ProofSigned ProofState = "signed"
	ProofUsed   ProofState = "used"
)

// A Passkey is one of a person's passkeys, without its key.
type Passkey struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Site    string    `json:"site"` // the host name of the dashboard it works on
	Created time.Time `json:"created"`
}

// Passkeys are all of them, and what they are needed for.
type Passkeys struct {
	Policy   ProofPolicy `json:"policy"`
	Passkeys []Passkey   `json:"passkeys"`
	// ResetAt is when all of them are forgotten, unless one of them is used before.
	ResetAt time.Time `json:"reset_at,omitzero"`
	// Pages are the addresses of the dashboard on which passkeys work.
	Pages []string `json:"pages"`
}

// PasskeyOffer is what a browser needs to make a passkey.
type PasskeyOffer struct {
	ID      string          `json:"id"`
	Options json.RawMessage `json:"options"` // for navigator.credentials.create
}

// PasskeyInput is a passkey that a browser has made.
type PasskeyInput struct {
	ID         string          `json:"id"` // of the offer
	Name       string          `json:"name"`
	Credential json.RawMessage `json:"credential"`
}

// ProofSignature is what navigator.credentials.get gave.
type ProofSignature struct {
	Credential json.RawMessage `json:"credential"`
}

// ProofPolicyInput sets the policy.
type ProofPolicyInput struct {
	Policy ProofPolicy `json:"policy"`
}

type proofKey struct{}

// WithProof gives the context of an act that its person has confirmed.
func WithProof(ctx context.Context, p Proof) context.Context {
	return context.WithValue(ctx, proofKey{}, p)
}

// ProofOf is the proof of the act that runs under ctx; nil if it has none.
func ProofOf(ctx context.Context) *Proof {
	if p, ok := ctx.Value(proofKey{}).(Proof); ok {
		return &p
	}
	return nil
}
