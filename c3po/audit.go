package c3po

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// An AuditEntry is one thing that somebody will ask about later: who was let
// in, who was not, what was done for a person. It never holds a secret or a
// body. Each has a number and the hash of the one before it, so that a changed or
// missing one shows; deeds and refusals are a chain each.
type AuditEntry struct {
	ID     string    `json:"id"` // goes up
	At     time.Time `json:"at"`
	Event  string    `json:"event"`
	KID    string    `json:"kid,omitempty"` // the token it was done with, or to
	Role   Role      `json:"role,omitempty"`
	Space  string    `json:"space,omitempty"`
	Agent  string    `json:"agent,omitempty"`
	Remote string    `json:"remote,omitempty"` // address it came from
	Detail string    `json:"detail,omitempty"`
	N      int64     `json:"n,omitempty"`    // its place in its chain, from 1; 0 for one of before there were chains
	Prev   string    `json:"prev,omitempty"` // the hash of the entry before it in the chain
	Hash   string    `json:"hash,omitempty"` // SHA-256 of the JSON array of strings [prev, n, id, event, kid, role, space, agent, remote, detail]
}

// Refusal says that an entry tells of somebody who was not let in or not heard.
func (e AuditEntry) Refusal() bool {
	switch e.Event {
	case "auth_failed", "forbidden", "join_refused", "login_refused", "button_refused", "proof_refused":
		return true
	}
	return false
}

// Seal is what the Hash of the entry must be: the SHA-256 of everything else it says.
func (e AuditEntry) Seal() string {
	said, err := json.Marshal([]string{
		e.Prev, strconv.FormatInt(e.N, 10), e.ID, e.Event, e.KID, string(e.Role), e.Space, e.Agent, e.Remote, e.Detail,
	})
	if err != nil {
		panic(err) // strings become JSON
	}
	sum := sha256.Sum256(said)
	return hex.EncodeToString(sum[:])
}

// An AuditHead is how far a chain of the audit goes.
type AuditHead struct {
	N    int64  `json:"n"`
	Hash string `json:"hash"`
}

// AuditHeads are those of the two chains.
type AuditHeads struct {
	Deeds    AuditHead `json:"deeds"`
	Refusals AuditHead `json:"refusals"`
}

// AuditKept is how many entries of each chain are kept at least.
const AuditKept = 10_000

// VerifyAudit looks for what is wrong with one chain, given all its entries in
// order, where the coordinator says that it ends, and where it ended when it was
// last looked at. Entries it names were changed, put in or taken out.
func VerifyAudit(entries []AuditEntry, head, known AuditHead) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	var last AuditEntry
	for i, e := range entries {
		switch {
		case e.N == 0 && last.N == 0:
			continue // of before there were chains
		case e.N == 0:
			fault("entry %s is in no chain", e.ID)
			continue
		case e.Seal() != e.Hash:
			fault("entry %d (%s) was changed", e.N, e.ID)
		case last.N == 0 && e.N > 1 && len(entries)-i < AuditKept:
			fault("entries 1 to %d are missing, and only %d are kept", e.N-1, len(entries)-i)
		case last.N > 0 && e.N > last.N+1:
			fault("entries %d to %d are missing", last.N+1, e.N-1)
		case last.N > 0 && (e.N != last.N+1 || e.Prev != last.Hash):
			fault("entry %d (%s) does not follow entry %d", e.N, e.ID, last.N)
		}
		if e.N == known.N && e.Hash != known.Hash {
			fault("entry %d (%s) is not the one that was here at the last look", e.N, e.ID)
		}
		last = e
	}
	if last.N != head.N || last.Hash != head.Hash {
		fault("the last entry is %d, and %d were written", last.N, head.N)
	}
	if head.N < known.N {
		fault("%d entries were written, and there were %d at the last look", head.N, known.N)
	}
	return faults
}
