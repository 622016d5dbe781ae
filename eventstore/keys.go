package eventstore

import (
	"context"
	_ "embed"
	"fmt"

	"muster/internal/postgres/statement"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

var (
	//go:embed sql/lock_keys.sql
	lockKeys string
	//go:embed sql/find_keys.sql
	findKeys string
)

// LockKeys locks and returns the known ones of keys, in sorted order, so that
// two writers with overlapping batches wait instead of deadlocking. Unknown
// keys are reserved for the transaction too: two writers that both meet a key
// for the first time do so one after the other. Call it before AppendTx, and once a
// transaction, with all keys; or for kinds of keys in an order that every writer keeps.
//
// A key cannot hold U+0000 or invalid UTF-8, as no text in PostgreSQL can.
func (s *Store) LockKeys(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, streamType string, keys []string) (map[string]StreamKey, error) {
	return queryKeys(ctx, tx, lockKeys, "lock", organization, streamType, keys)
}

// FindKeys returns the current state of the known keys, without locking them: for callers that
// only refer to these streams.
func (s *Store) FindKeys(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, streamType string, keys []string) (map[string]StreamKey, error) {
	return queryKeys(ctx, q, findKeys, "find", organization, streamType, keys)
}

func queryKeys(
	ctx context.Context, q sqlx.QueryerContext, query, verb string, organization uuid.UUID, streamType string, keys []string,
) (map[string]StreamKey, error) {
	known := make(map[string]StreamKey, len(keys))
	if len(keys) == 0 {
		return known, nil
	}
	found, err := statement.All[StreamKey](ctx, q, fmt.Sprintf("%s %d keys of %s", verb, len(keys), streamType), query, organization, streamType, keys)
	for _, k := range found {
		known[k.Key] = k
	}
	return known, err
}
