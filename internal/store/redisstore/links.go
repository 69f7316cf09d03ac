package redisstore

import (
	"context"
	"crypto/rand"
	"encoding/json"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// linkBody is the part of a link that scripts do not read.
type linkBody struct {
	Role   c3po.Role `json:"role"`
	Spaces []string  `json:"spaces"`
}

// PutLink implements auth.Store. A link is kept and spent as an invitation is.
func (s *Store) PutLink(ctx context.Context, l auth.Link) error {
	body, err := json.Marshal(linkBody{l.Role, l.Spaces})
	if err != nil {
		return err
	}
	return s.putInvite(ctx, linkKey(l.ID), string(body), l.Hash, l.Expires)
}

// SpendLink implements auth.Store.
func (s *Store) SpendLink(ctx context.Context, id, hash string) (auth.Link, auth.InviteOutcome, error) {
	answer, err := s.run(ctx, "invite_spend", noSpace,
		with{"invite": linkKey(id), "hash": hash, "most": auth.InviteTries, "attempt": rand.Text()})
	if err != nil {
		return auth.Link{}, "", err
	}
	outcome := auth.InviteOutcome(word(answer[0]))
	if outcome != auth.InviteSpent {
		return auth.Link{}, outcome, nil
	}
	var body linkBody
	if err := json.Unmarshal([]byte(word(answer[1])), &body); err != nil {
		return auth.Link{}, "", err
	}
	return auth.Link{ID: id, Hash: hash, Role: body.Role, Spaces: body.Spaces, Expires: instantOf(word(answer[2]))}, outcome, nil
}
