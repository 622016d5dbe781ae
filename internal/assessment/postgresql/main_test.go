package postgresql

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// today is a fixed moment after the feed's date.
var today = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func collectorAt(t *testing.T, at time.Time) *Inspector {
	t.Helper()
	c, err := New(func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func targetOf(t *testing.T, dsn string) servers.Target {
	t.Helper()
	target, err := new(servers.Reach).OwnTarget(fleet.PostgreSQL, dsn) // most are reached by a socket
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func assess(t *testing.T, dsn string) snapshot.Assessment {
	t.Helper()
	a, _ := collectorAt(t, today).Assess(context.Background(), targetOf(t, dsn))
	if a.Outcome == snapshot.OutcomeUnreachable {
		t.Fatalf("not reached: %s, %s", a.ErrorClass, a.Error)
	}
	return a
}

// run executes statements one by one and closes the connection, which flushes
// the server's statistics.
func run(t *testing.T, dsn string, script string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for statement := range strings.SplitSeq(script, ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func value(t *testing.T, dsn, query string) (out string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := conn.QueryRow(ctx, query).Scan(&out); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out
}

// resultOf finds a check's result, on the named database or the instance.
func resultOf(a snapshot.Assessment, check, database string) (snapshot.CheckResult, bool) {
	for _, r := range a.Results {
		if r.CheckID == check && (r.Database == "" || r.Database == database) {
			return r, true
		}
	}
	return snapshot.CheckResult{}, false
}

// await asks again until the answer is true: a reload reaches sessions when it does.
func await(t *testing.T, dsn, query string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			t.Fatal(err)
		}
		var met bool
		err = conn.QueryRow(ctx, query).Scan(&met)
		_ = conn.Close(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if met {
			return
		}
	}
}
