package statement_test

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"muster/internal/postgres/statement"
	"muster/internal/testing/pgtest"
)

// TestResultsOfStatements: rows, none, how many were written, and an error that says what the statement was for
// and wraps PostgreSQL's.
func TestResultsOfStatements(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), pgtest.DB(t)
	if err := statement.Exec(ctx, db, "make a table", `CREATE TABLE numbers (n int PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	if none, err := statement.All[int](ctx, db, "list", `SELECT n FROM numbers`); err != nil || none == nil || len(none) != 0 {
		t.Errorf("no row: %#v, %v", none, err)
	}
	if n, ok, err := statement.Find[int](ctx, db, "find", `SELECT n FROM numbers`); n != 0 || ok || err != nil {
		t.Errorf("nothing to find: %d, %t, %v", n, ok, err)
	}
	if _, err := statement.One[int](ctx, db, "read a number", `SELECT n FROM numbers`); !errors.Is(err, sql.ErrNoRows) || !strings.HasPrefix(err.Error(), "read a number: ") {
		t.Errorf("no row where one must be: %v", err)
	}
	if n, err := statement.Affected(ctx, db, "write", `INSERT INTO numbers SELECT generate_series(1, $1::int)`, 3); n != 3 || err != nil {
		t.Errorf("wrote %d, %v", n, err)
	}
	if all, err := statement.All[int](ctx, db, "list", `SELECT n FROM numbers ORDER BY n`); err != nil || !slices.Equal(all, []int{1, 2, 3}) {
		t.Errorf("%v, %v", all, err)
	}
	if n, ok, err := statement.Find[int](ctx, db, "find", `SELECT n FROM numbers WHERE n > $1 ORDER BY n`, 1); n != 2 || !ok || err != nil {
		t.Errorf("found %d, %t, %v", n, ok, err)
	}
	if when, err := statement.All[time.Time](ctx, db, "list times", `SELECT timestamptz '2026-11-22 12:00Z' FROM numbers`); err != nil || len(when) != 3 || when[2].Hour() != 12 {
		t.Errorf("one value that is a struct: %v, %v", when, err)
	}
	type pair struct {
		N      int
		Double *int `db:"m"`
	}
	if pairs, err := statement.All[pair](ctx, db, "list pairs", `SELECT n, nullif(2 * n, 4) AS m FROM numbers ORDER BY n`); err != nil || len(pairs) != 3 || pairs[1].Double != nil || *pairs[2].Double != 6 {
		t.Errorf("columns by their names: %v, %v", pairs, err)
	}
	if half, err := statement.All[int](ctx, db, "divide", `SELECT 6 / (n - 2) FROM numbers ORDER BY n`); half != nil || !errors.As(err, new(*pgconn.PgError)) {
		t.Errorf("an error behind the first row: %v, %v", half, err)
	}
	err := statement.Exec(ctx, db, "write a number again", `INSERT INTO numbers VALUES ($1)`, 1)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "23505" || !strings.HasPrefix(err.Error(), "write a number again: ") {
		t.Errorf("%v", err)
	}
}
