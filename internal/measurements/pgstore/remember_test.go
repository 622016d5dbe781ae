package pgstore

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements"
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
	r.at = noteHour(series, r.at).Add(time.Hour)
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

// TestOtherProcessesFindTheirOwn: one process writes a statement although another one knows it.
func TestOtherProcessesFindTheirOwn(t *testing.T) {
	t.Parallel()
	r := newRecall(t)
	r.execute("", "a")
	r.Store = replicaOf(r.Store)
	if !r.forgets("", "a") {
		t.Error("not written by a process that did not know it")
	}
}

// TestWhatIsTakenBackIsNotRemembered: a transaction that fails as late as it can has
// noted nothing.
func TestWhatIsTakenBackIsNotRemembered(t *testing.T) {
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
	if got := dictionary(t, r.Store)[measurements.StatementID(r.instance, measurements.HashStatement(r.database, "a"))]; got.Key != "a" {
		t.Errorf("the dictionary has %+v of a statement that was executed", got)
	}
}

// TestAMemoryHasBounds: entries beyond its limit are dropped, and entries older than a day are
// not used.
func TestAMemoryHasBounds(t *testing.T) {
	t.Parallel()
	m := memory{series: make(map[int64]remembered)}
	now := time.Now()
	of := func(series int64, n int) (all []entry) {
		for hash := range int64(n) {
			all = append(all, entry{sighting: sighting{Series: series, Hash: hash, First: now, Last: now}})
		}
		return all
	}
	m.add(append(of(1, 3), of(2, 2)...))
	if m.size != 5 || len(m.known(1, now, now)) != 3 || len(m.known(2, now, now)) != 2 {
		t.Errorf("remembers %+v", m.series)
	}
	if m.known(1, now, now.Add(rememberedFor-time.Hour)) == nil || m.known(1, now, now.Add(rememberedFor)) != nil {
		t.Errorf("what it remembers is not believed for %s, or longer", rememberedFor)
	}
	m.series[3] = remembered{first: now, hour: now, hashes: make([]int64, mostRemembered)}
	m.size += mostRemembered
	m.add(of(1, 4))
	if m.size != 0 || m.known(1, now, now) != nil {
		t.Errorf("remembers %d statements, more than %d", m.size, mostRemembered)
	}
}
