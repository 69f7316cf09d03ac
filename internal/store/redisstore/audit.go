package redisstore

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// auditTries is how often an entry is written anew because another came first.
const auditTries = 100

// Audit implements auth.Store. Redis' scripts have no SHA-256, so the seal is made
// here, over where the script has said that the entry goes; it takes the entry only
// if it still goes there.
func (s *Store) Audit(ctx context.Context, e auth.AuditEntry) (auth.AuditEntry, error) {
	e.ID, e.At, e.N, e.Prev, e.Hash = "", time.Time{}, 0, "", "" // the chain says these
	text, err := json.Marshal(e)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(text, &e); err != nil { // as it will be read
		return e, err
	}
	stream, other := auditKey, refusalsKey
	if e.Refusal() {
		stream, other = other, stream
	}
	// Those of one coordinator take turns. Others may come between.
	s.auditing.Lock()
	defer s.auditing.Unlock()
	for range auditTries {
		answer, err := s.run(ctx, "audit_append", noSpace, with{
			"stream": stream, "other": other, "name": stream, "entry": string(text), "max_entries": c3po.AuditKept,
			"n": e.N, "prev": e.Prev, "id": e.ID, "hash": e.Hash,
		})
		if err != nil {
			return e, err
		}
		if word(answer[0]) == "ok" {
			return e, nil
		}
		e.N, e.Prev, e.ID = integer(answer[1])+1, word(answer[2]), word(answer[3])
		e.At = timeOf(e.ID)
		e.Hash = c3po.AuditEntry(e).Seal()
	}
	return e, c3po.Errorf(c3po.RedisUnavailable, "others write to the audit all the time").Suggest("Try again.")
}

// RecordImport writes down that a person brings agents and mail in from a file.
func (s *Store) RecordImport(ctx context.Context, what string) error {
	_, err := s.Audit(ctx, auth.AuditEntry{Event: auth.EventImported, Remote: "local", Detail: what})
	return err
}

// AuditHeads implements auth.Store.
func (s *Store) AuditHeads(ctx context.Context) (c3po.AuditHeads, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	said, err := s.commands.Do(ctx, s.commands.B().Hgetall().Key(chainKey).Build()).AsStrMap()
	if err != nil {
		return c3po.AuditHeads{}, s.failure(ctx, "audit", err)
	}
	return c3po.AuditHeads{Deeds: headOf(said[auditKey]), Refusals: headOf(said[refusalsKey])}, nil
}

func headOf(text string) c3po.AuditHead {
	n, hash, _ := strings.Cut(text, " ")
	return c3po.AuditHead{N: atoi(n), Hash: hash}
}

// AuditTail implements auth.Store.
func (s *Store) AuditTail(ctx context.Context, after string, limit int) ([]auth.AuditEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	entries := []auth.AuditEntry{}
	for _, answer := range s.commands.DoMulti(ctx, s.auditRead(auditKey, after, limit), s.auditRead(refusalsKey, after, limit)) {
		rows, err := answer.AsXRange()
		if refused, ok := rueidis.IsRedisErr(err); ok && strings.Contains(refused.Error(), "Invalid stream ID") {
			return nil, c3po.Errorf(c3po.InvalidRequest, "%q is not a place in the audit", after).
				Suggest("Give the id of an entry, or leave it out for the newest ones.")
		}
		if err != nil && !rueidis.IsRedisNil(err) {
			return nil, s.failure(ctx, "audit", err)
		}
		for _, row := range rows {
			e, err := auditEntry(row)
			if err != nil {
				return nil, err
			}
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b auth.AuditEntry) int { return compareStreamIDs(a.ID, b.ID) })
	most := min(limit, len(entries))
	if after == "" {
		return entries[len(entries)-most:], nil
	}
	return entries[:most], nil
}

func auditEntry(row rueidis.XRangeEntry) (auth.AuditEntry, error) {
	var e auth.AuditEntry
	if err := json.Unmarshal([]byte(row.FieldValues["e"]), &e); err != nil {
		return e, err
	}
	e.ID, e.At = row.ID, timeOf(row.ID)
	e.N, e.Prev, e.Hash = atoi(row.FieldValues["n"]), row.FieldValues["p"], row.FieldValues["h"]
	return e, nil
}

// timeOf is when an entry of a stream was written, as its id says.
func timeOf(id string) time.Time {
	ms, _, _ := strings.Cut(id, "-")
	return instantOf(ms)
}

func (s *Store) auditRead(key, after string, limit int) rueidis.Completed {
	if after == "" {
		return s.commands.B().Xrevrange().Key(key).End("+").Start("-").Count(int64(limit)).Build()
	}
	return s.commands.B().Xrange().Key(key).Start("(" + after).End("+").Count(int64(limit)).Build()
}

// compareStreamIDs compares ids of entries, which are two numbers.
func compareStreamIDs(a, b string) int {
	aMillis, aSeq, _ := strings.Cut(a, "-")
	bMillis, bSeq, _ := strings.Cut(b, "-")
	return cmp.Or(
		cmp.Compare(len(aMillis), len(bMillis)), cmp.Compare(aMillis, bMillis),
		cmp.Compare(len(aSeq), len(bSeq)), cmp.Compare(aSeq, bSeq),
	)
}

// instantOf is a moment as scripts write it down.
func instantOf(ms string) time.Time {
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return instant(n)
}
