package eventstore_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/testing/pgtest"
)

func TestTransactDecidesAgainAfterAConflict(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	if _, err := db.Exec(`CREATE TABLE kept (try integer)`); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		fails error
		times int // how often the decision fails before it succeeds
		tries int
		err   error
	}{
		"nobody":               {nil, 0, 1, nil},
		"a stream moved":       {&eventstore.ConflictError{Expected: 1, Actual: 2}, 2, 3, nil},
		"a deadlock":           {&pgconn.PgError{Code: "40P01"}, 1, 2, nil},
		"a rule":               {refused, 1, 1, refused},
		"writers without end":  {errSerialization, 100, 5, errSerialization},
		"a constraint, broken": {errConstraint, 100, 1, errConstraint},
	} {
		tries := 0
		err := eventstore.Transact(t.Context(), db, func(tx *sqlx.Tx) error {
			tries++
			if _, err := tx.Exec(`INSERT INTO kept VALUES ($1)`, tries); err != nil {
				return err
			}
			if tries <= c.times {
				return c.fails
			}
			return nil
		})
		if tries != c.tries || !errors.Is(err, c.err) {
			t.Errorf("%s: %d tries, %v; want %d, %v", name, tries, err, c.tries, c.err)
		}
		var kept []int
		if err := db.Select(&kept, `DELETE FROM kept RETURNING try`); err != nil {
			t.Fatal(err)
		}
		if c.err == nil && (len(kept) != 1 || kept[0] != c.tries) || c.err != nil && len(kept) != 0 {
			t.Errorf("%s: tries %v were kept", name, kept)
		}
	}
}

var (
	errSerialization = error(&pgconn.PgError{Code: "40001"})
	errConstraint    = error(&pgconn.PgError{Code: "23514"})
)
