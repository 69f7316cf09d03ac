package redisstore

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/c3po-dev/c3po/internal/auth"
)

const (
	// staleProofKept is how long it can be told what became of a proof that nobody used.
	staleProofKept = time.Hour
	// usedProofKept is how long a person's signature can be looked at.
	usedProofKept = 400 * 24 * time.Hour
)

// PutPasskey implements auth.Store.
func (s *Store) PutPasskey(ctx context.Context, id, text string) error {
	_, err := s.run(ctx, "passkey_put", noSpace, with{"id": id, "text": text})
	return err
}

// Passkeys implements auth.Store.
func (s *Store) Passkeys(ctx context.Context) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	all, err := s.commands.Do(ctx, s.commands.B().Hgetall().Key(passkeysKey).Build()).AsStrMap()
	if err != nil {
		return nil, s.failure(ctx, "passkeys", err)
	}
	return all, nil
}

// PutProof implements auth.Store.
func (s *Store) PutProof(ctx context.Context, id, act string, life time.Duration) (time.Time, error) {
	answer, err := s.run(ctx, "record_put", noSpace, with{
		"record": proofKey(id), "expires": "", "life_ms": millis(life), "kept_ms": millis(staleProofKept), "fields": []string{"act", act, "signature", "", "used", ""},
	})
	if err != nil {
		return time.Time{}, err
	}
	return instantOf(word(answer[1])), nil
}

// Proof implements auth.Store.
func (s *Store) Proof(ctx context.Context, id string) (auth.ProofRecord, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	fields, err := s.commands.Do(ctx, s.commands.B().Hgetall().Key(proofKey(id)).Build()).AsStrMap()
	if err != nil {
		return auth.ProofRecord{}, false, s.failure(ctx, "proof", err)
	}
	if len(fields) == 0 {
		return auth.ProofRecord{}, false, nil
	}
	return auth.ProofRecord{ID: id, Act: fields["act"], Signature: fields["signature"], Expires: instantOf(fields["expires"]), Used: fields["used"] != ""}, true, nil
}

// SignProof implements auth.Store.
func (s *Store) SignProof(ctx context.Context, id, signature string) (auth.ProofOutcome, error) {
	return s.claimProof(ctx, id, "signature", signature, 0)
}

// SpendProof implements auth.Store.
func (s *Store) SpendProof(ctx context.Context, id string) (auth.ProofOutcome, error) {
	return s.claimProof(ctx, id, "used", rand.Text(), usedProofKept)
}

func (s *Store) claimProof(ctx context.Context, id, field, value string, kept time.Duration) (auth.ProofOutcome, error) {
	answer, err := s.run(ctx, "record_claim", noSpace, with{"record": proofKey(id), "field": field, "value": value, "kept_ms": millis(kept)})
	if err != nil {
		return "", err
	}
	return auth.ProofOutcome(word(answer[0])), nil
}
