package projections

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrTransactionPooling says that a pooler between us and PostgreSQL gives our server
// connection to others between two transactions.
var ErrTransactionPooling = errors.New("the database URL leads through a pooler in transaction mode " +
	"(PgBouncer pool_mode=transaction), but muster needs sessions for its election, LISTEN and prepared statements: " +
	"connect to PostgreSQL directly or use pool_mode=session")

// RequireSessions returns ErrTransactionPooling where url does not lead to
// sessions of PostgreSQL itself.
func RequireSessions(ctx context.Context, url string) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("read the database URL: %w", err)
	}
	// A pooler that cannot prepare statements must get as far as the answer.
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	first, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("reach the database: %w", err)
	}
	defer func() { _ = first.Close(ctx) }()
	second, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("reach the database: %w", err)
	}
	defer func() { _ = second.Close(ctx) }()
	return requireSessions(ctx, first, second)
}

// backend is a client connection as the probe needs it.
type backend interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// requireSessions asks on one connection which server process answers, then
// holds a transaction open on the other and asks again. A pooler in transaction
// mode has one server process free when the transaction begins, the one that
// has just answered, and gives it away: either both connections name the same
// process or the first has to change.
func requireSessions(ctx context.Context, first, second backend) error {
	before, err := pid(ctx, first)
	if err != nil {
		return err
	}
	if _, err := second.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	other, err := pid(ctx, second)
	if err != nil {
		return err
	}
	if other == before {
		return ErrTransactionPooling
	}
	after, err := pid(ctx, first)
	if err != nil {
		return err
	}
	if after != before {
		return ErrTransactionPooling
	}
	_, err = second.Exec(ctx, "ROLLBACK")
	return err
}

func pid(ctx context.Context, b backend) (pid int, err error) {
	err = b.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid)
	return pid, err
}
