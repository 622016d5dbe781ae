package pgstore

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
func (s *Store) recover(ctx context.Context) error {
	lost, err := statement.Affected(ctx, s.db, "look whether the head was lost", recoverHead)
	if lost > 0 {
		s.log.WarnContext(ctx, "the database has crashed: what open hours come to is made anew from their samples", "hours", lost)
	}
	return err
}

// ready says that the head has all that it had before a crash.
func (s *Store) ready(ctx context.Context) (bool, error) {
	ready, known, err := statement.Find[bool](ctx, s.db, "look whether the head is complete", `SELECT ready FROM head_state`)
	return ready && known, err
}

// recovered records that the head can be read, if it can.
func (s *Store) recovered(ctx context.Context) error {
	return statement.Exec(ctx, s.db, "look whether the head is complete", headRecovered)
}
