package pgstore

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/compaction"
	"muster/internal/measurements/pgstore/ledger"
)

// quieten lets what has arrived so far have arrived that long ago.
func (s *stage) quieten(d time.Duration) {
	s.Helper()
	s.exec(`UPDATE measured_hours SET arrived_at = arrived_at - make_interval(secs => $1)`, d.Seconds())
}

func (s *stage) seal() int {
	s.Helper()
	n, err := s.Seal(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return n
}

func (s *stage) raw() int {
	s.Helper()
	return s.count(`SELECT count(*) FROM raw_samples`)
}

// past is an hour that could be sealed, had its samples arrived in time.
var past = timegrid.Hour.Floor(time.Now().Add(-20 * 24 * time.Hour))

// TestAnHourIsSealed 72 hours after the last sample of it arrived: then it is too late
// for another one, which is counted, and only then.
func TestAnHourIsSealed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(measured(codec.Sessions, "a", past, 1), measured(codec.Sessions, "b", past, 1))
	s.quieten(ledger.Standard.Raw + time.Minute)
	if n := s.seal(); n != 0 {
		t.Errorf("%d hours were sealed that are not rolled up", n)
	}
	s.roll()
	s.write(measured(codec.Sessions, "b", past.Add(time.Minute), 1)) // b is heard of again
	s.roll()
	if n := s.seal(); n != 1 || s.raw() != 2 {
		t.Errorf("%d hours were sealed, %d raw samples are left; want 1 and 2", n, s.raw())
	}
	receipt, err := s.try(measured(codec.Sessions, "a", past.Add(30*time.Minute), 7), measured(codec.Sessions, "a", past, 1),
		measured(codec.Sessions, "a", past.Add(time.Hour), 2), measured(codec.Sessions, "b", past.Add(30*time.Minute), 2), measured(codec.Hosts, "a", past, 2))
	if err != nil {
		t.Fatal(err)
	}
	want := measurements.Receipt{Accepted: measurements.SampleCounts{Hosts: 1, Sessions: 2}, TooLate: measurements.SampleCounts{Sessions: 2}}
	if receipt != want {
		t.Errorf("%+v, want %+v", receipt, want)
	}
	s.remember(measured(codec.Sessions, "a", past.Add(time.Hour), 2), measured(codec.Sessions, "b", past.Add(30*time.Minute), 2), measured(codec.Hosts, "a", past, 2))
	s.roll()
	s.check()
}

// TestRepeatedSamplesDoNotKeepAnHourOpen: nothing has arrived.
func TestRepeatedSamplesDoNotKeepAnHourOpen(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(measured(codec.Sessions, "a", past, 1, 2))
	s.roll()
	s.quieten(ledger.Standard.Raw + time.Minute)
	s.write(measured(codec.Sessions, "a", past, 1))
	if n := s.roll(); n != 0 {
		t.Errorf("%d hours are dirty of what was there already", n)
	}
	if n := s.seal(); n != 1 || s.raw() != 0 {
		t.Errorf("%d hours were sealed, %d raw samples are left", n, s.raw())
	}
}

// TestTheLastSampleBeforeAnHourStays until that hour is sealed.
func TestTheLastSampleBeforeAnHourStays(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	next := past.Add(time.Hour)
	s.write(measured(codec.Hosts, "a", past.Add(30*time.Minute), 1), measured(codec.Hosts, "a", next.Add(-time.Minute), 5))
	s.roll()
	s.quieten(ledger.Standard.Raw + time.Minute)
	s.write(measured(codec.Hosts, "a", next.Add(time.Minute), 50))
	s.roll()
	if n := s.seal(); n != 1 || s.raw() != 2 {
		t.Fatalf("%d hours were sealed, %d raw samples are left, want 1 and 2", n, s.raw())
	}
	s.write(measured(codec.Hosts, "a", next, 20))
	s.roll()
	s.check()
	s.quieten(ledger.Standard.Raw + time.Minute)
	if n := s.seal(); n != 1 || s.raw() != 0 {
		t.Errorf("%d hours were sealed, %d raw samples are left, want 1 and 0", n, s.raw())
	}
}

// TestSealingSkipsBusySeries, and series that have changed since they were found.
func TestSealingSkipsBusySeries(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(measured(codec.Sessions, "a", past, 1))
	s.roll()
	s.quieten(ledger.Standard.Raw + time.Minute)
	writer, err := s.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	late := measured(codec.Sessions, "a", past.Add(time.Second), 2)
	if _, _, err := s.Keep(t.Context(), writer, measurements.Batch{Organization: s.org}, []codec.Arrival{late}); err != nil {
		t.Fatal(err)
	}
	if n := s.seal(); n != 0 {
		t.Errorf("%d hours were sealed under their writer", n)
	}
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}
	s.remember(late)
	if n := s.seal(); n != 0 {
		t.Errorf("%d hours were sealed that have just been written to", n)
	}
	s.roll()
	s.check()
}

