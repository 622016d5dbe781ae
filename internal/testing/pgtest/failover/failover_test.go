package failover_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
	"muster/internal/testing/pgtest/failover"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// primary is a connection to whichever node takes writes.
func primary(t *testing.T, p *failover.Pair) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), p.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func execute(t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func kept(t *testing.T, p *failover.Pair) (rows int) {
	t.Helper()
	if err := primary(t, p).QueryRow(t.Context(), `SELECT count(*) FROM kept`).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// failsOver kills one primary after the other: what was answered is there each time, and
// URL leads to whoever takes writes.
func failsOver(t *testing.T, p *failover.Pair) {
	t.Helper()
	execute(t, primary(t, p), `CREATE TABLE kept (n int)`)
	for n := range 2 {
		execute(t, primary(t, p), `INSERT INTO kept VALUES (1)`)
		began := time.Now()
		f := p.Kill(t)
		if f.Was != n || f.Is != 1-n || p.Primary(t) != f.Is {
			t.Errorf("failover %d led from node %d to %d, and the primary is %d", n, f.Was, f.Is, p.Primary(t))
		}
		if f.Killed.Before(began) || f.Promoted.Before(f.Killed) || f.Writable.Before(f.Promoted) {
			t.Errorf("failover %d began at %s: %+v", n, began, f)
		}
		t.Logf("promoted after %s, writable after %s", f.Promoted.Sub(f.Killed), f.Writable.Sub(f.Killed))
		if rows := kept(t, p); rows != n+1 {
			t.Errorf("after failover %d there are %d of %d rows", n, rows, n+1)
		}
		p.Return(t)
	}
}

func TestAPlainPairFailsOver(t *testing.T) {
	t.Parallel()
	failsOver(t, failover.Plain(t))
}

func TestLongAPairFailsOverByItself(t *testing.T) {
	t.Parallel()
	longtest.Only(t)
	failsOver(t, failover.Start(t))
}

// TestAStandbyThatIsBehind loses what was answered without it, which is what an
// asynchronous pair is for.
func TestAStandbyThatIsBehind(t *testing.T) {
	t.Parallel()
	p := failover.Plain(t, failover.Asynchronous())
	execute(t, primary(t, p), `CREATE TABLE kept (n int)`)
	execute(t, primary(t, p), `INSERT INTO kept VALUES (1)`)
	p.Hold(t)
	execute(t, primary(t, p), `INSERT INTO kept VALUES (2)`)
	p.Kill(t)
	if rows := kept(t, p); rows != 1 {
		t.Errorf("there are %d rows, want the one from before the standby was held", rows)
	}
}
