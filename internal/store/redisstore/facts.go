package redisstore

import (
	"cmp"
	"crypto/sha1" // #nosec G505 -- see seal
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// fact is what the scripts write beside a body; lua/lib.lua spells the same
// letters.
type fact struct {
	Seq        int64             `json:"q"`
	From       c3po.AgentID      `json:"f"`
	Thread     string            `json:"t"`
	Kind       c3po.Kind         `json:"k"`
	Priority   c3po.Priority     `json:"p,omitempty"`
	Expects    int               `json:"e,omitempty"`
	Accepted   int64             `json:"a"`
	Durability c3po.Durability   `json:"d"`
	Expires    int64             `json:"x,omitempty"`
	Bytes      int               `json:"z"`
	KeyBytes   int               `json:"y,omitempty"`
	Answers    c3po.MessageID    `json:"r,omitempty"`
	State      string            `json:"s,omitempty"`
	Reason     string            `json:"w,omitempty"`
	Ended      int64             `json:"n,omitempty"`
	Cancelled  int64             `json:"c,omitempty"`
	Silent     int64             `json:"sl,omitempty"` // when who has read it ended its turn without an answer
	Stalled    int64             `json:"st,omitempty"` // since when who has it makes no step
	Deadline   int64             `json:"dl,omitempty"`
	Ticket     c3po.MessageID    `json:"o,omitempty"`
	HandedFrom c3po.AgentID      `json:"b,omitempty"`
	AskedBy    string            `json:"u,omitempty"`
	Chain      string            `json:"ch,omitempty"`
	Quiet      int               `json:"qt,omitempty"`
	GoesBack   string            `json:"g,omitempty"` // see wordText
	Seal       string            `json:"h,omitempty"` // over what of this never changes
	Replies    []replyFact       `json:"an,omitempty"`
	Claim      *claimFact        `json:"cl,omitempty"`
	Kept       int64             `json:"l,omitempty"` // lived second until which it is, once it has ended
	Notices    map[string]notice `json:"nt,omitempty"`
	Served     []served          `json:"sv,omitempty"`
	Received   *served           `json:"rc,omitempty"`
	Used       []runUsage        `json:"us,omitempty"`
}

// runUsage is what one run has used for the message.
type runUsage struct {
	Run        string `json:"r"`
	Client     string `json:"b"`
	Input      int64  `json:"i"`
	Output     int64  `json:"o"`
	CacheRead  int64  `json:"c"`
	CacheWrite int64  `json:"w"`
	MicroUSD   int64  `json:"m"`
	Shared     int    `json:"s,omitempty"`
}

func (u runUsage) usage() store.RunUsage {
	return store.RunUsage{Run: u.Run, Client: u.Client, Shared: u.Shared == 1, Usage: c3po.Usage{
		InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite, MicroUSD: u.MicroUSD,
	}}
}

type replyFact struct {
	Hex     string         `json:"h"`
	At      int64          `json:"a"`
	MovedTo c3po.MessageID `json:"m,omitempty"`
	From    c3po.AgentID   `json:"f,omitempty"` // by the name it had then; missing: the owner of the mailbox
}

type claimFact struct {
	By       c3po.AgentID `json:"b"`
	At       int64        `json:"a"`
	Released int          `json:"x,omitempty"`
}

type served struct {
	Reader string `json:"r"`
	Route  string `json:"o"`
	First  int64  `json:"f"`
	Last   int64  `json:"l"`
	Times  int    `json:"n"`
	Cursor int64  `json:"c"`
	Before int    `json:"b,omitempty"`
}

type mark struct {
	Seq     int64   `json:"q"`
	At      int64   `json:"a"`
	Route   string  `json:"o"`
	Before  []int64 `json:"h"` // Seq and At of the notices before, the oldest first
	Dropped int64   `json:"d"` // Seq of the last notice that is no longer known
}

// first is the first notice that told of a message.
func (m mark) first(seq int64) (upTo, at int64, known bool) {
	if seq <= m.Dropped || seq > m.Seq {
		return 0, 0, false
	}
	for i := 0; i+1 < len(m.Before); i += 2 {
		if m.Before[i] >= seq {
			return m.Before[i], m.Before[i+1], true
		}
	}
	return m.Seq, m.At, true
}

func (s served) fact() store.ServedFact {
	return store.ServedFact{Reader: s.Reader, Route: s.Route, First: instant(s.First), Last: instant(cmp.Or(s.Last, s.First)), Times: max(s.Times, 1), Cursor: s.Cursor, Before: s.Before == 1}
}

// sound says that the facts are those that were stored. A message of before there
// were seals has none.
func (f fact) sound() bool { return f.Seal == "" || f.Seal == f.seal() }

// seal is what lua/lib.lua makes of the facts of a new message.
func (f fact) seal() string {
	number := func(n int64) string {
		if n == 0 {
			return ""
		}
		return itoa(n)
	}
	lasting := strings.Join([]string{
		string(f.From), f.Thread, string(f.Kind), string(f.Priority), number(int64(f.Expects)), itoa(f.Accepted), string(f.Durability),
		itoa(f.Bytes), string(f.Answers), string(f.Ticket), string(f.HandedFrom), number(int64(f.Quiet)), number(f.Deadline),
	}, "\n")
	if f.GoesBack != "" {
		lasting += "\n" + f.GoesBack
	}
	sum := sha1.Sum([]byte(lasting)) // #nosec G401 -- it finds damage, not intent, and is the one digest that Redis offers to scripts
	return hex.EncodeToString(sum[:])[:8]
}

// entry puts a message together from its two stored halves. Facts that cannot be
// read are damage too; nobody knows then who wrote the message.
func entry(owner c3po.AgentID, hex, rawFact, rawBody string) store.Entry {
	f, plain := plainFact(rawFact)
	if !plain {
		f = fact{}
		if json.Unmarshal([]byte(rawFact), &f) != nil {
			f.From = ""
		}
	}
	if f.From == "" {
		// How it ended is written by the step that put it away.
		var end struct {
			State  string `json:"s"`
			Reason string `json:"w"`
			Ended  int64  `json:"n"`
		}
		_ = json.Unmarshal([]byte(rawFact), &end)
		e := outline(owner, hex, fact{From: c3po.System, Kind: c3po.KindMessage, State: end.State, Reason: end.Reason, Ended: end.Ended})
		e.Corrupt = true
		return e
	}
	return assemble(owner, hex, f, rawBody)
}

// plainFact reads the facts of a message that nothing has happened to yet. It reports
// false for all that it does not know.
func plainFact(raw string) (f fact, ok bool) {
	ok = plainFields(raw, func(name, value string, number bool) bool {
		if !number {
			return f.setText(name, value)
		}
		n, err := strconv.ParseInt(value, 10, 64)
		return err == nil && f.setNumber(name, n)
	})
	return f, ok
}

func (f *fact) setNumber(name string, n int64) bool {
	switch name {
	case "q":
		f.Seq = n
	case "a":
		f.Accepted = n
	case "x":
		f.Expires = n
	case "dl":
		f.Deadline = n
	case "e":
		f.Expects = int(n)
	case "z":
		f.Bytes = int(n)
	case "y":
		f.KeyBytes = int(n)
	case "qt":
		f.Quiet = int(n)
	default:
		return false
	}
	return true
}

func (f *fact) setText(name, text string) bool {
	switch name {
	case "f":
		return f.From.UnmarshalText([]byte(text)) == nil
	case "r":
		return f.Answers.UnmarshalText([]byte(text)) == nil
	case "t":
		f.Thread = text
	case "k":
		f.Kind = c3po.Kind(text)
	case "p":
		f.Priority = c3po.Priority(text)
	case "d":
		f.Durability = c3po.Durability(text)
	case "ch":
		f.Chain = text
	case "u":
		f.AskedBy = text
	case "g":
		f.GoesBack = text
	case "h":
		f.Seal = text
	default:
		return false
	}
	return true
}

// assemble makes an entry. An empty body of a message that has ended is one that
// was trimmed.
func assemble(owner c3po.AgentID, hex string, f fact, rawBody string) store.Entry {
	e := outline(owner, hex, f)
	if rawBody == "" && f.State != "" {
		e.BodyGone, e.Message.BodyGone = true, true
		return e
	}
	b, intact := decodeBody(rawBody)
	if !intact || !f.sound() {
		e.Corrupt = true
		return e
	}
	b.fill(&e.Message)
	return e
}

// outline is an entry without its body.
func outline(owner c3po.AgentID, hex string, f fact) store.Entry {
	e := store.Entry{
		State:  cmp.Or(f.State, c3po.StatePending),
		Reason: f.Reason,
		Message: c3po.Message{
			ID: c3po.NewMessageID(f.From, owner, hex), MessageID: f.Answers, FromAgent: f.From, ToAgent: owner, Kind: f.Kind,
			Timestamp: instant(f.Accepted), Thread: f.Thread, Priority: cmp.Or(f.Priority, c3po.Normal),
			ExpectsReply: f.Expects == 1, Seq: f.Seq, Ticket: f.Ticket, HandedFrom: f.HandedFrom, Quiet: f.Quiet == 1, GoesBackTo: f.word(),
		},
		Facts: store.Facts{Accepted: instant(f.Accepted), Durability: f.Durability, Bytes: f.Bytes, KeyBytes: f.KeyBytes, Expires: f.Expires, Ended: instant(f.Ended),
			Cancelled: instant(f.Cancelled), Silent: instant(f.Silent), Stalled: instant(f.Stalled), Deadline: instant(f.Deadline), AskedBy: f.AskedBy},
	}
	e.Facts.Chain = f.Chain
	for _, r := range f.Replies {
		e.Facts.Answers = append(e.Facts.Answers, c3po.Answered{ID: c3po.NewMessageID(cmp.Or(r.From, owner), f.From, r.Hex), At: instant(r.At), MovedTo: r.MovedTo})
	}
	for _, r := range f.Served {
		e.Facts.Served = append(e.Facts.Served, r.fact())
	}
	for _, u := range f.Used {
		e.Facts.Used = append(e.Facts.Used, u.usage())
	}
	if f.Claim != nil {
		e.Facts.Claim = &c3po.Claim{By: f.Claim.By, At: instant(f.Claim.At), Released: f.Claim.Released == 1}
	}
	e.Facts.Notices = noticesOf(e.Message.ID, f.Notices)
	if f.Received != nil {
		got := f.Received.fact()
		e.Facts.Received = &got
	}
	return e
}

func entryOf(owner c3po.AgentID, row rueidis.RedisMessage) store.Entry {
	parts := list(row)
	return entry(owner, word(parts[0]), word(parts[1]), word(parts[2]))
}

// notifiedSessions picks the sessions that were told of this message.
func notifiedSessions(owner c3po.AgentID, seq int64, marks []rueidis.RedisMessage) []store.NotifiedNote {
	var out []store.NotifiedNote
	for i := 0; i+1 < len(marks); i += 2 {
		var m mark
		if json.Unmarshal([]byte(word(marks[i+1])), &m) != nil {
			continue
		}
		if upTo, at, known := m.first(seq); known {
			out = append(out, store.NotifiedNote{Agent: owner, Reader: word(marks[i]), Route: m.Route, Seq: upTo, At: instant(at)})
		}
	}
	slices.SortFunc(out, func(a, b store.NotifiedNote) int { return strings.Compare(a.Reader, b.Reader) })
	return out
}
