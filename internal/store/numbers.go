package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// RateWindow is how far back sends are counted.
	RateWindow = 60 * time.Second
	// MaxNumbered is the last number an id is tried with: name-64.
	MaxNumbered = 64
	// NotesLate is how old a note can be when it is written: a node writes down
	// once a second what it learned.
	NotesLate = 2 * time.Second
	// MaxServedReaders is how many readers of one message are kept.
	MaxServedReaders = 8
	// MaxMarkedReaders is of how many readers of an agent's mail it is kept how far they
	// were told of it, and given it.
	MaxMarkedReaders = 8
	// MaxToldNotices is for how many notices to one reader the time is kept, so that the
	// time it heard of a message never changes. For earlier mail the time is unknown.
	MaxToldNotices = 24
	// MaxRoomReaders is of how many readers of an agent it is kept how far they have come
	// in a room.
	MaxRoomReaders = 8
	// SweepEvery is how much time a space lives at most between two sweeps, which
	// find what no clock tells of.
	SweepEvery = time.Hour
	// normalBand puts normal mail behind urgent mail in reading order. Sequence
	// numbers stay below it, and the sum stays exact in a 64 bit float.
	NormalBand = int64(1) << 52
)

// NextSweep is the lived second at which a space that was just swept is swept
// again: when the life of something it keeps ends, 0 for nothing; and in time for
// what has yet to come.
func NextSweep(l c3po.Limits, lived int64, ends ...int64) int64 {
	next := lived + int64(max(1, min(SweepEvery, l.EndedLife, l.DeadLife)/time.Second))
	for _, end := range ends {
		if end > 0 {
			next = min(next, end)
		}
	}
	return next
}

// MessageHex is the last part of the id of the message with this sequence
// number: a permutation of its low 32 bits, so that ids of neighbours differ in
// more than a digit and two numbers share a hex only 2^32 messages apart.
func MessageHex(seq int64) string {
	left, right := seq>>16&0xffff, seq&0xffff
	for _, key := range [...]int64{0x9E37, 0x79B9, 0x7F4A, 0x7C15} {
		left, right = right, left^((right*key+0x3C6E+right>>7)&0xffff)
	}
	return fmt.Sprintf("%08x", left<<16|right)
}

// ReadingPosition is where a message stands in its inbox: urgent mail first,
// each priority by sequence.
func ReadingPosition(p c3po.Priority, seq int64) int64 {
	if p == c3po.Urgent {
		return seq
	}
	return seq + NormalBand
}

// Candidates are the ids the caller can be given, in the order they are tried:
// Want and its numbers, as far as Agents covers them. Without Want itself if that
// is another's.
func (s RegisterStep) Candidates(wantIsAnothers bool) []c3po.AgentID {
	ids := make([]c3po.AgentID, 0, MaxNumbered)
	for n := 1; n <= MaxNumbered; n++ {
		id := s.Want.Numbered(n)
		if (n > 1 || !wantIsAnothers) && (s.Agents == "" || s.Agents.Covers(id)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// fingerprintVersion changes with what a Fingerprint is made of.
const fingerprintVersion = "1:"

// Fingerprint is the same for two drafts of one sender exactly if they ask for the
// same message. Of a reply, answers is the message it answers, and the draft is as
// the caller gave it, before the store filled in To and Thread. What the sender is
// called is no part of it, because it may be renamed before it repeats a draft; nor is
// the trace that it is written in, because each try may have another. The store compares
// only fingerprints of one version: two versions of c3po can share a Redis.
func Fingerprint(d Draft, answers c3po.MessageID) string {
	if asker, owner, hex := answers.Split(); owner == d.From {
		answers = c3po.NewMessageID(asker, "", hex)
	}
	whole := make([]byte, 0, 256+len(d.Text)+len(d.Context)+len(d.Metadata))
	fields := [...]string{
		string(d.To), d.Thread, string(answers), string(d.Kind), d.Text, d.Context, d.Status,
		d.ContentType, string(c3po.WithoutTrace(d.Metadata)), string(d.Priority), strconv.FormatBool(d.ExpectsReply), string(d.HandedTo), string(d.Room),
	}
	all := append(fields[:], d.Choices...)
	for _, file := range d.Attachments {
		all = append(all, "file:"+string(file.ID))
	}
	for _, field := range all {
		// The length in front keeps two fields from being cut elsewhere.
		whole = append(append(strconv.AppendInt(whole, int64(len(field)), 10), ':'), field...)
	}
	sum := sha256.Sum256(whole)
	return fingerprintVersion + hex.EncodeToString(sum[:])
}

// unpermute undoes MessageHex: the low 32 bits of the sequence number.
func unpermute(hex string) int64 {
	n, err := strconv.ParseInt(hex, 16, 64)
	if err != nil {
		return -1
	}
	left, right := n>>16&0xffff, n&0xffff
	for _, key := range [...]int64{0x7C15, 0x7F4A, 0x79B9, 0x9E37} {
		left, right = right^((left*key+0x3C6E+left>>7)&0xffff), left
	}
	return left<<16 | right
}

// What a sweep forgets, because it is of no use any more.

// LeaseOver says that a node's lease ended so long ago that it will not be renewed.
func LeaseOver(l c3po.Limits, until, now time.Time) bool { return now.Sub(until) >= l.NodeLease }

// AliasOver says that a bare name has stopped to point to the agent it meant.
func AliasOver(l c3po.Limits, lived, at int64) bool { return lived-at >= int64(l.NameLife/time.Second) }

// NameOver says that no id of mail can have the former name of an agent in it, also
// if the mail died and was delivered again at the last moment.
func NameOver(l c3po.Limits, lived, at int64) bool {
	return lived-at >= int64((l.NameLife+2*(l.MessageLife+max(l.EndedLife, l.DeadLife)))/time.Second)
}

// RoomOver says that a room was empty and silent for as long as an empty room is kept.
func RoomOver(l c3po.Limits, lived int64, r RoomRecord) bool {
	return l.RoomLife > 0 && r.Members == 0 && lived-r.Emptied >= int64(l.RoomLife/time.Second)
}

// PauseOver says that a chain was paused so long ago that it can be forgotten, if
// nothing of it is left.
func PauseOver(l c3po.Limits, since, now time.Time) bool { return now.Sub(since) >= l.DeadLife }

// EmptyLife is how long a space in which nothing is left stays, in lived time.
func EmptyLife(l c3po.Limits) time.Duration { return l.EndedLife }

// ImportLife is for how long after its last step an import can be repeated.
func ImportLife(l c3po.Limits) time.Duration { return l.DeadLife }

// OnlineFor is how long after its last call an agent without a connection counts as
// online: three of the intervals it declared, so that two lost heartbeats change
// nothing.
func OnlineFor(l c3po.Limits, heartbeat int) time.Duration {
	if heartbeat <= 0 {
		return l.OnlineWindow
	}
	return c3po.OnlineBeats * time.Duration(heartbeat) * time.Second
}
