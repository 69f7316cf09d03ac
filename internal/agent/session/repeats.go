package session

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/c3po-dev/c3po/c3po"
)

// maxDoubtfulCalls is how many calls that failed are remembered.
const maxDoubtfulCalls = 32

// repeats gives a call the key of an earlier one that said the same and failed
// without its being known whether it was carried out. A model makes a call again
// under another name, and has no key to repeat. What it returns is to be told how
// the call went.
func (s *Server) repeats(ctx context.Context, tool string, in any, key *string) func(error) {
	if *key != "" && *key != useOf(ctx) {
		return func(error) {} // the caller has a key of its own
	}
	given := *key
	*key = ""
	said, err := json.Marshal(in)
	*key = given
	if err != nil {
		return func(error) {}
	}
	call := tool + string(said)
	s.mu.Lock()
	defer s.mu.Unlock()
	if earlier := s.doubtful[call]; earlier != "" {
		*key = earlier
	}
	used := *key
	return func(err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		e, failed := errors.AsType[*c3po.Error](err)
		switch {
		case used == "":
		case failed && e.Code.Retry() == c3po.RetrySameKey:
			if len(s.doubtful) >= maxDoubtfulCalls || s.doubtful == nil {
				s.doubtful = map[string]string{}
			}
			s.doubtful[call] = used
		default:
			delete(s.doubtful, call)
		}
	}
}
