package statement_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"muster/internal/postgres/statement"
	"muster/internal/testing/pgtest"
)

// TestCopyStoresTheSameRowsAsInsert, of each type that rows have, inside a transaction. An error says what the
// copy was for, and wraps PostgreSQL's.
func TestCopyStoresTheSameRowsAsInsert(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	for _, table := range []string{"inserted", "copied"} {
		db.MustExec(`CREATE TABLE ` + table + ` (id uuid PRIMARY KEY, other uuid, state text, document jsonb, n int, at timestamptz)`)
	}
	type state string
	type key struct {
		ID uuid.UUID `db:"id"`
	}
	type row struct {
		key
		Other    *uuid.UUID `db:"other"`
		State    state      `db:"state"`
		Document *string    `db:"document"`
		N        *int32     `db:"n"`
		At       *time.Time `db:"at"`
	}
	one, document, n, at := uuid.New(), `{"a": [1, "ü"]}`, int32(7), time.Date(2026, 11, 23, 18, 0, 0, 123456000, time.UTC)
	rows := []row{{key{one}, nil, "open", nil, nil, nil}, {key{uuid.New()}, &one, "", &document, &n, &at}}
	tx := db.MustBeginTx(t.Context(), nil)
	defer func() { _ = tx.Rollback() }()
	if err := statement.Copy(t.Context(), tx, "add rows", "copied", rows); err != nil {
		t.Fatal(err)
	}
	err := statement.Exec(t.Context(), tx, "insert rows", `INSERT INTO inserted
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::jsonb[], $5::int[], $6::timestamptz[])`, statement.Columns(rows)...)
	if err != nil {
		t.Fatal(err)
	}
	same, err := statement.One[int](t.Context(), tx, "compare", `SELECT count(*) FROM inserted i JOIN copied c ON i::text = c::text`)
	if err != nil || same != len(rows) {
		t.Errorf("%d of %d rows are the same, %v", same, len(rows), err)
	}
	err = statement.Copy(t.Context(), tx, "add rows again", "copied", rows)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "23505" || !strings.HasPrefix(err.Error(), "add rows again: ") {
		t.Errorf("%v", err)
	}
}
