package bridge

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/c3po-dev/c3po"
)

// maxDoubtfulCalls is how many calls that failed are remembered.
const maxDoubtfulCalls = 32

// repeats gives a call the key of an earlier one that said the same and failed
// without its being known whether it was carried out. A model makes a call again
// under another name, and has no key to repeat. What it returns is to be told how
// the call went.
func (b *Bridge) repeats(ctx context.Context, tool string, in any, key *string) func(error) {
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
	b.mu.Lock()
	defer b.mu.Unlock()
	if earlier := b.doubtful[call]; earlier != "" {
		*key = earlier
	}
	used := *key
	return func(err error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		e, failed := errors.AsType[*c3po.Error](err)
		switch {
		case used == "":
		case failed && e.Code.Retry() == c3po.RetrySameKey:
			if len(b.doubtful) >= maxDoubtfulCalls || b.doubtful == nil {
				b.doubtful = map[string]string{}
			}
			b.doubtful[call] = used
		default:
			delete(b.doubtful, call)
		}
	}
}
