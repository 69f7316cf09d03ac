package hook

import (
	"strings"
	"time"
)

// Typed is mail that arrives at a program which has no hooks and is typed into:
// the line that is typed, or nothing if the session knows of all of it. A shell
// that runs the line does no harm: there is no character in it that means
// something to one.
func Typed(m Memory, arrived []Letter, now time.Time) (Decision, Memory) {
	d, m := Wake(m, arrived, now)
	if words, _, ok := strings.Cut(d.Context, ". get_messages "); ok {
		d.Context = words + ". Run c3po inbox to read, c3po reply to answer."
	}
	return d, m
}
