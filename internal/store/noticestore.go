package store

import (
	"cmp"
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// How a notice that could not be sent is tried again: after a pause that doubles
// from the first to the longest, so many times in all.
const (
	NoticePause    = 15 * time.Second
	MaxNoticePause = 15 * time.Minute
	NoticeTries    = 10
)

// A Notice is word to a person, outside of c3po, that a question waits for them.
type Notice struct {
	ID      c3po.MessageID // of the question
	Channel string
	Late    bool // its deadline has passed
}

// A NoticeFact is what became of a notice.
type NoticeFact struct {
	Notice
	Tries int
	Until time.Time // nobody else tries before then
	Sent  time.Time // zero if it was not
}

// Compare orders them by name.
func (n NoticeFact) Compare(other NoticeFact) int {
	if n.Channel == other.Channel && n.Late != other.Late {
		if other.Late {
			return -1
		}
		return 1
	}
	return cmp.Compare(n.Channel, other.Channel)
}

type noticeStore interface {
	// ClaimNotice gives a notice to the first that asks. It reports false to the others
	// until the pause after this try is over without its being sent, and to all once the
	// question has ended.
	ClaimNotice(ctx context.Context, space c3po.Space, n Notice) (bool, error)
	// NoticeSent says that a notice that was taken on has reached its channel.
	NoticeSent(ctx context.Context, space c3po.Space, n Notice) error
}
