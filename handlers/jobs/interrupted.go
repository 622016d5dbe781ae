package jobs

import (
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"muster/internal/postgres"
)

// cannotCommit are SQLSTATEs of a database that takes nothing from anybody: it has no room,
// or no connection, left, its disk fails, it is a standby, or a session whose commit does not
// return holds a lock that all need.
var cannotCommit = []string{"53100", "53300", "58030", "25006", "55P03"}

// interrupted recognizes an attempt that ended because the database was away or did not
// commit, which says nothing of the work. A deadline says nothing of the database: it may be
// the work's.
func interrupted(err error) bool {
	var (
		connect *pgconn.ConnectError
		lost    *postgres.ConnectionLostError
		server  *pgconn.PgError
	)
	if errors.As(err, &server) {
		return strings.HasPrefix(server.Code, "08") || strings.HasPrefix(server.Code, "57P") || slices.Contains(cannotCommit, server.Code)
	}
	return errors.As(err, &connect) || errors.As(err, &lost)
}

// mostInterruptions is after how many in a row the wait does not grow any more: once the
// database is back nobody waits longer than a minute and a half.
const mostInterruptions = 3
