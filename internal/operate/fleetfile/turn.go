package fleetfile

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

// Turn waits until no other run is at work on an organization, and calls waits first
// where it has to. It returns what ends this run's turn. A run that dies ends its turn,
// too: it is a lock of its session.
func Turn(ctx context.Context, db *sqlx.DB, organization uuid.UUID, waits func()) (end func(), err error) {
	conn, err := db.Connx(ctx)
	if err != nil {
		return nil, fmt.Errorf("take a turn at a fleet: %w", err)
	}
	free, err := statement.One[bool](ctx, conn, "take a turn at a fleet", `SELECT pg_try_advisory_lock(hashtext('fleet apply'), hashtext($1))`, organization.String())
	if err == nil && !free {
		waits()
		err = statement.Exec(ctx, conn, "wait for a turn at a fleet", `SELECT pg_advisory_lock(hashtext('fleet apply'), hashtext($1))`, organization.String())
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return func() {
		ctx := context.WithoutCancel(ctx)
		_ = statement.Exec(ctx, conn, "end a turn at a fleet", `SELECT pg_advisory_unlock(hashtext('fleet apply'), hashtext($1))`, organization.String())
		_ = conn.Close()
	}, nil
}
