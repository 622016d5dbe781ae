package clickhouse_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
)

// TestHoursInHeadAndBlocksCountOnce: hours that were put into blocks and are open again have their newest state
// in the head. They are added up here, and everything else in ClickHouse.
func TestHoursInHeadAndBlocksCountOnce(t *testing.T) {
	t.Parallel()
	h := measured(t)
	organization, instance, database := uuid.New(), uuid.New(), uuid.New()
	day := time.Now().UTC().Truncate(24 * time.Hour).Add(-24 * time.Hour)
	var calls int64
	write := func(at time.Time, n int64) {
		t.Helper()
		calls += n
		_, err := h.Store.Write(t.Context(), measurements.Batch{Organization: organization, Statements: []measurements.StatementSample{{
			Instance: instance, Engine: fleet.PostgreSQL, Database: database, At: at, Interval: time.Minute,
			Statements: []measurements.Statement{{Key: "q", Calls: n, TotalMs: float64(n)}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string) {
		t.Helper()
		for name, span := range map[string]measurements.Span{
			"minutes": {From: day.Add(30 * time.Minute), To: day.Add(23*time.Hour + 30*time.Minute), Size: "1m"},
			"hours":   {From: day.Add(-time.Hour), To: day.Add(25 * time.Hour), Size: "1h"},
			"days":    {From: day.Add(-48 * time.Hour), To: day.Add(24 * time.Hour), Size: "1d"},
		} {
			var sum float64
			sampled, _, err := h.Store.Statements(t.Context(), organization, fleet.PostgreSQL, measurements.StatementScope{}, span, time.Now(), func(one measurements.StatementSums) { sum += one.Calls })
			if err != nil || !sampled || sum != float64(calls) {
				t.Errorf("%s, %s: %g calls, want %d (sampled %t); %v", when, name, sum, calls, sampled, err)
			}
		}
	}
	step := func(what string) {
		t.Helper()
		if err := h.Roll(t.Context()); err != nil {
			t.Fatal(err)
		}
		check(what)
	}
	for hour := range 3 {
		for minute := range 3 {
			write(day.Add(time.Duration(hour)*time.Hour+time.Duration(30+minute)*time.Minute), int64(1+10*hour+minute))
		}
	}
	step("in blocks")
	write(day.Add(31*time.Minute+30*time.Second), 1000) // its hour is open again
	write(day.Add(5*time.Hour), 2000)                   // and one that has no blocks
	step("open again")
	write(day.Add(40*time.Minute), 4000)
	step("in blocks again")
}
