package redisstore

import (
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

// auditMost is how many entries are kept, about.
const auditMost = 10_000

// Audit implements auth.Store.
func (s *Store) Audit(ctx context.Context, e auth.AuditEntry) error {
	e.ID, e.At = "", time.Time{} // the stream says both
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = s.run(ctx, s.scripts.audit, []string{auditKey}, []string{string(text), itoa(auditMost)})
	return err
}

// AuditTail implements auth.Store.
func (s *Store) AuditTail(ctx context.Context, after string, limit int) ([]auth.AuditEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	rows, err := s.commands.Do(ctx, s.auditRead(after, limit)).AsXRange()
	if refused, ok := rueidis.IsRedisErr(err); ok && strings.Contains(refused.Error(), "Invalid stream ID") {
		return nil, c3po.Errorf(c3po.InvalidRequest, "%q is no place in the audit", after).
			Suggest("Give the id of an entry, or leave it out for the newest ones.")
	}
	if err != nil && !rueidis.IsRedisNil(err) {
		return nil, s.failure(ctx, "audit", err)
	}
	if after == "" {
		slices.Reverse(rows)
	}
	entries := []auth.AuditEntry{}
	for _, row := range rows {
		var e auth.AuditEntry
		if err := json.Unmarshal([]byte(row.FieldValues["e"]), &e); err != nil {
			return nil, err
		}
		e.ID = row.ID
		ms, _, _ := strings.Cut(row.ID, "-")
		e.At = instantOf(ms)
		entries = append(entries, e)
	}
	return entries, nil
}

func (s *Store) auditRead(after string, limit int) rueidis.Completed {
	if after == "" {
		return s.commands.B().Xrevrange().Key(auditKey).End("+").Start("-").Count(int64(limit)).Build()
	}
	return s.commands.B().Xrange().Key(auditKey).Start("(" + after).End("+").Count(int64(limit)).Build()
}

// instantOf is a moment as scripts write it down.
func instantOf(ms string) time.Time {
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return instant(n)
}
