package measurementstest

import (
	"context"
	"math"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// query is what is asked of a database: the same key in two of them is two queries.
type query struct {
	instance, database uuid.UUID
	key                string
}

// QueryPerformance is documented at measurements.Store.
func (r *Reference) QueryPerformance(_ context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, w timegrid.Window, now time.Time) (measurements.QuerySums, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := w.Len()
	sums := measurements.QuerySums{TotalMs: make(measurements.Values, n), Calls: make(measurements.Values, n), MaxMs: measurements.Gaps(n)}
	for i, start := range w.Starts() {
		if engine == fleet.Oracle && start.Before(now.Add(-7*24*time.Hour)) {
			continue // it has no historical rollup
		}
		queries, sampled := r.of(organization).queriesIn(engine, scope, func(at time.Time) bool { return w.Index(at) == i })
		sums.Sampled = sums.Sampled || sampled
		for _, samples := range queries {
			totalMs, calls, maxMs := overall(engine, samples)
			sums.TotalMs[i] += totalMs
			sums.Calls[i] += calls
			sums.MaxMs[i] = greater(sums.MaxMs[i], maxMs)
		}
	}
	return sums, nil
}

// queriesIn returns the samples of each query in a bucket.
func (s *samples) queriesIn(engine fleet.Engine, scope fleet.Scope, in func(time.Time) bool) (queries map[query][]measurements.Statement, sampled bool) {
	queries = make(map[query][]measurements.Statement)
	for _, v := range inOrder(s.statements, func(v measurements.StatementSample) time.Time { return v.At }) {
		if v.Engine != engine || !includes(scope, v.Instance) || !in(v.At) {
			continue
		}
		sampled = true
		for _, statement := range v.Statements {
			if statement.Calls == 0 && statement.TotalMs > 0 {
				continue // time of executions that nobody counted
			}
			key := query{v.Instance, v.Database, statement.Key}
			queries[key] = append(queries[key], statement)
		}
	}
	return queries, sampled
}

// overall is what a query did in a whole bucket. Its maximum is its mean or, on SQL
// Server, the greatest maximum that a sample has, if one has any.
func overall(engine fleet.Engine, samples []measurements.Statement) (totalMs, calls, maxMs float64) {
	maxMs = math.NaN()
	if engine == fleet.Oracle && len(samples) == 1 {
		return 0, 0, maxMs // seen only once, it contributes nothing
	}
	for _, s := range samples {
		totalMs += s.TotalMs
		calls += float64(s.Calls)
		if engine == fleet.SQLServer && s.MaxMs != nil {
			maxMs = greater(maxMs, *s.MaxMs)
		}
	}
	switch {
	case calls == 0:
		maxMs = math.NaN()
	case math.IsNaN(maxMs):
		maxMs = totalMs / calls
	}
	return totalMs, calls, maxMs
}
