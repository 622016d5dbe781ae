package postgres_test

import (
	"context"
	"testing"
	"time"

	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
	"muster/internal/testing/pgtest/failover"
)

// TestTimesComeBackInUTC, whatever the zone of the machine is: the location is compared,
// because one that is in UTC by chance is called Local.
func TestTimesComeBackInUTC(t *testing.T) {
	t.Parallel()
	var row struct {
		At   time.Time  `db:"at"`
		Then *time.Time `db:"then"`
	}
	if err := pgtest.DB(t).Get(&row, `SELECT now() AS at, now() AS then`); err != nil {
		t.Fatal(err)
	}
	if row.At.Location() != time.UTC || row.Then.Location() != time.UTC {
		t.Errorf("%v and %v, want UTC", row.At.Location(), row.Then.Location())
	}
}

// TestAConnectionThatTakesNoWritesIsNotKept: its server has become a standby, or is about to.
// The refused caller gets the error that the database is away, and the next one gets a
// connection to the host that accepts writes.
func TestAConnectionThatTakesNoWritesIsNotKept(t *testing.T) {
	t.Parallel()
	db, pool, err := postgres.Connect(t.Context(), pgtest.URL(t), postgres.PoolOptions{Name: "one", Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	db.MustExec(`SET default_transaction_read_only = on`)
	if _, err := db.Exec(`CREATE TABLE kept (n int)`); !postgres.Away(err) {
		t.Errorf("a server that takes no writes is not away: %v", err)
	}
	if _, err := db.Exec(`CREATE TABLE kept (n int)`); err != nil {
		t.Errorf("the connection was kept: %v", err)
	}
}

// TestACommitIsNotAnsweredWithoutItsStandby, whatever else ends its wait: a failover does not
// lose what Muster has acknowledged.
func TestACommitIsNotAnsweredWithoutItsStandby(t *testing.T) {
	t.Parallel()
	pair := failover.Plain(t)
	pgtest.Connect(t, pair.URL("postgres")).MustExec(`CREATE TABLE kept (n int)`)
	db := pgtest.Connect(t, pair.URL("postgres")+"&statement_timeout=100") // which does not end it
	pair.Hold(t)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := db.ExecContext(ctx, `INSERT INTO kept VALUES (1)`); err == nil {
		t.Error("a row was acknowledged that no standby has")
	}
	pair.Kill(t)
	var rows int
	if err := db.Get(&rows, `SELECT count(*) FROM kept`); err != nil || rows != 0 {
		t.Errorf("on the new primary there are %d rows, %v", rows, err)
	}
}
