package measurementstest

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
)

// inSpan is whether a sample is in a span.
func inSpan(span measurements.Span) func(time.Time) bool {
	return func(at time.Time) bool { return !at.Before(span.From) && at.Before(span.To) }
}

// UtilizationContributors is documented at measurements.Store.
func (r *Reference) UtilizationContributors(_ context.Context, organization uuid.UUID, scope measurements.HostScope, span measurements.Span, b measurements.Breakdown) (measurements.Ranking, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ranking, in := measurements.Ranking{Breakdown: b}, inSpan(span)
	add := func(c measurements.Contributor) {
		if !math.IsNaN(c.Value) {
			ranking.Add(c)
		}
	}
	for name, host := range r.of(organization).byHost() {
		if !inScope(host, scope) {
			continue
		}
		switch b.Series {
		case measurements.CPU:
			add(measurements.Contributor{Host: name, Value: cpuOf(host, in)})
		case measurements.Memory:
			add(measurements.Contributor{Host: name, Value: memoryOf(host, in)})
		case measurements.Disk:
			mounts := make(map[string]bool)
			for _, h := range host {
				for _, v := range h.Volumes {
					mounts[v.Mount] = true
				}
			}
			for mount := range mounts {
				alone := slices.Clone(host)
				for i := range alone {
					alone[i].Volumes = slices.DeleteFunc(slices.Clone(alone[i].Volumes), func(v measurements.Volume) bool { return v.Mount != mount })
				}
				add(measurements.Contributor{Host: name, Mount: mount, Value: diskOf(alone, in)})
			}
		}
	}
	return ranking, nil
}

// QueryContributors is documented at measurements.Store.
func (r *Reference) QueryContributors(_ context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, span measurements.Span, b measurements.Breakdown, now time.Time) (measurements.Ranking, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ranking := measurements.Ranking{Breakdown: b}
	if engine == fleet.Oracle && span.From.Before(now.Add(-7*24*time.Hour)) {
		return ranking, nil
	}
	queries, sampled := r.of(organization).queriesIn(engine, scope, inSpan(span))
	ranking.Sampled, ranking.Coverage = sampled, r.of(organization).coverage(engine, scope, inSpan(span))
	behind := make(map[measurements.Contributor]measurements.Contributor) // by what it is
	for query, samples := range queries {
		totalMs, calls, maxMs := overall(engine, samples)
		if calls == 0 {
			continue
		}
		key := measurements.Contributor{Instance: query.instance}
		switch b.By {
		case measurements.ByDatabase:
			key.Database = query.database
		case measurements.ByStatement:
			key.Database = query.database
			key.Statement = measurements.StatementID(query.instance, measurements.HashStatement(query.database, query.key))
		}
		c, known := behind[key]
		if !known {
			c = key
			c.Value = maxMs
		}
		c.Value = greater(c.Value, maxMs)
		c.Calls += calls
		c.TotalMs += totalMs
		behind[key] = c
	}
	for c := range maps.Values(behind) {
		if b.Series == measurements.Average {
			c.Value = c.TotalMs / c.Calls
		} else {
			c.Calls, c.TotalMs = 0, 0
		}
		ranking.Add(c)
	}
	return ranking, nil
}

// categories are those of the series of wait events.
var categories = map[measurements.Series]int{"locks": 0, "lightweightLocks": 1, "io": 2, "clientNetwork": 3, "other": 4}

// WaitContributors is documented at measurements.Store.
func (r *Reference) WaitContributors(_ context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, span measurements.Span, b measurements.Breakdown) (measurements.Ranking, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ranking := measurements.Ranking{Breakdown: b}
	if by, is := b.Dimension(); is {
		r.of(organization).behindActivity(engine, scope, span, b, by, &ranking)
		return ranking, nil
	}
	behind := make(map[measurements.Contributor]float64)
	for database, samples := range r.of(organization).byDatabase(engine, scope, measurements.OnlyCounts) {
		average, sampled := averageWaiting(samples, inSpan(span))
		ranking.Sampled = ranking.Sampled || sampled
		for category, waiting := range average {
			if only, one := categories[b.Series]; one && only != category {
				continue
			}
			switch b.By {
			case measurements.ByInstance:
				behind[measurements.Contributor{Instance: database.instance}] += waiting
			case measurements.ByDatabase:
				behind[measurements.Contributor{Instance: database.instance, Database: database.database}] += waiting
			case measurements.ByCategory:
				behind[measurements.Contributor{Category: category}] += waiting
			}
		}
	}
	addParts(&ranking, behind)
	return ranking, nil
}

// ConnectionContributors is documented at measurements.Store.
func (r *Reference) ConnectionContributors(_ context.Context, organization uuid.UUID, engine fleet.Engine, databases []uuid.UUID, b measurements.Breakdown, now time.Time) (measurements.Ranking, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ranking := measurements.Ranking{Breakdown: b}
	behind := make(map[measurements.Contributor]float64)
	for of, samples := range r.of(organization).byDatabase(engine, fleet.Scope{}, measurements.OnlyWaits) {
		latest := samples[len(samples)-1]
		if !slices.Contains(databases, of.database) || now.Sub(latest.At) > max(3*latest.Interval, time.Minute) {
			continue
		}
		ranking.Sampled = true
		c := measurements.Contributor{Instance: of.instance}
		if b.By == measurements.ByDatabase {
			c.Database = of.database
		}
		behind[c] += float64(map[measurements.Series]int64{
			"total":  latest.Active + latest.Idle + latest.Waiting + latest.IdleInTransaction + latest.Other,
			"active": latest.Active, "idle": latest.Idle, "waiting": latest.Waiting,
		}[b.Series])
	}
	addParts(&ranking, behind)
	return ranking, nil
}

// addParts adds those that have any part of a sum, or all if requested.
func addParts(ranking *measurements.Ranking, behind map[measurements.Contributor]float64) {
	for c, value := range behind {
		if c.Value = value; value > 0 || ranking.Zeros {
			ranking.Add(c)
		}
	}
}