// ages are weeks that are over, whose hours are older than 400 days in the first one.
var (
	agesAgo = timegrid.Week.Floor(time.Now().Add(-420 * 24 * time.Hour))
	monthly = timegrid.Week.Floor(time.Now().Add(-40 * 24 * time.Hour))
)

// TestRetention: minutes for 30 days, hours for 400, days and weeks forever; and not while
// their samples are there.
func TestRetention(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	recent := timegrid.Hour.Floor(time.Now().Add(-10 * 24 * time.Hour))
	for _, start := range []time.Time{agesAgo, monthly, recent} {
		for _, kind := range []string{codec.Hosts, codec.Sessions, codec.Statements} {
			s.write(measured(kind, "a", start, 5), measured(kind, "a", start.Add(time.Minute), 8))
		}
	}
	s.roll()
	s.seal()
	s.check() // nothing is forgotten yet
	s.quieten(ledger.Standard.Raw + time.Minute)
	s.seal()
	for table, want := range map[string]int{"raw_samples": 0, "measured_hours": 0, "block_minutes": 3, "block_hours": 6, "block_days": 9, "block_raw": 0, "block_hour_details": 0, "block_day_details": 0, "head_minutes": 0, "head_days": 0} {
		if n := s.count(`SELECT count(*) FROM ` + table); n != want {
			t.Errorf("%d rows of %s are left, want %d", n, table, want)
		}
	}
	// Of the three hours of each kind one is younger than 35 days, of the days two than 400.
	for table, want := range map[string]int{"block_closed_hour_details": 1, "block_closed_day_details": 2} {
		if n := s.count(`SELECT count(*) FROM ` + table); n != want {
			t.Errorf("%d rows of %s are left, want %d", n, table, want)
		}
	}
}

// TestALateImport into a week whose details, or hours, are forgotten adds to what it
// was: sums are exact, a maximum is the greater one. However often it is rolled up.
func TestALateImport(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, week := range []time.Time{agesAgo, monthly} {
		s.afresh()
		at := week.Add
		for _, kind := range []string{codec.Sessions, codec.Statements} {
			s.write(measured(kind, "a", at(0), 10, 1), measured(kind, "a", at(time.Hour), 10), measured(kind, "a", at(25*time.Hour), 3))
		}
		for i, late := range []time.Duration{2 * time.Hour, 3 * time.Hour, 26 * time.Hour} {
			s.roll()
			s.quieten(ledger.Standard.Raw + time.Minute)
			s.seal()
			for _, kind := range []string{codec.Sessions, codec.Statements} {
				s.write(measured(kind, "a", at(late), 15))
				s.roll()
				s.write(measured(kind, "a", at(late+time.Minute), 4)) // the hour is made anew
			}
			s.roll()
			want, shown := s.wanted(), s.shown()
			for b, a := range want {
				if b.size == timegrid.Minute || b.size == timegrid.Hour && week.Equal(agesAgo) {
					continue // forgotten
				}
				if got := shown[b]; got.sum != a.sum || got.samples != a.samples {
					t.Errorf("import %d: %s %s of %s: %+v, want %+v", i, b.size, b.start, b.kind, got, a)
				}
			}
		}
		day, whole := rolled{keyOfSeries{codec.Statements, "a"}, timegrid.Day, week}, rolled{keyOfSeries{codec.Statements, "a"}, timegrid.Week, week}
		for b, most := range map[rolled]int64{day: 20, whole: 23} {
			if got := s.shown()[b].most; got != most {
				t.Errorf("the maximum of the %s is %d, want %d", b.size, got, most)
			}
		}
	}
}

// TestAWeekThatCannotBeRead keeps its details, and nothing else has to stay for it.
func TestAWeekThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s, organization := newStore(t), uuid.New()
	for range compaction.ForgetGroup + 1 { // more than a group: none is found twice
		write(t, s, lookAt(organization, uuid.New(), "db1", []uuid.UUID{uuid.New()}, monthly))
	}
	if _, err := s.Roll(t.Context()); err != nil {
		t.Fatal(err)
	}
	var good int64
	if err := s.db.GetContext(t.Context(), &good, `SELECT max(id) FROM measured_series WHERE kind = 'statements'`); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`UPDATE head_days SET body = '\xff' FROM measured_series s WHERE s.id = series_id AND s.kind = 'statements'
			AND s.id < (SELECT max(id) FROM measured_series WHERE kind = 'statements')`,
		`UPDATE measured_hours SET arrived_at = arrived_at - interval '73 hours'`,
	} {
		if _, err := s.db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left struct{ Bad, Good, Minutes int }
	if err := s.db.GetContext(t.Context(), &left, `SELECT
		(SELECT count(DISTINCT series_id) FROM block_hour_details WHERE series_id < $1) AS bad,
		(SELECT count(DISTINCT series_id) FROM block_hour_details WHERE series_id = $1) AS good,
		(SELECT count(*) FROM block_minutes) AS minutes`, good); err != nil {
		t.Fatal(err)
	}
	if left.Bad != compaction.ForgetGroup || left.Good != 0 || left.Minutes != 0 {
		t.Errorf("left: %+v, want the details of %d bad weeks", left, compaction.ForgetGroup)
	}
}
