package dictionary

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/postgres/statement"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// TestOldStatementsAreSearchedOnceADay: what has become too old since then waits for the next
// day.
func TestOldStatementsAreSearchedOnceADay(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	d := In(db)
	db.MustExec(`INSERT INTO measured_series (organization_id, kind, subject, engine) VALUES ($1, 'statements', $2, 'postgresql')`, uuid.New(), uuid.NewString())
	for hash, key := range []string{"new", "old", "older"} {
		db.MustExec(`INSERT INTO measured_statements (series_id, hash, id, database_id, key, first_seen, last_seen)
			SELECT id, $1, $2, $3, $4, now(), now() FROM measured_series`, hash, uuid.New(), uuid.New(), key)
	}
	age := func(key string, days float64) {
		db.MustExec(`UPDATE measured_statements SET last_seen = now() - make_interval(secs => $2 * 86400) WHERE key = $1`, key, days)
	}
	left := func(want ...string) {
		t.Helper()
		if err := d.ForgetStatements(t.Context()); err != nil {
			t.Fatal(err)
		}
		keys, err := statement.All[string](t.Context(), db, "list keys", `SELECT key FROM measured_statements ORDER BY key`)
		if err != nil || !slices.Equal(keys, want) {
			t.Errorf("%v are left, want %v; %v", keys, want, err)
		}
	}
	age("old", 400.9)
	age("older", 401.1)
	left("new", "old")
	age("old", 402)
	left("new", "old")
	looked := func(ago time.Duration) {
		last := time.Now().Add(-ago)
		d.forgot.Store(&last)
	}
	looked(23 * time.Hour)
	left("new", "old")
	looked(24 * time.Hour)
	left("new")
}
