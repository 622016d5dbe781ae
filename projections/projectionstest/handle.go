package projectionstest

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/eventstore/topic"
)

// Handle has handlers handle what is in their logs now. Several may at once, as when two processes
// believe to be elected.
func Handle(ctx context.Context, db *sqlx.DB, groups ...topic.Group) error {
	for _, g := range groups {
		err := eventstore.Transact(ctx, db, func(tx *sqlx.Tx) error {
			head, err := eventstore.New(db).Head(ctx, tx, g.Log)
			if err != nil {
				return err
			}
			return g.Advance(ctx, tx, head.Position)
		})
		if err != nil {
			return fmt.Errorf("handle the log %s as %s: %w", g.Log, g.Name, err)
		}
	}
	return nil
}
