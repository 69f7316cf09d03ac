package redisstore

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// endedKept is how long a token that has ended is still listed.
const endedKept = 30 * 24 * time.Hour

// grantBody is the part of a grant that scripts do not read.
type grantBody struct {
	Hash        string    `json:"hash"`
	Role        c3po.Role `json:"role"`
	Spaces      []string  `json:"spaces"`
	Pattern     string    `json:"pattern"`
	Label       string    `json:"label"`
	SuccessorOf string    `json:"successor_of"`
	Local       bool      `json:"local,omitempty"`
	Account     string    `json:"account,omitempty"`
}

// PutGrant implements auth.Store.
func (s *Store) PutGrant(ctx context.Context, g auth.Grant) error {
	body, err := json.Marshal(grantBody{g.Hash, g.Role, g.Spaces, g.Pattern, g.Label, g.SuccessorOf, g.Local, g.Account})
	if err != nil {
		return err
	}
	created := ""
	if !g.Created.IsZero() {
		created = itoa(g.Created.UnixMilli())
	}
	_, err = s.run(ctx, "grant_put", noSpace, with{
		"grant": grantKey(g.KID), "kid": g.KID, "text": string(body), "created_at": created, "expires": g.Expires.UnixMilli(),
		"revoked": g.Revoked, "fixed": g.Fixed, "kept_ms": millis(endedKept),
	})
	return err
}

// Grant implements auth.Store.
func (s *Store) Grant(ctx context.Context, kid string) (auth.Grant, bool, error) {
	defer s.took("grant", time.Now())
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	fields, err := s.commands.Do(ctx, s.commands.B().Hgetall().Key(grantKey(kid)).Build()).AsStrMap()
	if err != nil {
		return auth.Grant{}, false, s.failure(ctx, "grant", err)
	}
	if len(fields) == 0 {
		return auth.Grant{}, false, nil
	}
	g, err := grantOf(kid, fields)
	return g, err == nil, err
}

func grantOf(kid string, fields map[string]string) (auth.Grant, error) {
	var body grantBody
	if err := json.Unmarshal([]byte(fields["g"]), &body); err != nil {
		return auth.Grant{}, err
	}
	return auth.Grant{
		KID: kid, Hash: body.Hash, Role: body.Role, Spaces: body.Spaces, Pattern: body.Pattern, Label: body.Label,
		SuccessorOf: body.SuccessorOf, Local: body.Local, Account: body.Account, Revoked: fields["revoked"] == "1", Fixed: fields["fixed"] == "1",
		Created: instantOf(fields["created"]), Expires: instantOf(fields["expires"]), LastUsed: instantOf(fields["used"]),
	}, nil
}

// Grants implements auth.Store.
func (s *Store) Grants(ctx context.Context) ([]auth.Grant, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*stepTimeout)
	defer cancel()
	kids, err := s.commands.Do(ctx, s.commands.B().Zrange().Key(grantsKey).Min("0").Max("-1").Build()).AsStrSlice()
	if err != nil {
		return nil, s.failure(ctx, "grants", err)
	}
	grants := []auth.Grant{}
	for batch := range slices.Chunk(kids, noteBatch) {
		var reads rueidis.Commands
		for _, kid := range batch {
			reads = append(reads, s.commands.B().Hgetall().Key(grantKey(kid)).Build())
		}
		for i, answer := range s.commands.DoMulti(ctx, reads...) {
			fields, err := answer.AsStrMap()
			if err != nil {
				return nil, s.failure(ctx, "grants", err)
			}
			if len(fields) == 0 {
				continue // forgotten, and not swept yet
			}
			g, err := grantOf(batch[i], fields)
			if err != nil {
				return nil, err
			}
			grants = append(grants, g)
		}
	}
	slices.SortStableFunc(grants, func(a, b auth.Grant) int { return a.Created.Compare(b.Created) })
	return grants, nil
}

// Revoke implements auth.Store.
func (s *Store) Revoke(ctx context.Context, kid string) (bool, error) {
	answer, err := s.run(ctx, "grant_revoke", noSpace, with{"grant": grantKey(kid), "kid": kid, "kept_ms": millis(endedKept)})
	return err == nil && word(answer[0]) == "ok", err
}

// Changes implements auth.Store.
func (s *Store) Changes(ctx context.Context, after int64) ([]string, int64, error) {
	answer, err := s.run(ctx, "change_list", noSpace, with{"after": after})
	if err != nil {
		return nil, 0, err
	}
	kids, err := answer[2].AsStrSlice()
	return kids, integer(answer[1]), err
}

// TouchGrant implements auth.Store.
func (s *Store) TouchGrant(ctx context.Context, kid string, life time.Duration) error {
	_, err := s.run(ctx, "grant_touch", noSpace, with{"grant": grantKey(kid), "kid": kid, "life": millis(life), "kept_ms": millis(endedKept)})
	return err
}

// runKept is how long a run is known as an agent's after it was last noted.
const runKept = 7 * 24 * time.Hour

// NoteRun implements auth.Store.
func (s *Store) NoteRun(ctx context.Context, run string) error {
	_, err := s.run(ctx, "run_note", noSpace, with{"run": run, "kept_ms": millis(runKept)})
	return err
}

// AgentRun implements auth.Store.
func (s *Store) AgentRun(ctx context.Context, runs []string) (string, error) {
	if len(runs) == 0 {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	scores, err := s.commands.Do(ctx, s.commands.B().Zmscore().Key(runsKey).Member(runs...).Build()).ToArray()
	if err != nil {
		return "", s.failure(ctx, "agentrun", err)
	}
	for i, score := range scores {
		if !score.IsNil() {
			return runs[i], nil
		}
	}
	return "", nil
}
