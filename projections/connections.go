package projections

import (
	"context"
	_ "embed" // the query
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jmoiron/sqlx"
)

// Pools says how many connections a process may open at once, by purpose.
type Pools struct {
	HTTP        int // the pool of the API and the commands
	Workers     int // the jobs' pool, where they have one of their own
	Subscribers int // the runner's Connections: groups + 2, one to listen, one for the election
	Open        int // how many of all these are open already while the budget is checked
}

// Sum is what the process needs at most.
func (p Pools) Sum() int { return p.HTTP + p.Workers + p.Subscribers }

// BudgetError says that a server has too few connections for this process.
type BudgetError struct {
	Pools    Pools
	Max      int // max_connections
	Reserved int // kept by the server for superusers and such
	Others   int // open by others now
}

// Short is by how many.
func (e *BudgetError) Short() int { return e.Pools.Sum() - (e.Max - e.Reserved - e.Others) }

func (e *BudgetError) Error() string {
	return fmt.Sprintf("PostgreSQL has %d connections too few: this process needs up to %d (%d for requests, %d for workers, "+
		"%d for projections); max_connections is %d, of which %d are reserved and %d used by others; "+
		"raise max_connections or make the pools smaller",
		e.Short(), e.Pools.Sum(), e.Pools.HTTP, e.Pools.Workers, e.Pools.Subscribers, e.Max, e.Reserved, e.Others)
}

//go:embed sql/select_budget.sql
var selectBudget string

// ConnectionBudget compares the connections that this process may open with those that the
// server has left, and returns a *BudgetError if there are too few. It counts the connections
// that others hold now, not those that they may still open: start it in every process.
func ConnectionBudget(ctx context.Context, db *sqlx.DB, pools Pools) error {
	e := &BudgetError{Pools: pools}
	var used int
	if err := db.QueryRowContext(ctx, selectBudget).Scan(&e.Max, &e.Reserved, &used); err != nil {
		return fmt.Errorf("read connection limits: %w", err)
	}
	e.Others = max(used-pools.Open, 0)
	if e.Short() > 0 {
		return e
	}
	return nil
}

// ErrTransactionPooling says that a pooler between us and PostgreSQL gives our server
// connection to others between two transactions.
var ErrTransactionPooling = errors.New("the database URL leads through a pooler in transaction mode " +
	"(PgBouncer pool_mode=transaction), but muster needs sessions for its election, LISTEN and prepared statements: " +
	"connect to PostgreSQL directly or use pool_mode=session")

// RequireSessions returns ErrTransactionPooling where a pool's connections are not sessions of
// PostgreSQL itself. It takes two of them for a moment.
func RequireSessions(ctx context.Context, pool *pgxpool.Pool) error {
	first, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("reach the database: %w", err)
	}
	defer first.Release()
	second, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("reach the database: %w", err)
	}
	defer second.Release()
	return requireSessions(ctx, first, second)
}

// backend is a client connection as the probe needs it.
type backend interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// requireSessions asks on one connection which server process answers, then holds a transaction
// open on the other and asks again. A pooler in transaction mode has one free server process
// when the transaction begins, the one that has just answered, and assigns it: either both
// connections name the same process, or the first one's changes.
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
	// A pooler that cannot prepare statements must get as far as the answer.
	err = b.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&pid)
	return pid, err
}
