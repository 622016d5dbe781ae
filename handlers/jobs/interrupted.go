package jobs

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"muster/internal/postgres"
)

// cannotCommit are SQLSTATEs of a database that takes nothing from anybody: it has no room,
// or no connection, left, its disk fails, or a session whose commit does not
// return holds a lock that all need.
var cannotCommit = []string{"53100", "53300", "58030", "55P03"}

// interrupted recognizes an attempt that ended because the database was away or did not
// commit, which says nothing of the work. A deadline says nothing of the database: it may be
// the work's.
func interrupted(err error) bool {
	var (
		connect *pgconn.ConnectError
		lost    *postgres.ConnectionLostError
		server  *pgconn.PgError
	)
	if errors.As(err, &server) && slices.Contains(cannotCommit, server.Code) || errors.As(err, &connect) || errors.As(err, &lost) {
		return true
	}
	return !errors.Is(err, context.DeadlineExceeded) && postgres.Away(err)
}

// mostInterruptions is the number in a row after which the wait does not grow any more: once
// the database is back, no job waits longer than a minute and a half.
const mostInterruptions = 3
