package projections

import (
	"context"
	_ "embed" // the query
	"fmt"

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

// ConnectionBudget compares what this process may open with what the server
// has left, and returns a *BudgetError where that is too little. It counts what
// others hold now, not what they may still open: start it in every process.
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
