package measurementstest

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/waitclass"
)

// includes reports whether an instance is in scope.
func includes(scope fleet.Scope, instance uuid.UUID) bool {
	return !scope.Filtered || slices.Contains(scope.Instances, instance)
}

// byDatabase returns the samples of sessions in scope, of each database in the order
// of time, but for those that say nothing of what is wanted. A database is one of an
// instance.
func (s *samples) byDatabase(engine fleet.Engine, scope fleet.Scope, but measurements.SessionPart) map[databaseSample][]measurements.SessionSample {
	databases := make(map[databaseSample][]measurements.SessionSample)
	for _, v := range inOrder(s.sessions, func(v measurements.SessionSample) time.Time { return v.At }) {
		if v.Engine == engine && includes(scope, v.Instance) && v.Part != but {
			database := databaseSample{instance: v.Instance, database: v.Database}
			databases[database] = append(databases[database], v)
		}
	}
	return databases
}

// WaitEvents is documented at measurements.Store.
func (r *Reference) WaitEvents(_ context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, w timegrid.Window) (measurements.WaitSums, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var sums measurements.WaitSums
	for c := range sums.Waiting {
		sums.Waiting[c] = measurements.Gaps(w.Len())
	}
	for _, database := range r.of(organization).byDatabase(engine, scope, measurements.OnlyCounts) {
		for i := range w.Len() {
			average, sampled := averageWaiting(database, func(at time.Time) bool { return w.Index(at) == i })
			if !sampled {
				continue
			}
			sums.Sampled = true
			for c := range sums.Waiting {
				if sums.Waiting[c][i] != sums.Waiting[c][i] { // NaN: the first database here
					sums.Waiting[c][i] = 0
				}
				sums.Waiting[c][i] += average[c]
			}
		}
	}
	sums.Partial = r.of(organization).partialSessions(engine, scope, w.Start(), w.End())
	return sums, nil
}

// averageWaiting is how many sessions of a database wait at once in a bucket: their
// number in each category over the samples in which at least one waits for anything.
func averageWaiting(database []measurements.SessionSample, in func(time.Time) bool) (average [waitclass.Categories]float64, sampled bool) {
	var waiting [waitclass.Categories]int64
	withWaiter := 0
	for _, v := range database {
		if !in(v.At) {
			continue
		}
		sampled = true
		var all int64
		for name, sessions := range v.Waits {
			if category, waits := measurements.Classify(v.Engine, name); waits {
				waiting[category] += sessions
				all += sessions
			}
		}
		if all > 0 {
			withWaiter++
		}
	}
	if withWaiter > 0 {
		for c := range average {
			average[c] = float64(waiting[c]) / float64(withWaiter)
		}
	}
	return average, sampled
}

// Connections is documented at measurements.Store.
func (r *Reference) Connections(_ context.Context, organization uuid.UUID, engine fleet.Engine, databases []uuid.UUID, now time.Time) (measurements.OpenConnections, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var sum measurements.OpenConnections
	for database, samples := range r.of(organization).byDatabase(engine, fleet.Scope{}, measurements.OnlyWaits) {
		latest := samples[len(samples)-1]
		counts := max(3*latest.Interval, time.Minute)
		if !slices.Contains(databases, database.database) || now.Sub(latest.At) > counts {
			continue
		}
		if sum.SampledAt.IsZero() || latest.At.Before(sum.SampledAt) {
			sum.SampledAt = latest.At
		}
		sum.Active += latest.Active
		sum.Idle += latest.Idle
		sum.Waiting += latest.Waiting
		sum.IdleInTransaction += latest.IdleInTransaction
		sum.Other += latest.Other
		sum.Partial = sum.Partial || latest.Partial
	}
	return sum, nil
}
