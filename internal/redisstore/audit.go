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

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// auditMost is how many entries are kept, about, of deeds and of refusals each.
// Anybody can be refused as often as they like; that must not push out what was
// done.
const auditMost = 10_000

// Audit implements auth.Store.
func (s *Store) Audit(ctx context.Context, e auth.AuditEntry) error {
	e.ID, e.At = "", time.Time{} // the stream says both
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	streams := []string{auditKey, refusalsKey}
	if e.Refusal() {
		slices.Reverse(streams)
	}
	_, err = s.run(ctx, s.scripts.audit, streams, []string{string(text), itoa(auditMost)})
	return err
}

// AuditTail implements auth.Store.
func (s *Store) AuditTail(ctx context.Context, after string, limit int) ([]auth.AuditEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	entries := []auth.AuditEntry{}
	for _, answer := range s.commands.DoMulti(ctx, s.auditRead(auditKey, after, limit), s.auditRead(refusalsKey, after, limit)) {
		rows, err := answer.AsXRange()
		if refused, ok := rueidis.IsRedisErr(err); ok && strings.Contains(refused.Error(), "Invalid stream ID") {
			return nil, c3po.Errorf(c3po.InvalidRequest, "%q is no place in the audit", after).
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
	e.ID = row.ID
	ms, _, _ := strings.Cut(row.ID, "-")
	e.At = instantOf(ms)
	return e, nil
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
