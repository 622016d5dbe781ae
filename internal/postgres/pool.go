package postgres

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/sparing"
)

// PoolOptions says what a pool is for.
type PoolOptions struct {
	Name string // shows in pg_stat_activity as muster/<Name>@<last migration>
	Max  int    // connections at most; 0: 4
	// Patience is how long a lock is waited for, and a transaction for its owner;
	// 0: lockTimeout and idleTimeout.
	Patience time.Duration
	// Tracer sees every statement, with its parameters; nil: none does.
	Tracer pgx.QueryTracer
	// Met is called for each server that is connected over TLS; nil: it is not called.
	Met func(tls.ConnectionState) error
}

const (
	// lockTimeout bounds the wait for a row that another transaction holds: longer than any
	// regular transaction of ours, shorter than a person's patience.
	lockTimeout = 10 * time.Second
	// idleTimeout ends a transaction whose owner went away without closing it,
	// for it may hold a log's head row and with it every append to that log: so
	// it is shorter than what the others wait for that row.
	idleTimeout = 8 * time.Second
	// pingTimeout is for a connection that lay idle for a second: a server that lost its
	// power does not say that it is gone, and another may have taken over.
	pingTimeout = 3 * time.Second
)

// Connect opens a pool on url and answers only once the server has, with the
// same pool both as sqlx and as pgx (for COPY, LISTEN). Close the pool, not the
// *sqlx.DB, which borrows from it.
func Connect(ctx context.Context, url string, opts PoolOptions) (*sqlx.DB, *pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, nil, fmt.Errorf("read the database URL: %w", err)
	}
	config.MaxConns = int32(cmp.Or(opts.Max, 4))
	config.PingTimeout = pingTimeout
	config.ConnConfig.OnPgError = serves
	markLost(config)
	config.ConnConfig.Tracer = opts.Tracer
	if config.ConnConfig.TLSConfig != nil {
		config.ConnConfig.TLSConfig.VerifyConnection = opts.Met
	}
	for _, fallback := range config.ConnConfig.Fallbacks { // other hosts, and with and without TLS
		if fallback.TLSConfig != nil {
			fallback.TLSConfig.VerifyConnection = opts.Met
		}
	}
	config.ConnConfig.RuntimeParams["application_name"] = poolName(opts.Name)
	config.ConnConfig.RuntimeParams["timezone"] = "UTC"
	// Not start-up parameters: PgBouncer refuses those it does not know.
	settings := fmt.Sprintf("SET lock_timeout = %d; SET idle_in_transaction_session_timeout = %d",
		cmp.Or(opts.Patience, lockTimeout).Milliseconds(), cmp.Or(opts.Patience, idleTimeout).Milliseconds())
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		// Times come back in UTC, whatever the zone of the machine is.
		conn.TypeMap().RegisterType(&pgtype.Type{
			Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
		})
		_, err := conn.Exec(ctx, settings)
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, nil, fmt.Errorf("open a pool for %s: %w", opts.Name, err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, nil, fmt.Errorf("reach the database for %s: %w", opts.Name, err)
	}
	return sqlx.NewDb(sparing.Open(pool), "pgx"), pool, nil
}
