package alerts_test

import (
	"slices"
	"testing"
	"time"

	domain "muster/domain/fleet"
	"muster/domain/timegrid"
)

// window is the time before the year's now, in buckets of a size.
func (x *bench) window(length time.Duration, size timegrid.Size) timegrid.Window {
	return timegrid.Window{From: x.now.Add(-length), To: x.now, Size: size}
}

const day = 24 * time.Hour

// counts measures the overview and the alert history. The overview: p95 at most
// 30 ms, of 100 instances 20 ms. The history of 30 days by the hour: 60 ms, of 7
// days by the minute: 120 ms.
func (x *bench) counts(b *testing.B) {
	b.Run("overview", x.overview(0))
	b.Run("overview,instances=100", x.overview(100))
	month := x.window(30*day, timegrid.Hour)
	yardstick := x.bucketByBucket(b, month)
	b.Run("history=30d@1h", x.history(month, 0, yardstick))
	b.Run("history=30d@1h,instances=100", x.history(month, 100, 0))
	b.Run("history=7d@1m", x.history(x.window(7*day, timegrid.Minute), 0, 0))
	b.Run("history=11000@1m", x.history(x.window(10_999*time.Minute, timegrid.Minute), 0, 0))
	b.Run("history=11000@1h", x.longHistory(x.window(10_999*time.Hour, timegrid.Hour))) // every alert there is
	old := timegrid.Window{From: x.now.Add(-300 * day), To: x.now.Add(-270 * day), Size: timegrid.Hour}
	b.Run("history=30d@1h,old", x.longHistory(old))
}

// overview counts instances, databases and alerts, as the route does.
func (x *bench) overview(instances int) func(*testing.B) {
	return func(b *testing.B) {
		n, then := 0, x.now.Add(-7*day)
		x.latency(b, func() error {
			n++
			scope, err := x.resolved(b, n, instances)
			if err != nil {
				return err
			}
			counts, err := x.fleet.Counts(b.Context(), x.organization, scope, then)
			if err != nil {
				return err
			}
			open, before, err := x.reader.Open(b.Context(), x.organization, scope, then)
			if instances == 0 && (counts.Instances != yearInstances || counts.Databases != yearInstances*yearDatabases || open == 0 || before == 0) {
				b.Fatalf("%+v, %d alerts open, %d before", counts, open, before)
			}
			return err
		})
	}
}

// resolved is a scope that was found by its ids.
func (x *bench) resolved(b *testing.B, n, instances int) (domain.Scope, error) {
	return x.fleet.Scope(b.Context(), x.organization, x.scope(n, instances).Instances, nil, nil)
}

// history reads the series; yardstick is what asking bucket by bucket took, 0 where
// that was not measured.
func (x *bench) history(w timegrid.Window, instances int, yardstick time.Duration) func(*testing.B) {
	return func(b *testing.B) {
		n := 0
		x.latency(b, func() error {
			n++
			return x.readHistory(b, w, n, instances)
		})
		b.ReportMetric(float64(w.Len()), "buckets")
		if yardstick > 0 {
			b.ReportMetric(float64(yardstick.Microseconds())/1000, "bucket-by-bucket-ms")
		}
	}
}

// longHistory has no goal and takes so long that a few reads must do, whatever -benchtime says.
func (x *bench) longHistory(w timegrid.Window) func(*testing.B) {
	return func(b *testing.B) {
		var took []time.Duration
		for range 20 {
			start := time.Now()
			if err := x.readHistory(b, w, 0, 0); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
		b.ReportMetric(quantile(took, 0.5), "p50-ms")
		b.ReportMetric(float64(w.Len()), "buckets")
	}
}

func (x *bench) readHistory(b *testing.B, w timegrid.Window, n, instances int) error {
	scope, err := x.resolved(b, n, instances)
	if err != nil {
		return err
	}
	active, resolved, err := x.reader.History(b.Context(), x.organization, scope, w)
	if err == nil && (slices.Max(active) == 0 || slices.Max(resolved) == 0) {
		b.Fatal("nothing happened")
	}
	return err
}

// bucketByBucket is the yardstick: the definition, asked for one bucket after the
// other, in prepared statements over the same indexes. It must come to the same.
func (x *bench) bucketByBucket(b *testing.B, w timegrid.Window) time.Duration {
	b.Helper()
	active, resolved, err := x.reader.History(b.Context(), x.organization, domain.Scope{}, w)
	if err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	for i, start := range w.Starts() {
		var fired, closed int64
		from, to := start, start.Add(w.Size.Width())
		if from.Before(w.From) {
			from = w.From
		}
		if to.After(w.To) {
			to = w.To
		}
		err := x.db.QueryRowContext(b.Context(), `SELECT
    (SELECT count(*) FROM alerts_v5.alerts
     WHERE organization_id = $1 AND NOT muted AND first_triggered_at < $3 AND last_triggered_at >= $2)
  + (SELECT count(*) FROM alerts_v5.alerts a JOIN alert_last_seen s ON s.alert_id = a.id
     WHERE a.organization_id = $1 AND NOT a.muted AND a.resolved_at IS NULL
       AND a.first_triggered_at < $3 AND a.last_triggered_at < $2 AND s.last_triggered_at >= $2),
    (SELECT count(*) FROM alerts_v5.alerts
     WHERE organization_id = $1 AND NOT muted AND resolved_at >= $2 AND resolved_at < $3)`,
			x.organization, from, to).Scan(&fired, &closed)
		if err != nil || fired != active[i] || closed != resolved[i] {
			b.Fatalf("%s: %d and %d, %v, the history has %d and %d", start, fired, closed, err, active[i], resolved[i])
		}
	}
	return time.Since(begun)
}
