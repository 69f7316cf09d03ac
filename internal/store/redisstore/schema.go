package redisstore

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// sign refuses data that this version does not understand, and writes down its
// schema where the data is of an earlier one, or where there is none. Where that
// was done already nothing is written: a coordinator starts on a Redis that
// takes no writes, and its readiness says why it cannot work.
func (s *Store) sign(ctx context.Context, writer string) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	fields, err := s.commands.Do(ctx, s.commands.B().Hmget().Key(schemaKey).Field("schema", "min_reader", "version").Build()).AsStrSlice()
	if err != nil {
		return s.failure(ctx, "read the schema", err)
	}
	if need := atoi(fields[1]); need > store.Schema {
		return refuseNewer(need, fields[2])
	}
	if writer == "" || atoi(fields[0]) >= store.Schema {
		return nil
	}
	answer, err := s.run(ctx, "schema_record", noSpace, with{"of": store.Schema, "reader": store.MinReader, "version": writer})
	if err == nil && word(answer[0]) == "newer" {
		err = refuseNewer(integer(answer[1]), word(answer[2]))
	}
	return err
}

func refuseNewer(need int64, version string) error {
	return c3po.Errorf(c3po.InvalidRequest, "what is in this Redis was written by a newer c3po, %s: it takes one that reads schema %d, and this one reads schema %d", version, need, store.Schema).
		Suggest("Upgrade this c3po to %s or later. Nothing was changed.", version)
}
