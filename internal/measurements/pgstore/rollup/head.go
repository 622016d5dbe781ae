package rollup

import (
	"context"
	_ "embed" // the statements

	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/recover.sql
	recoverHead string
	//go:embed sql/recovered.sql
	headRecovered string
)

// recover begins to make anew what the head lost in a crash of the database.
func (r *Roller) recover(ctx context.Context) error {
	lost, err := statement.Affected(ctx, r.ledger.DB, "look whether the head was lost", recoverHead)
	if lost > 0 {
		r.ledger.Log.WarnContext(ctx, "the database has crashed: what open hours come to is made anew from their samples", "hours", lost)
	}
	return err
}

// recovered records that the head can be read, if it can.
func (r *Roller) recovered(ctx context.Context) error {
	return statement.Exec(ctx, r.ledger.DB, "look whether the head is complete", headRecovered)
}
