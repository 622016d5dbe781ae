package transact

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"

	"muster/internal/statement"
)

// Once commits what do does in one transaction; nil options are READ COMMITTED. do's
// error comes back as it is, after a rollback.
func Once(ctx context.Context, db *sqlx.DB, options *sql.TxOptions, do func(tx *sqlx.Tx) error) error {
	tx, err := db.BeginTxx(ctx, options)
	if err != nil {
		return &statement.Error{What: "begin", Err: err}
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := do(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return &statement.Error{What: "commit", Err: err}
	}
	return nil
}
