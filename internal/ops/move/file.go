// Package move takes what one coordinator holds to another: from a laptop to the
// machine that all hosts share. The file in between is JSON, one thing a line,
// in words that do not depend on how a store keeps them.
//
// Agents of a machine that had a coordinator of its own have bare names. Where
// they go they belong to a host, so `api` becomes `laptop/api`, in everything
// that speaks of it.
package move

import (
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/ops/backup"
	"github.com/c3po-dev/c3po/internal/store"
)

// Format is the version of the file. A later one is refused.
const Format = 1

// A Header begins a file.
type Header struct {
	Format  int       `json:"format"`
	Made    time.Time `json:"made"`
	Version string    `json:"version"` // of the c3po that made it
	Host    string    `json:"host"`    // under which its agents go elsewhere, if nobody says otherwise
}

// Counts end a file, so that one that was cut off is noticed, and say what is in it.
type Counts struct {
	Agents   int `json:"agents"`
	Rooms    int `json:"rooms"`
	Messages int `json:"messages"`
	Unread   int `json:"unread"` // of the messages
	Posts    int `json:"posts"`
	Members  int `json:"members"`
	Damaged  int `json:"damaged,omitempty"` // messages and posts that could not be read, and are not in the file
	Files    int `json:"files,omitempty"`   // that messages carry: they are named, and their bytes are not in the file
}

func (c *Counts) add(m store.Moved) {
	switch {
	case m.Agent != nil:
		c.Agents++
	case m.Room != nil:
		c.Rooms++
	case m.Post != nil:
		c.Posts++
	case m.Member != nil:
		c.Members++
	case m.Message != nil:
		c.Messages++
		c.Files += len(m.Message.Body.Attachments)
		if m.Message.State == c3po.StatePending {
			c.Unread++
		}
	}
}

// A line is the header, or one thing of a space, or the end.
type line struct {
	Header *Header    `json:"c3po_export,omitempty"`
	Space  c3po.Space `json:"space,omitempty"`
	store.Moved
	End *Counts `json:"end,omitempty"`
}

// A file is what was read of one. All of it is held: nothing is changed before
// it is known to be whole.
type file struct {
	header Header
	spaces []c3po.Space // in the order of the file
	things map[c3po.Space][]store.Moved
	counts Counts
}

func read(in io.Reader) (file, error) {
	f := file{things: map[c3po.Space][]store.Moved{}}
	d := json.NewDecoder(in)
	var first struct {
		Header *Header `json:"c3po_export"`
	}
	// The first line is read leniently: a later format is to be told by its number.
	if err := d.Decode(&first); err != nil || first.Header == nil {
		return f, errDamaged("it does not begin as one")
	}
	f.header = *first.Header
	if err := backup.CheckFormat("export", f.header.Format, Format, f.header.Version); err != nil {
		return f, err
	}
	d.DisallowUnknownFields()
	for n := 2; ; n++ {
		var l line
		if err := d.Decode(&l); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return f, errDamaged("it is cut off")
		} else if err != nil {
			return f, c3po.Errorf(c3po.InvalidRequest, "line %d of the export cannot be read: %w", n, err).Suggest("Make it anew with `c3po export`.")
		}
		if l.End != nil {
			f.counts.Damaged = l.End.Damaged
			if *l.End != f.counts {
				return f, errDamaged("it does not hold what its last line says")
			}
			return f, nil
		}
		if err := check(l); err != nil {
			return f, c3po.Errorf(c3po.InvalidRequest, "line %d of the export makes no sense: %w", n, err).Suggest("Make it anew with `c3po export`.")
		}
		if f.things[l.Space] == nil {
			f.spaces = append(f.spaces, l.Space)
		}
		f.things[l.Space] = append(f.things[l.Space], l.Moved)
		f.counts.add(l.Moved)
	}
}

// check refuses what no export writes, and what would put the books of a space
// out of balance.
func check(l line) error {
	if _, err := c3po.ParseSpace(string(l.Space)); err != nil {
		return err
	}
	switch m := l.Moved; {
	case m.Agent != nil:
		return present(m.Agent.ID != "" && !m.Agent.ID.Reserved(), "an agent without a name")
	case m.Room != nil:
		return present(m.Room.Name != "" && m.Room.Name != c3po.Everybody, "a room without a name")
	case m.Member != nil:
		return present(m.Member.Room != "" && m.Member.Agent != "", "a member of nothing")
	case m.Post != nil:
		return present(m.Post.ID.Room() != "" && m.Post.Bytes >= 0, "a post in no room")
	case m.Message != nil:
		switch m.Message.State {
		case c3po.StatePending, c3po.StateAcked, c3po.StateCancelled, c3po.StateDead:
		default:
			return errors.New("a message in no state")
		}
		return present(m.Message.ID != "" && m.Message.ID.Room() == "" && m.Message.Bytes >= 0, "a message to nobody")
	}
	return errors.New("it holds nothing")
}

func present(is bool, otherwise string) error {
	if is {
		return nil
	}
	return errors.New(otherwise)
}

func errDamaged(how string) error {
	return c3po.Errorf(c3po.InvalidRequest, "this is no whole export: %s", how).Suggest("Name the file that `c3po export` wrote.")
}
