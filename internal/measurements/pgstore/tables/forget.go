package tables

import (
	"context"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

// forgetRows is how many rows one statement forgets.
const forgetRows = 5000

// Forget deletes rows that nothing is made of any more, forgetRows at a time, which is
// the statement's last argument.
func Forget(ctx context.Context, db *sqlx.DB, what, query string, args ...any) error {
	for args = append(args, forgetRows); ; {
		if n, err := statement.Affected(ctx, db, what, query, args...); err != nil || n < forgetRows {
			return err
		}
	}
}
