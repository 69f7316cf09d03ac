package redisstore

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/c3po-dev/c3po/internal/auth"
)

// inviteKept is how long an invitation that has ended is still known as such.
const inviteKept = time.Hour

// inviteBody is the part of an invitation that scripts do not read.
type inviteBody struct {
	Host   string   `json:"host"`
	Person bool     `json:"person,omitempty"`
	Runner bool     `json:"runner"`
	Spaces []string `json:"spaces"`
}

// PutInvite implements auth.Store.
func (s *Store) PutInvite(ctx context.Context, i auth.Invite) error {
	body, err := json.Marshal(inviteBody{i.Host, i.Person, i.Runner, i.Spaces})
	if err != nil {
		return err
	}
	return s.putInvite(ctx, inviteKey(i.ID), string(body), i.Hash, i.Expires)
}

func (s *Store) putInvite(ctx context.Context, key, text, hash string, expires time.Time) error {
	_, err := s.run(ctx, "record_put", noSpace, with{
		"record": key, "expires": expires.UnixMilli(), "life_ms": 0, "kept_ms": millis(inviteKept), "fields": []string{"i", text, "hash", hash, "tries", "0", "used", ""},
	})
	return err
}

// SpendInvite implements auth.Store. The script compares hashes, so the time it
// takes says nothing about a secret.
func (s *Store) SpendInvite(ctx context.Context, id, hash string) (auth.Invite, auth.InviteOutcome, error) {
	answer, err := s.run(ctx, "invite_spend", noSpace,
		with{"invite": inviteKey(id), "hash": hash, "most": auth.InviteTries, "attempt": rand.Text()})
	if err != nil {
		return auth.Invite{}, "", err
	}
	outcome := auth.InviteOutcome(word(answer[0]))
	if outcome != auth.InviteSpent {
		return auth.Invite{}, outcome, nil
	}
	var body inviteBody
	if err := json.Unmarshal([]byte(word(answer[1])), &body); err != nil {
		return auth.Invite{}, "", err
	}
	return auth.Invite{
		ID: id, Hash: hash, Host: body.Host, Person: body.Person, Runner: body.Runner, Spaces: body.Spaces,
		Expires: instantOf(word(answer[2])), Tries: int(integer(answer[3])), Used: true,
	}, outcome, nil
}
