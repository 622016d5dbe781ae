package topic

import (
	"context"

	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/postgres/statement"
)

// Ahead is a group that had applied more events than its log has.
type Ahead struct {
	Group  string         `db:"consumer_group"`
	Log    eventstore.Log `db:"log"`
	Events int64          `db:"events"`
}

// SetBack sets groups that are ahead of their log to its end, notes it (checkpoints.ahead_since),
// and returns them. What is recorded from then on is applied: before, a group swallowed as many
// new events as the log had lost. What a group made of the lost ones stays.
func SetBack(ctx context.Context, db *sqlx.DB) ([]Ahead, error) {
	return statement.All[Ahead](ctx, db, "set back who is ahead of a log", setBack)
}
