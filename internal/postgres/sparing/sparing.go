package sparing

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// openingPatience is how long a statement waits for others that open connections. To open one takes
// 5 ms on the same machine, and 30 ms with TLS and SCRAM over a network.
const openingPatience = 100 * time.Millisecond

// Open returns a pool's connections as database/sql's. Close the pool, not the *sql.DB.
func Open(pool *pgxpool.Pool) *sql.DB { return open(pool, openingPatience) }

func open(pool *pgxpool.Pool, patience time.Duration) *sql.DB {
	db := sql.OpenDB(connector{stdlib.GetPoolConnector(pool), pool, patience, make(chan struct{}, 1)})
	db.SetMaxIdleConns(0) // the pool keeps them
	return db
}

// connector is a pool's connector that opens one connection at a time.
type connector struct {
	driver.Connector
	pool     *pgxpool.Pool
	patience time.Duration
	opening  chan struct{}
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	stat := c.pool.Stat()
	if stat.IdleConns() > 0 || stat.TotalConns() == stat.MaxConns() { // none is opened
		return c.Connector.Connect(ctx)
	}
	patience := time.NewTimer(c.patience)
	defer patience.Stop()
	select {
	case c.opening <- struct{}{}:
		defer func() { <-c.opening }()
	case <-patience.C: // the server is slow, or away: each statement finds out for itself
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return c.Connector.Connect(ctx)
}
