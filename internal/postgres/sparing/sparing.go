package sparing

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// openingPatience is how long a statement waits for others that open connections, and looks each lookEvery whether one
// was left. To open one takes 5 ms on the same machine, and 30 ms with TLS and SCRAM over a network.
const (
	openingPatience = 400 * time.Millisecond
	lookEvery       = time.Millisecond
)

// Open returns a pool's connections as database/sql's. Close the pool, not the *sql.DB.
func Open(pool *pgxpool.Pool) *sql.DB { return open(pool, openingPatience) }

func open(pool *pgxpool.Pool, patience time.Duration) *sql.DB {
	db := sql.OpenDB(&connector{Connector: stdlib.GetPoolConnector(pool), pool: pool, patience: patience, opening: make(chan struct{}, 1)})
	db.SetMaxIdleConns(0) // the pool keeps them
	return db
}

// connector is a pool's connector that opens one connection at a time, and takes one that is left meanwhile.
type connector struct {
	driver.Connector
	pool     *pgxpool.Pool
	patience time.Duration
	opening  chan struct{}
	taking   sync.Mutex // one statement at a time takes an idle connection
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if conn, ok, err := c.take(ctx); ok {
		return conn, err
	}
	patience, look := time.NewTimer(c.patience), time.NewTicker(lookEvery)
	defer patience.Stop()
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if conn, ok, err := c.take(ctx); ok {
				return conn, err
			}
		case c.opening <- struct{}{}:
			defer func() { <-c.opening }()
			return c.Connector.Connect(ctx)
		case <-patience.C: // the server is slow, or away: each statement finds out for itself
			return c.Connector.Connect(ctx)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take takes an idle connection, or waits for one if no more may be opened; ok says whether it did either.
func (c *connector) take(ctx context.Context) (conn driver.Conn, ok bool, err error) {
	if stat := c.pool.Stat(); stat.TotalConns() == stat.MaxConns() {
		conn, err = c.Connector.Connect(ctx)
		return conn, true, err
	}
	if !c.taking.TryLock() {
		return nil, false, nil
	}
	defer c.taking.Unlock()
	if c.pool.Stat().IdleConns() == 0 {
		return nil, false, nil
	}
	conn, err = c.Connector.Connect(ctx)
	return conn, true, err
}
