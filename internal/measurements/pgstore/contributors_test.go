package pgstore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// TestContributorsOutliveTheirSamples: the contributors of past hours and days are the same
// while they are raw, when their week is sealed and closed, and with later samples.
func TestContributorsOutliveTheirSamples(t *testing.T) {
	t.Parallel()
	s, organization, instance := newStore(t), uuid.New(), uuid.New()
	shop, stock := uuid.UUID{1}, uuid.UUID{2}
	day := timegrid.Day.Floor(time.Now().Add(-20 * 24 * time.Hour))
	full := func(mount string, percent float64) measurements.Volume {
		return measurements.Volume{Mount: mount, UsedPercent: &percent}
	}
	sent := func(at time.Time, database uuid.UUID, calls int64, totalMs float64, volumes ...measurements.Volume) measurements.Batch {
		return measurements.Batch{
			Organization: organization,
			Hosts:        []measurements.HostSample{{Host: "db01", At: at, Volumes: volumes}},
			Statements: []measurements.StatementSample{{Instance: instance, Engine: fleet.PostgreSQL, Database: database, At: at, Interval: time.Minute,
				Statements: []measurements.Statement{{Key: "q", Calls: calls, TotalMs: totalMs}}}},
		}
	}
	statement := func(database uuid.UUID, calls, totalMs float64) measurements.Contributor {
		return measurements.Contributor{
			Instance: instance, Database: database, Statement: measurements.StatementID(instance, measurements.HashStatement(database, "q")),
			Value: totalMs / calls, Calls: calls, TotalMs: totalMs,
		}
	}
	volume := func(mount string, peak float64) measurements.Contributor {
		return measurements.Contributor{Host: "db01", Mount: mount, Value: peak}
	}
	hours := measurements.Span{From: day.Add(9 * time.Hour), To: day.Add(12 * time.Hour), Size: timegrid.Hour}
	days := measurements.Span{From: day, To: day.Add(2 * 24 * time.Hour), Size: timegrid.Day}
	are := func(when string, span measurements.Span, statements, volumes []measurements.Contributor) {
		t.Helper()
		b := measurements.Breakdown{Series: measurements.Average, By: measurements.ByStatement, Limit: 10}
		queries, err := s.QueryContributors(t.Context(), organization, fleet.PostgreSQL, fleet.Scope{}, span, b, time.Now())
		if diff := cmp.Diff(statements, queries.Items); err != nil || diff != "" {
			t.Errorf("%s, of %s: %v\n%s", when, span.Size, err, diff)
		}
		b = measurements.Breakdown{Series: measurements.Disk, By: measurements.ByVolume, Limit: 10}
		disks, err := s.UtilizationContributors(t.Context(), organization, measurements.HostScope{}, span, b)
		if diff := cmp.Diff(volumes, disks.Items); err != nil || diff != "" {
			t.Errorf("%s, of %s: %v\n%s", when, span.Size, err, diff)
		}
	}
	step := func(do func() error) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	roll := func() error { _, err := s.Roll(t.Context()); return err }
	seal := func() error {
		if _, err := s.db.ExecContext(t.Context(), `UPDATE measured_hours SET arrived_at = arrived_at - interval '73 hours'`); err != nil {
			return err
		}
		_, err := s.Seal(t.Context())
		return err
	}
	write(t, s, sent(day.Add(9*time.Hour), shop, 2, 30, full("/", 50), full("/data", 10)))
	write(t, s, sent(day.Add(11*time.Hour), shop, 1, 6, full("/", 40), full("/data", 12)))
	write(t, s, sent(day.Add(11*time.Hour+time.Minute), stock, 4, 8))
	write(t, s, sent(day.Add(30*time.Hour), stock, 1, 1, full("/", 75)))
	step(roll)
	first := []measurements.Contributor{statement(shop, 3, 36), statement(stock, 4, 8)}
	both := []measurements.Contributor{statement(shop, 3, 36), statement(stock, 5, 9)}
	for _, when := range []string{"rolled up", "sealed and closed"} {
		are(when, hours, first, []measurements.Contributor{volume("/", 50), volume("/data", 12)})
		are(when, days, both, []measurements.Contributor{volume("/", 75), volume("/data", 12)})
		step(seal)
	}
	write(t, s, sent(day.Add(10*time.Hour), stock, 5, 100, full("/data", 60)))
	step(roll)
	late := []measurements.Contributor{statement(stock, 9, 108), statement(shop, 3, 36)}
	more := []measurements.Contributor{statement(stock, 10, 109), statement(shop, 3, 36)}
	for _, when := range []string{"with a late hour", "and closed again"} {
		are(when, hours, late, []measurements.Contributor{volume("/data", 60), volume("/", 50)})
		are(when, days, more, []measurements.Contributor{volume("/", 75), volume("/data", 60)})
		step(seal)
	}
	var rows struct{ Open, Closed int }
	step(func() error {
		return s.db.GetContext(t.Context(), &rows, `SELECT (SELECT count(*) FROM block_hour_details) + (SELECT count(*) FROM block_day_details) + (SELECT count(*) FROM head_hour_details) AS open,
			(SELECT count(*) FROM block_closed_hour_details) + (SELECT count(*) FROM block_closed_day_details) AS closed`)
	})
	if rows.Open != 0 || rows.Closed != 2*(4+2) { // of the host and of the instance four hours and two days
		t.Errorf("%+v details are left", rows)
	}
}
