package failover

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"muster/internal/testing/pgtest"
)

// Pair is a primary and a standby. It ends with the test.
type Pair struct {
	addrs        [2]string
	asynchronous bool
	migrated     string
	ways
}

// ways are what differs between the kinds of pairs. Nodes are named by their index.
type ways struct {
	// kill ends a node as a machine ends that loses power.
	kill func(t testing.TB, node int)
	// promote asks the standby to take over; nil: it is asked by somebody else.
	promote func(ctx context.Context, standby *pgx.Conn) error
	// back starts a node that was killed, as a standby of the other.
	back func(t testing.TB, node int)
	// settled says whether who promotes knows of both nodes; nil: nobody needs to.
	settled func(ctx context.Context) bool
	// hold keeps a standby from hearing more of its primary; nil: nobody can.
	hold func(ctx context.Context, standby *pgx.Conn) error
}

// Failover is what came of a Kill. Nodes are named by their index in Addrs.
type Failover struct {
	Killed   time.Time // the primary is dead
	Promoted time.Time // pg_is_in_recovery() is false on the other
	Writable time.Time // transactions may write there
	Was, Is  int
}

// Option changes a pair.
type Option func(*Pair)

// Asynchronous pairs answer a commit before the standby has it.
func Asynchronous() Option { return func(p *Pair) { p.asynchronous = true } }

// Migrated databases need not be made by Muster's commands: a Plain pair has one of that
// name.
func Migrated(database string) Option { return func(p *Pair) { p.migrated = database } }

// Addrs are host and port of both nodes.
func (p *Pair) Addrs() []string { return p.addrs[:] }

// URL is that of a database on whichever node takes writes. Without addresses it names the
// nodes, else what stands before them.
func (p *Pair) URL(database string, addrs ...string) string {
	if len(addrs) == 0 {
		addrs = p.Addrs()
	}
	u := url.URL{
		Scheme: "postgres", User: url.User(pgtest.Superuser), Host: strings.Join(addrs, ","), Path: "/" + database,
		RawQuery: "sslmode=disable&target_session_attrs=read-write",
	}
	return u.String()
}

// Primary is the index of the node that is primary.
func (p *Pair) Primary(t testing.TB) (node int) {
	t.Helper()
	await(t, "one of the nodes is primary", func(ctx context.Context) bool {
		for i := range p.addrs {
			if p.says(ctx, i, `SELECT NOT pg_is_in_recovery()`) {
				node = i
				return true
			}
		}
		return false
	})
	return node
}

// Kill ends the primary as a machine ends that loses power, and waits until the other is
// primary and takes writes.
func (p *Pair) Kill(t testing.TB) Failover {
	t.Helper()
	was := p.Primary(t)
	f := Failover{Was: was, Is: 1 - was}
	// Connected before, so that nothing but the promotion is waited for.
	standby, err := p.connect(t.Context(), f.Is)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = standby.Close(context.WithoutCancel(t.Context())) }()
	p.kill(t, was)
	f.Killed = time.Now()
	if p.promote != nil {
		if err := p.promote(t.Context(), standby); err != nil {
			t.Fatal(err)
		}
	}
	f.Promoted = await(t, "the standby is primary", func(ctx context.Context) bool {
		return asks(ctx, standby, `SELECT NOT pg_is_in_recovery()`)
	})
	f.Writable = await(t, "the standby takes writes", func(ctx context.Context) bool {
		return asks(ctx, standby, `SELECT NOT current_setting('transaction_read_only')::bool`)
	})
	return f
}

// Return starts the node that was killed and waits until it is a standby again, a
// synchronous one where the pair is.
func (p *Pair) Return(t testing.TB) {
	t.Helper()
	primary := p.Primary(t)
	p.back(t, 1-primary)
	p.settle(t, primary)
}

// Hold keeps the standby of a Plain pair from hearing more of the primary. What is
// committed from then on is lost with the primary where the pair is asynchronous; where it
// is not, commits wait.
func (p *Pair) Hold(t testing.TB) {
	t.Helper()
	if p.hold == nil {
		t.Fatal("nobody can hold a standby that pg_auto_failover looks after: take failover.Plain")
	}
	primary := p.Primary(t)
	standby, err := p.connect(t.Context(), 1-primary)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = standby.Close(context.WithoutCancel(t.Context())) }()
	if err := p.catchUp(t, primary); err != nil {
		t.Fatal(err)
	}
	if err := p.hold(t.Context(), standby); err != nil {
		t.Fatal(err)
	}
	await(t, "the primary has no standby any more", func(ctx context.Context) bool {
		return p.says(ctx, primary, `SELECT NOT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')`)
	})
}

// catchUp waits until the standby has what is committed by now.
func (p *Pair) catchUp(t testing.TB, primary int) error {
	t.Helper()
	conn, err := p.connect(t.Context(), primary)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	var position string
	if err := conn.QueryRow(t.Context(), `SELECT pg_current_wal_flush_lsn()::text`).Scan(&position); err != nil {
		return err
	}
	await(t, "the standby has what is committed", func(ctx context.Context) bool {
		return asks(ctx, conn, `SELECT coalesce(min(flush_lsn) >= '`+position+`', false) FROM pg_stat_replication`)
	})
	return nil
}

// Settle waits until whichever node is primary has its standby.
func (p *Pair) Settle(t testing.TB) {
	t.Helper()
	p.settle(t, p.Primary(t))
}

// settle waits until the primary has its standby.
func (p *Pair) settle(t testing.TB, primary int) {
	t.Helper()
	want := `SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum'))`
	if p.asynchronous {
		want = `SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')`
	}
	await(t, "the standby follows", func(ctx context.Context) bool { return p.says(ctx, primary, want) })
	if p.settled != nil {
		await(t, "the monitor knows a primary and a standby", p.settled)
	}
}

// connect opens a connection to a node, primary or not.
func (p *Pair) connect(ctx context.Context, node int) (*pgx.Conn, error) {
	u := url.URL{Scheme: "postgres", User: url.User(pgtest.Superuser), Host: p.addrs[node], Path: "/postgres", RawQuery: "sslmode=disable"}
	return pgx.Connect(ctx, u.String())
}

// says asks a node a question; one that cannot be asked says no.
func (p *Pair) says(ctx context.Context, node int, question string) bool {
	conn, err := p.connect(ctx, node)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close(ctx) }()
	return asks(ctx, conn, question)
}

func asks(ctx context.Context, conn *pgx.Conn, question string) (yes bool) {
	err := conn.QueryRow(ctx, question).Scan(&yes)
	return err == nil && yes
}

const (
	// patience is ample: pg_auto_failover takes 5 s to fail over and 15 to bring a node
	// back, on an idle machine.
	patience = 3 * time.Minute
	// lookEach is how exactly the moment of a promotion is told.
	lookEach = 5 * time.Millisecond
	// lookTimeout is for one look.
	lookTimeout = 30 * time.Second
)

// await looks until something holds, and returns when it did.
func await(t testing.TB, what string, holds func(ctx context.Context) bool) time.Time {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(lookEach) {
		ctx, cancel := context.WithTimeout(t.Context(), lookTimeout)
		held := holds(ctx)
		cancel()
		if held {
			return time.Now()
		}
	}
	t.Fatalf("%s: still not after %s", what, patience)
	return time.Time{}
}
