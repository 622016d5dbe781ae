package pgstore

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/dictionary"
)

// recall is a store into which samples of one database are written, a minute after another.
type recall struct {
	*testing.T
	*Store
	organization, instance, database uuid.UUID
	at                               time.Time
}

// newRecall begins with an hour of the series that it writes: no other begins before a
// minute is over that a test uses.
func newRecall(t *testing.T) *recall {
	s := newStore(t)
	s.KeepsTexts = keepsTexts(true)
	r := &recall{t, s, uuid.New(), uuid.New(), uuid.New(), time.Now().Add(-3 * time.Hour)}
	r.execute("", "first")
	var series int64
	if err := s.db.Get(&series, `SELECT id FROM measured_series`); err != nil {
		t.Fatal(err)
	}
	r.at = dictionary.NoteHour(series, r.at).Add(time.Hour)
	return r
}

func (r *recall) batch(text string, keys ...string) measurements.Batch {
	r.at = r.at.Add(time.Minute)
	return measurements.Batch{Organization: r.organization, Statements: []measurements.StatementSample{executed(r.instance, r.database, r.at, text, keys...)}}
}

func (r *recall) execute(text string, keys ...string) {
	r.Helper()
	write(r, r.Store, r.batch(text, keys...))
}

// forgets takes a row away from under the store, and says whether that is written again
// when its statement is executed.
func (r *recall) forgets(text, key string) bool {
	r.Helper()
	r.db.MustExec(`DELETE FROM measured_statements WHERE key = $1`, key)
	r.execute(text, key)
	var rows int
	if err := r.db.Get(&rows, `SELECT count(*) FROM measured_statements WHERE key = $1`, key); err != nil {
		r.Fatal(err)
	}
	return rows == 1
}

// TestADictionaryIsAskedOnceAnHour for a statement, and each time if it has a text or a sample
// is older than the known ones.
func TestADictionaryIsAskedOnceAnHour(t *testing.T) {
	t.Parallel()
	r := newRecall(t)
	r.execute("", "a", "b")
	if r.forgets("", "a") {
		t.Error("asked of a statement that was written in this hour")
	}
	if !r.forgets("", "c") || r.forgets("", "c") || r.forgets("", "b") {
		t.Error("a statement that is new to the series is not written, or takes away what is known of the others")
	}
	if !r.forgets("SELECT ?", "b") {
		t.Error("not asked of a statement with a text")
	}
	r.at = r.at.Add(-20 * time.Minute)
	if !r.forgets("", "a") {
		t.Error("not asked of a sample that is older than what is known")
	}
	r.at = r.at.Add(80 * time.Minute)
	if !r.forgets("", "b") {
		t.Error("not asked in the next hour")
	}
}

// TestOtherProcessesFindStatementsThemselves: one process writes a statement although another one knows it.
func TestOtherProcessesFindStatementsThemselves(t *testing.T) {
	t.Parallel()
	r := newRecall(t)
	r.execute("", "a")
	r.Store = replicaOf(r.Store)
	if !r.forgets("", "a") {
		t.Error("not written by a process that did not know it")
	}
}

// TestARolledBackStatementIsNotRemembered: a transaction that fails as late as it can has noted nothing.
func TestARolledBackStatementIsNotRemembered(t *testing.T) {
	t.Parallel()
	r := newRecall(t)
	r.db.MustExec(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'full'; END$$`)
	r.db.MustExec(`CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON raw_samples DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`)
	failed := r.batch("", "a")
	if _, err := r.Write(t.Context(), failed); err == nil {
		t.Fatal("committed")
	}
	r.db.MustExec(`DROP TRIGGER refuse ON raw_samples`)
	write(t, r.Store, failed)
	if got := dictionaryOf(t, r.Store)[measurements.StatementID(r.instance, measurements.HashStatement(r.database, "a"))]; got.Key != "a" {
		t.Errorf("the dictionary has %+v of a statement that was executed", got)
	}
}
