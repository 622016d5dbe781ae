package postgres_test

import (
	"testing"
	"time"

	"muster/internal/pgtest"
)

// TestTimesComeBackInUTC, whatever the zone of the machine is: the location is asked
// for, for one that is in UTC by chance is called Local.
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
