package measurementstest

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/instant"
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
	sums.Partial = r.of(organization).partialStatements(engine, scope, w.Start(), w.End())
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

// Statements is documented at measurements.Store.
func (r *Reference) Statements(_ context.Context, organization uuid.UUID, engine fleet.Engine, scope measurements.StatementScope, span measurements.Span, now time.Time, take func(measurements.StatementSums)) (sampled, partial bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if engine == fleet.Oracle && span.From.Before(now.Add(-7*24*time.Hour)) {
		return false, false, nil
	}
	of := r.of(organization).only(scope.Database)
	queries, sampled := of.queriesIn(engine, scope.Scope, inSpan(span))
	for q, samples := range queries {
		if totalMs, calls, maxMs := overall(engine, samples); calls > 0 {
			take(measurements.StatementSums{StatementRef: q.ref(), Database: q.database, Calls: calls, TotalMs: totalMs, MaxMs: maxMs})
		}
	}
	return sampled, r.of(organization).partialStatements(engine, scope.Scope, span.From, span.To), nil
}

func (q query) ref() measurements.StatementRef {
	return measurements.StatementRef{Instance: q.instance, Hash: measurements.HashStatement(q.database, q.key)}
}

// only keeps the statements of one database; of all if it is zero.
func (s *samples) only(database uuid.UUID) *samples {
	if database == uuid.Nil {
		return s
	}
	left := &samples{statements: make(map[databaseSample]measurements.StatementSample)}
	for key, v := range s.statements {
		if key.database == database {
			left.statements[key] = v
		}
	}
	return left
}

// StatementSeries is documented at measurements.Store.
func (r *Reference) StatementSeries(_ context.Context, organization uuid.UUID, of measurements.NamedStatement, w timegrid.Window, now time.Time) (measurements.StatementSeries, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := w.Len()
	series := measurements.StatementSeries{Calls: measurements.Gaps(n), TotalMs: measurements.Gaps(n), MaxMs: measurements.Gaps(n)}
	scope := fleet.Scope{Filtered: true, Instances: []uuid.UUID{of.Instance}}
	for i, start := range w.Starts() {
		queries, sampled := r.of(organization).only(of.Database).queriesIn(of.Engine, scope, func(at time.Time) bool { return w.Index(at) == i })
		if !sampled || of.Engine == fleet.Oracle && start.Before(now.Add(-7*24*time.Hour)) {
			continue
		}
		series.TotalMs[i], series.Calls[i], series.MaxMs[i] = overall(of.Engine, queries[query{of.Instance, of.Database, of.Key}])
	}
	return series, nil
}

// known are the statements that were executed in any sample.
func (s *samples) known() map[measurements.StatementRef]measurements.NamedStatement {
	known := make(map[measurements.StatementRef]measurements.NamedStatement)
	watched := make(map[uuid.UUID]time.Time)
	for _, v := range s.statements {
		began := instant.Cut(v.At.Add(-v.Interval)).UTC()
		if since, ok := watched[v.Instance]; !ok || began.Before(since) {
			watched[v.Instance] = began
		}
	}
	for _, v := range inOrder(s.statements, func(v measurements.StatementSample) time.Time { return v.At }) {
		for _, one := range v.Statements {
			if one.Calls == 0 {
				continue
			}
			ref := query{v.Instance, v.Database, one.Key}.ref()
			is, ok := known[ref]
			if !ok {
				is = measurements.NamedStatement{StatementRef: ref, Engine: v.Engine, Database: v.Database, Key: one.Key, Text: one.Text, FirstSeen: v.At.UTC(), RanBefore: one.RanBefore, WatchedFrom: watched[v.Instance]}
			}
			is.LastSeen = v.At.UTC()
			known[ref] = is
		}
	}
	return known
}

// NameStatements is documented at measurements.Store.
func (r *Reference) NameStatements(_ context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]measurements.NamedStatement, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	named := make(map[uuid.UUID]measurements.NamedStatement)
	for ref, is := range r.of(organization).known() {
		if slices.Contains(ids, ref.ID()) {
			named[ref.ID()] = is
		}
	}
	return named, nil
}

// MatchStatements is documented at measurements.Store.
func (r *Reference) MatchStatements(_ context.Context, organization uuid.UUID, scope measurements.StatementScope, match measurements.StatementMatch) (map[measurements.StatementRef]bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	matched := make(map[measurements.StatementRef]bool)
	for ref, is := range r.of(organization).known() {
		first := match.FirstTo.IsZero() || is.NewIn(match.FirstFrom, match.FirstTo)
		if first && includes(scope.Scope, ref.Instance) && (scope.Database == uuid.Nil || scope.Database == is.Database) &&
			strings.Contains(strings.ToLower(is.Text), strings.ToLower(match.Text)) {
			matched[ref] = true
		}
	}
	return matched, nil
}

// FirstExecutions is documented at measurements.Store.
func (r *Reference) FirstExecutions(_ context.Context, organization uuid.UUID, scope fleet.Scope, from, to time.Time, most int) ([]measurements.FirstExecutions, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := map[uuid.UUID][]measurements.NamedStatement{}
	for ref, is := range r.of(organization).known() {
		if watched := is.FirstSeen.Sub(is.WatchedFrom); includes(scope, ref.Instance) && !is.RanBefore && watched >= measurements.NewAfter && !is.FirstSeen.Before(from) && is.FirstSeen.Before(to) {
			of[ref.Instance] = append(of[ref.Instance], is)
		}
	}
	counted := map[measurements.FirstExecutions]int{}
	for instance, all := range of {
		slices.SortFunc(all, func(a, b measurements.NamedStatement) int { return b.FirstSeen.Compare(a.FirstSeen) })
		for _, is := range all[:min(len(all), most)] {
			counted[measurements.FirstExecutions{Instance: instance, Database: is.Database, At: is.FirstSeen}]++
		}
	}
	var found []measurements.FirstExecutions
	for at, n := range counted {
		at.Statements = n
		found = append(found, at)
	}
	return found, nil
}

// coverage is over the samples that say how long their database executed.
func (s *samples) coverage(engine fleet.Engine, scope fleet.Scope, in func(time.Time) bool) (c measurements.Coverage) {
	telling := make(map[uuid.UUID]bool)
	for _, v := range s.statements {
		if v.BusyMs == nil || v.Engine != engine || !includes(scope, v.Instance) || !in(v.At) {
			continue
		}
		telling[v.Instance] = true
		c.BusyMs += *v.BusyMs
		for _, one := range v.Statements {
			if one.Calls > 0 {
				c.AttributedMs += one.TotalMs
			}
		}
	}
	c.Instances = len(telling)
	return c
}
