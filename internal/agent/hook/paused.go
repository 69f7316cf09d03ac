package hook

import (
	"slices"

	"github.com/c3po-dev/c3po/c3po"
)

// Audible is the mail that may make an agent act: of one that is paused, or that
// waits for its person, only what a person writes. paused is why it is, empty if
// it is not.
func Audible(mail []Letter, paused string) []Letter {
	if paused == "" {
		return mail
	}
	return slices.DeleteFunc(slices.Clone(mail), Letter.heldByPause)
}

// KnownUpTo is how far an agent that was told of mail up to a sequence knows all of
// it: what is held back while it is paused ends that.
func KnownUpTo(upTo int64, mail []Letter, paused string) int64 {
	if paused == "" {
		return upTo
	}
	for _, l := range mail {
		if l.heldByPause() && l.Seq <= upTo {
			upTo = l.Seq - 1
		}
	}
	return upTo
}

// heldByPause says that a pause keeps the letter back.
func (l Letter) heldByPause() bool { return l.From != c3po.Human }
