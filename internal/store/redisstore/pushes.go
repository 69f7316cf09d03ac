package redisstore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

type pushBody struct {
	Space c3po.Space `json:"space"`
	c3po.PushInput
}

// PutPush implements auth.Store.
func (s *Store) PutPush(ctx context.Context, p auth.Push) (bool, error) {
	text, err := json.Marshal(pushBody{p.Space, p.PushInput})
	if err != nil {
		return false, err
	}
	answer, err := s.run(ctx, "push_put", noSpace, with{"grant": grantKey(p.KID), "kid": p.KID, "text": string(text)})
	return err == nil && word(answer[0]) == "ok", err
}

// EndPush implements auth.Store.
func (s *Store) EndPush(ctx context.Context, kid, text string) error {
	_, err := s.run(ctx, "push_end", noSpace, with{"grant": grantKey(kid), "kid": kid, "text": text})
	return err
}

// AnyPush implements auth.Store.
func (s *Store) AnyPush(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	is, err := s.commands.Do(ctx, s.commands.B().Exists().Key(pushesKey).Build()).AsBool()
	if err != nil {
		return false, s.failure(ctx, "pushes", err)
	}
	return is, nil
}

// Pushes implements auth.Store.
func (s *Store) Pushes(ctx context.Context, now time.Time) ([]auth.Push, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*stepTimeout)
	defer cancel()
	kids, err := s.commands.Do(ctx, s.commands.B().Smembers().Key(pushesKey).Build()).AsStrSlice()
	if err != nil {
		return nil, s.failure(ctx, "pushes", err)
	}
	var reads rueidis.Commands
	for _, kid := range kids {
		reads = append(reads, s.commands.B().Hgetall().Key(grantKey(kid)).Build())
	}
	var pushes []auth.Push
	for i, answer := range s.commands.DoMulti(ctx, reads...) {
		fields, err := answer.AsStrMap()
		if err != nil {
			return nil, s.failure(ctx, "pushes", err)
		}
		push, live := pushOf(kids[i], fields, now)
		if !live {
			if err := s.EndPush(ctx, kids[i], ""); err != nil {
				return nil, err
			}
			continue
		}
		pushes = append(pushes, push)
	}
	return pushes, nil
}

// pushOf reads a grant's browser; false if the grant has ended or has none that can be read.
func pushOf(kid string, fields map[string]string, now time.Time) (auth.Push, bool) {
	var body pushBody
	if fields["g"] == "" || json.Unmarshal([]byte(fields["push"]), &body) != nil {
		return auth.Push{}, false
	}
	grant, err := grantOf(kid, fields)
	return auth.Push{Grant: grant, KID: kid, Text: fields["push"], Space: body.Space, PushInput: body.PushInput}, err == nil && grant.Live(now)
}
