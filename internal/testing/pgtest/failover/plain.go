package failover

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"muster/internal/testing/pgtest"
)

// plainSettings are those of both nodes. pgtest's own answer a commit before it is written;
// and a standby whose primary dies is deaf for five seconds by default, a promotion too.
var plainSettings = map[string]string{"synchronous_commit": "on", "wal_retrieve_retry_interval": "100ms"}

// Plain starts a pair that fails over when Kill says so.
func Plain(t testing.TB, options ...Option) *Pair {
	t.Helper()
	p := &Pair{}
	for _, option := range options {
		option(p)
	}
	opts := pgtest.Options{Settings: plainSettings, Migrated: true}
	first := pgtest.Cluster(t, opts)
	if p.migrated != "" {
		first.CreateMigrated(t, p.migrated)
	}
	servers := [2]*pgtest.Server{first, pgtest.Standby(t, first, opts)}
	p.addrs = [2]string{servers[0].Addr(), servers[1].Addr()}
	p.ways = ways{
		kill: func(t testing.TB, node int) { t.Helper(); servers[node].Crash(t) },
		promote: func(ctx context.Context, standby *pgx.Conn) error {
			_, err := standby.Exec(ctx, `SELECT pg_promote(wait => false)`)
			return err
		},
		back: func(t testing.TB, node int) {
			t.Helper()
			servers[node].Follow(t, servers[1-node], opts)
			p.demand(t, 1-node)
		},
		hold: func(ctx context.Context, standby *pgx.Conn) error {
			return execute(ctx, standby, `ALTER SYSTEM SET primary_conninfo = ''`, `SELECT pg_reload_conf()`)
		},
	}
	p.demand(t, 0)
	p.settle(t, 0)
	return p
}

// demand has the primary's commits wait for the standby. A standby is copied before that:
// it is not to wait for anybody when it becomes primary.
func (p *Pair) demand(t testing.TB, primary int) {
	t.Helper()
	if p.asynchronous {
		return
	}
	conn, err := p.connect(t.Context(), primary)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if err := execute(t.Context(), conn, `ALTER SYSTEM SET synchronous_standby_names = '`+pgtest.StandbyName+`'`, `SELECT pg_reload_conf()`); err != nil {
		t.Fatal(err)
	}
}

func execute(ctx context.Context, conn *pgx.Conn, statements ...string) error {
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
