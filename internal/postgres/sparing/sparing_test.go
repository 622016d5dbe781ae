package sparing_test

import (
	"context"
	"database/sql"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"muster/internal/postgres/sparing"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// TestABurstOpensFewConnections: of statements that come at the same moment, most take a connection that another has left.
func TestABurstOpensFewConnections(t *testing.T) {
	t.Parallel()
	const burst = 20
	pool := poolOf(t, burst, nil)
	db := sparing.OpenFor(pool, time.Minute)
	var wait sync.WaitGroup
	for range burst {
		wait.Go(func() { sleeps(t, db, 0) })
	}
	wait.Wait()
	if opened := pool.Stat().TotalConns(); opened > burst/2 {
		t.Errorf("%d short statements opened %d connections", burst, opened)
	}
}

// TestStatementsStillRunAtTheSameTime, as many as the pool has connections: each waits only while another opens.
func TestStatementsStillRunAtTheSameTime(t *testing.T) {
	t.Parallel()
	const many = 4
	pool := poolOf(t, many, nil)
	db := sparing.OpenFor(pool, time.Minute)
	var wait sync.WaitGroup
	for range 2 * many { // the second half finds the pool full
		wait.Go(func() { sleeps(t, db, 300*time.Millisecond) })
	}
	wait.Wait()
	if opened := pool.Stat().TotalConns(); opened != many {
		t.Errorf("%d long statements ran on %d connections", 2*many, opened)
	}
}

// TestASlowConnectionDelaysOnlyItsOwnStatement: a host that does not answer holds up the statement that asked
// it, and no other.
func TestASlowConnectionDelaysOnlyItsOwnStatement(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	stuck := make(chan struct{})
	pool := poolOf(t, 2, func(ctx context.Context, network, address string) (net.Conn, error) {
		if asked.Add(1) == 1 {
			close(stuck)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	})
	db := sparing.OpenFor(pool, 10*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	held := make(chan error)
	go func() { held <- db.PingContext(ctx) }()
	<-stuck
	sleeps(t, db, 0)
	cancel()
	if err := <-held; err == nil {
		t.Error("the first connection was opened")
	}
}

// TestALeftConnectionIsTakenAtOnce, also while another statement waits for a host that does not answer.
func TestALeftConnectionIsTakenAtOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	stuck := make(chan struct{})
	pool := poolOf(t, 3, func(ctx context.Context, network, address string) (net.Conn, error) {
		if asked.Add(1) == 2 {
			close(stuck)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	})
	db := sparing.OpenFor(pool, time.Minute)
	first, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	second := make(chan error, 1)
	go func() { second <- db.PingContext(ctx) }()
	<-stuck
	third := make(chan error, 1)
	go func() { third <- db.PingContext(t.Context()) }()
	for db.Stats().OpenConnections < 3 { // until the third connects, too
		time.Sleep(time.Millisecond)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-third:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("a connection was left, and is not taken")
	}
	cancel()
	if err := <-second; err == nil {
		t.Error("the second connection was opened")
	}
}

func poolOf(t *testing.T, most int32, dial func(ctx context.Context, network, address string) (net.Conn, error)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = most
	if dial != nil {
		config.ConnConfig.DialFunc = dial
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func sleeps(t *testing.T, db *sql.DB, long time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := db.ExecContext(ctx, `SELECT pg_sleep($1)`, long.Seconds()); err != nil {
		t.Error(err)
	}
}
