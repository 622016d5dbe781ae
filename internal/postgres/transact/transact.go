package transact

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

// Once commits what do does in one transaction; nil options are READ COMMITTED. do's
// error comes back as it is, after a rollback. Where ctx ended amid it, the error is that of
// ctx, too.
func Once(ctx context.Context, db *sqlx.DB, options *sql.TxOptions, do func(tx *sqlx.Tx) error) error {
	tx, err := db.BeginTxx(ctx, options)
	if err != nil {
		return &statement.Error{What: "begin", Err: err}
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := do(tx); err != nil {
		return ended(ctx, err)
	}
	if err := tx.Commit(); err != nil {
		return &statement.Error{What: "commit", Err: ended(ctx, err)}
	}
	return nil
}

// ended adds why a transaction was over. Once ctx has ended, database/sql rolls back, and says
// of everything after that only that the transaction has already ended.
func ended(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil && errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// Within runs do under a savepoint of tx. If do fails, tx is as it was before and goes on; the
// error is do's.
func Within(ctx context.Context, tx *sqlx.Tx, do func() error) error {
	if err := statement.Exec(ctx, tx, "set a savepoint", `SAVEPOINT within`); err != nil {
		return err
	}
	err := do()
	if err != nil {
		err = errors.Join(err, statement.Exec(ctx, tx, "go back to a savepoint", `ROLLBACK TO SAVEPOINT within`))
	}
	return errors.Join(err, statement.Exec(ctx, tx, "release a savepoint", `RELEASE SAVEPOINT within`))
}
