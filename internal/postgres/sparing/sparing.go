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

// How long a statement waits for another one's connection. To open one takes 5 ms on the same machine, and 30 ms with
// TLS and SCRAM over a network.
const (
	leavingPatience = 5 * time.Millisecond   // before it opens one
	openingPatience = 400 * time.Millisecond // while others open theirs
	lookEvery       = time.Millisecond       // for one that was left
)

// Open returns a pool's connections as database/sql's. Close the pool, not the *sql.DB.
func Open(pool *pgxpool.Pool) *sql.DB { return open(pool, openingPatience) }

func open(pool *pgxpool.Pool, patience time.Duration) *sql.DB {
	db := sql.OpenDB(&connector{Connector: stdlib.GetPoolConnector(pool), pool: pool, patience: patience, opening: make(chan struct{}, 1)})
	db.SetMaxIdleConns(0) // the pool keeps them
	return db
}

// connector is a pool's connector that opens one connection at a time, and none if one is left in time.
type connector struct {
	driver.Connector
	pool     *pgxpool.Pool
	patience time.Duration
	opening  chan struct{}
	taking   sync.Mutex // an idle connection: it is there for one statement
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if conn, ok, err := c.take(ctx); ok {
		return conn, err
	}
	patience, leaving, look := time.NewTimer(c.patience), time.NewTimer(leavingPatience), time.NewTicker(lookEvery)
	defer patience.Stop()
	defer leaving.Stop()
	defer look.Stop()
	var opening chan struct{} // nil: not yet
	if c.pool.Stat().AcquiredConns() == 0 {
		opening = c.opening // nobody has one to leave
	}
	for {
		select {
		case <-look.C:
			if conn, ok, err := c.take(ctx); ok {
				return conn, err
			}
		case <-leaving.C:
			opening = c.opening
		case opening <- struct{}{}:
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
