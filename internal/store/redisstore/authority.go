package redisstore

import "context"

// Authority implements auth.Store.
func (s *Store) Authority(ctx context.Context, propose func() ([]byte, error)) ([]byte, error) {
	held, err := s.authority(ctx, "")
	if err != nil || len(held) > 0 {
		return held, err
	}
	proposal, err := propose()
	if err != nil {
		return nil, err
	}
	return s.authority(ctx, string(proposal))
}

func (s *Store) authority(ctx context.Context, proposal string) ([]byte, error) {
	answer, err := s.run(ctx, "authority_propose", noSpace, with{"proposal": proposal})
	if err != nil {
		return nil, err
	}
	return []byte(word(answer[1])), nil
}
