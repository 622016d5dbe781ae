package transact_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"testing"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/transact"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// TestAllOrNothing: the work is done if Once returns nil, and not otherwise. Either way the
// connection is free again: the pool has one.
func TestAllOrNothing(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	db.SetMaxOpenConns(1)
	db.MustExec(`CREATE TABLE kept (name text PRIMARY KEY DEFERRABLE INITIALLY DEFERRED)`)
	refused := errors.New("refused")
	insert := func(tx *sqlx.Tx, name string) error {
		_, err := tx.ExecContext(t.Context(), `INSERT INTO kept VALUES ($1)`, name)
		return err
	}
	for name, c := range map[string]struct {
		options *sql.TxOptions
		do      func(tx *sqlx.Tx) error
		kept    bool
		err     func(error) bool
	}{
		"done": {nil, func(tx *sqlx.Tx) error { return insert(tx, "done") }, true, func(err error) bool { return err == nil }},
		"refused": {nil, func(tx *sqlx.Tx) error { return errors.Join(insert(tx, "refused"), refused) }, false,
			func(err error) bool { return errors.Is(err, refused) }},
		"commit fails": {nil, func(tx *sqlx.Tx) error { return errors.Join(insert(tx, "commit fails"), insert(tx, "commit fails")) }, false,
			func(err error) bool { return err != nil }},
		"read only": {&sql.TxOptions{ReadOnly: true}, func(tx *sqlx.Tx) error { return insert(tx, "read only") }, false,
			func(err error) bool { return err != nil }},
	} {
		if err := transact.Once(t.Context(), db, c.options, c.do); !c.err(err) {
			t.Errorf("%s: %v", name, err)
		}
		var kept bool
		if err := db.Get(&kept, `SELECT EXISTS (SELECT FROM kept WHERE name = $1)`, name); err != nil || kept != c.kept {
			t.Errorf("%s: kept %t, %v", name, kept, err)
		}
	}
}

// TestAPanicRollsBack and goes on.
func TestAPanicRollsBack(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	db.SetMaxOpenConns(1)
	db.MustExec(`CREATE TABLE kept (name text)`)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic ended in Once")
			}
		}()
		_ = transact.Once(t.Context(), db, nil, func(tx *sqlx.Tx) error {
			tx.MustExec(`INSERT INTO kept VALUES ('x')`)
			panic("amid the work")
		})
	}()
	var kept int
	if err := db.Get(&kept, `SELECT count(*) FROM kept`); err != nil || kept != 0 {
		t.Errorf("%d kept, %v", kept, err)
	}
}

// TestACanceledTransactionReturnsTheReason: the caller learns that its time was over, and not only that
// the transaction ended, whether that shows in a statement or at the commit.
func TestACanceledTransactionReturnsTheReason(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	for name, told := range map[string]bool{"a statement": true, "the commit": false} {
		ctx, cancel := context.WithCancel(t.Context())
		err := transact.Once(ctx, db, nil, func(tx *sqlx.Tx) error {
			cancel()
			var over error
			for !errors.Is(over, sql.ErrTxDone) { // database/sql rolls back by itself
				_, over = tx.ExecContext(t.Context(), `SELECT 1`)
			}
			if told {
				return over
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWithin: work that fails leaves nothing behind, and its transaction goes on.
func TestWithin(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	db.MustExec(`CREATE TABLE kept (name text PRIMARY KEY)`)
	refused := errors.New("refused")
	insert := func(tx *sqlx.Tx, name string) error {
		_, err := tx.ExecContext(t.Context(), `INSERT INTO kept VALUES ($1)`, name)
		return err
	}
	err := transact.Once(t.Context(), db, nil, func(tx *sqlx.Tx) error {
		if err := transact.Within(t.Context(), tx, func() error { return insert(tx, "done") }); err != nil {
			t.Errorf("done: %v", err)
		}
		if err := transact.Within(t.Context(), tx, func() error { return errors.Join(insert(tx, "refused"), refused) }); !errors.Is(err, refused) {
			t.Errorf("refused: %v", err)
		}
		if err := transact.Within(t.Context(), tx, func() error { return errors.Join(insert(tx, "twice"), insert(tx, "twice")) }); err == nil {
			t.Error("no error of a statement")
		}
		return insert(tx, "after")
	})
	var kept string
	if err := errors.Join(err, db.Get(&kept, `SELECT string_agg(name, ' ' ORDER BY name) FROM kept`)); err != nil || kept != "after done" {
		t.Errorf("kept %q, %v", kept, err)
	}
}
