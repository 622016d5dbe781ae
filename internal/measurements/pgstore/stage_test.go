package pgstore

import (
	"cmp"
	"os"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) {
	longtest.Checks(6, 400)
	os.Exit(pgtest.Run(m))
}

// stage is a store whose kinds are abaci, and what was written to it.
type stage struct {
	testing.TB
	*Store
	org   uuid.UUID
	fault func(step string) error
	kept  map[keyOfSeries]map[time.Time]map[int64]int64 // what a store must know by now
}

func newStage(t testing.TB) *stage {
	s := &stage{TB: t, org: uuid.New(), kept: make(map[keyOfSeries]map[time.Time]map[int64]int64)}
	s.Store = s.another()
	return s
}

// another is the store of a further process.
func (s *stage) another() *Store {
	store := newStore(s)
	store.ledger.Kinds = func(name string) codec.Kind {
		return &abacus{name: name, fault: func(step string) error {
			if s.fault == nil {
				return nil
			}
			return s.fault(step)
		}}
	}
	return store
}

// afresh continues with an unknown organization.
func (s *stage) afresh() {
	s.org = uuid.New()
	clear(s.kept)
}

// monday is a week's start some time ago.
var monday = time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)

// measured is a sample of an abacus: a number, of part 0 if there is only one.
func measured(kind, subject string, at time.Time, numbers ...int64) codec.Arrival {
	of := map[int64]int64{}
	for part, n := range numbers {
		of[int64(part)] = n
	}
	engine := fleet.PostgreSQL
	if kind == codec.Hosts {
		engine = ""
	}
	return codec.Arrival{Kind: kind, Subject: subject, Engine: engine, Sample: codec.Sample{At: instant.Cut(at), Body: pack(of)}, Count: 1}
}

// try writes arrivals as Write does with what it was given.
func (s *stage) try(arrived ...codec.Arrival) (receipt measurements.Receipt, err error) {
	err = transact.Once(s.Context(), s.db, nil, func(tx *sqlx.Tx) error {
		receipt, _, err = s.Keep(s.Context(), tx, measurements.Batch{Organization: s.org}, arrived)
		return err
	})
	return receipt, err
}

// write writes arrivals that all are in time, and remembers them.
func (s *stage) write(arrived ...codec.Arrival) {
	s.Helper()
	receipt, err := s.try(arrived...)
	if err != nil {
		s.Fatal(err)
	}
	if receipt.TooLate != (measurements.SampleCounts{}) {
		s.Fatalf("too late: %+v", receipt.TooLate)
	}
	s.remember(arrived...)
}

func (s *stage) remember(arrived ...codec.Arrival) {
	for _, a := range arrived {
		key := keyOfSeries{a.Kind, a.Subject}
		if s.kept[key] == nil {
			s.kept[key] = make(map[time.Time]map[int64]int64)
		}
		was := s.kept[key][a.At]
		if was == nil {
			was = make(map[int64]int64)
			s.kept[key][a.At] = was
		}
		for part, n := range parts(a.Body) {
			if _, ok := was[part]; !ok {
				was[part] = n
			}
		}
	}
}

