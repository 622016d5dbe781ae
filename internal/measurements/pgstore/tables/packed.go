package tables

import (
	"context"
	_ "embed" // the statement
	"fmt"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

//go:embed sql/packed.sql
var packedAmong string

// Packed says which of some hours have raw samples in blocks.
func Packed(ctx context.Context, q sqlx.QueryerContext, hours []Bucket) (map[Bucket]bool, error) {
	if len(hours) == 0 {
		return nil, nil
	}
	found, err := statement.All[Bucket](ctx, q, fmt.Sprintf("look which of %d hours are packed", len(hours)), packedAmong, statement.Columns(hours)...)
	packed := make(map[Bucket]bool, len(found))
	for _, b := range found {
		packed[b.OnGrid()] = true
	}
	return packed, err
}
