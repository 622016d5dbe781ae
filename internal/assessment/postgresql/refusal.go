package postgresql

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"muster/internal/snapshot"
)

// reasonOf says in a code and a sentence why a query gave nothing. What the
// server said stays out of it: its text may quote data.
func reasonOf(err error) (code, sentence string) {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch answer.Code {
		case "42501":
			return snapshot.ReasonPermissionDenied, "the server denied permission for it"
		case "57014", "55P03":
			return snapshot.ReasonTimeout, "the server did not finish it in time"
		default:
			return snapshot.ReasonQueryFailed, "the query failed with SQLSTATE " + answer.Code
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err) {
		return snapshot.ReasonTimeout, "the server did not answer in time"
	}
	return snapshot.ReasonQueryFailed, "the connection broke"
}