// roll rolls everything up, and says how many hours that were.
func (s *stage) roll() int {
	s.Helper()
	n, err := s.Roll(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return n
}

// rollAll rolls up until nothing is dirty: the server may still hold what a process
// held that died.
func (s *stage) rollAll() {
	s.Helper()
	s.eventually(func() []string {
		s.roll()
		return s.dirty()
	})
}

// dirty lists what has to be rolled up.
func (s *stage) dirty() []string {
	s.Helper()
	dirty, err := statement.All[string](s.Context(), s.db, "read what is dirty",
		`SELECT format('%s of %s at %s, failed %s times, due in %s', s.kind, s.subject, d.hour, d.failures, d.due - now())
			FROM dirty_hours d LEFT JOIN measured_series s ON s.id = d.series_id ORDER BY d.hour, d.series_id`)
	if err != nil {
		s.Fatal(err)
	}
	return dirty
}

// eventually looks until nothing is left, and fails the test with what is left after 20 seconds.
func (s *stage) eventually(look func() []string) {
	s.Helper()
	begun := time.Now()
	for left := look(); len(left) > 0; left = look() {
		if time.Since(begun) > 20*time.Second {
			s.Fatalf("%d are left: %q", len(left), left)
		}
	}
}

// compact puts what is over into blocks, as if nothing had come for a while, and says how
// many hours that were.
func (s *stage) compact() int {
	s.Helper()
	s.quieten(11 * time.Minute)
	n, err := s.Compact(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	s.quieten(-11 * time.Minute)
	return n
}

// emptyAll empties all parts, also those that are written to now.
func (s *stage) emptyAll() {
	s.Helper()
	for part := range 8 {
		if err := s.ledger.Raw.EmptyPart(s.Context(), part); err != nil {
			s.Fatal(err)
		}
	}
}

// crash leaves of the database what a crash of PostgreSQL does.
func (s *stage) crash() {
	s.Helper()
	s.exec(`WITH a AS (DELETE FROM head_minutes), b AS (DELETE FROM head_hours), c AS (DELETE FROM head_days), d AS (DELETE FROM head_hour_details),
		e AS (DELETE FROM head_day_details), f AS (DELETE FROM head_rests), g AS (DELETE FROM dirty_hours) DELETE FROM head_state`)
}

func (s *stage) exec(statement string, args ...any) {
	s.Helper()
	if _, err := s.db.ExecContext(s.Context(), statement, args...); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) count(statement string, args ...any) (n int) {
	s.Helper()
	if err := s.db.GetContext(s.Context(), &n, statement, args...); err != nil {
		s.Fatal(err)
	}
	return n
}

// keyOfSeries is what a series of an organization is known by.
type keyOfSeries struct{ kind, subject string }

// rolled is a bucket of a series.
type rolled struct {
	keyOfSeries
	size  timegrid.Size
	start time.Time
}

// wanted is what the buckets of all sizes come to, from what was written.
func (s *stage) wanted() map[rolled]amounts {
	want := make(map[rolled]amounts)
	for key, kept := range s.kept {
		var samples []codec.Sample
		for at, of := range kept {
			samples = append(samples, codec.Sample{At: at, Body: pack(of)})
		}
		slices.SortFunc(samples, func(a, b codec.Sample) int { return a.At.Compare(b.At) })
		t := &abacus{name: key.kind}
		for _, one := range samples {
			for _, size := range timegrid.Sizes() {
				start := size.Floor(one.At)
				if b := (rolled{key, size, start}); want[b] == (amounts{}) {
					want[b] = t.of(samples, start, start.Add(size.Width()))
				}
			}
		}
	}
	return want
}

// shown is what the tables have of all sizes.
func (s *stage) shown() map[rolled]amounts {
	s.Helper()
	shown := make(map[rolled]amounts)
	for _, table := range []struct {
		name  string
		slots []timegrid.Size // of each slot but the rests
	}{
		{"minutes", slices.Repeat([]timegrid.Size{timegrid.Minute}, 60)},
		{"hours", slices.Repeat([]timegrid.Size{timegrid.Hour}, 24)},
		{"days", append(slices.Repeat([]timegrid.Size{timegrid.Day}, 7), timegrid.Week)},
	} {
		type row struct {
			Kind, Subject string
			Start         time.Time
			Slots         []byte
		}
		rows, err := statement.All[row](s.Context(), s.db, "read a table",
			`SELECT s.kind, s.subject, coalesce(h.start, b.start) AS start, coalesce(h.body, b.body) AS slots
				FROM head_`+table.name+` h FULL JOIN block_`+table.name+` b ON b.series_id = h.series_id AND b.start = h.start
				JOIN measured_series s ON s.id = coalesce(h.series_id, b.series_id) WHERE s.organization_id = $1`, s.org)
		if err != nil {
			s.Fatal(err)
		}
		for _, row := range rows {
			for i, size := range table.slots {
				at := row.Start.UTC()
				if size != timegrid.Week {
					at = at.Add(time.Duration(i) * size.Width())
				}
				slot, _ := (*abacus)(nil).Slot(row.Slots, i)
				if slot != nil && amountsOf(slot) != (amounts{}) {
					shown[rolled{keyOfSeries{row.Kind, row.Subject}, size, at}] = amountsOf(slot)
				}
			}
		}
	}
	return shown
}

// check compares the tables with brute force.
func (s *stage) check() {
	s.Helper()
	want := s.wanted()
	for b, a := range want {
		if a == (amounts{}) {
			delete(want, b) // a lone counter: nothing to show
		}
	}
	if diff := gocmp.Diff(lines(want), lines(s.shown())); diff != "" {
		s.Fatalf("rolled up (-want +got):\n%s", diff)
	}
}

// line is a bucket as a difference shows it.
type line struct {
	Series, Size, Start string
	Sum, Samples, Most  int64
}

func lines(of map[rolled]amounts) []line {
	var all []line
	for b, a := range of {
		all = append(all, line{b.kind + " " + b.subject, string(b.size), b.start.Format(time.RFC3339), a.sum, a.samples, a.most})
	}
	slices.SortFunc(all, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.Series, b.Series), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Start, b.Start))
	})
	return all
}
