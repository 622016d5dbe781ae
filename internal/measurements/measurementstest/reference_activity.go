package measurementstest

import (
	"context"
	"math"
	"slices"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/waitclass"
)

// activityKey is what sessions are of a dimension.
func activityKey(by measurements.Dimension, of databaseSample, engine fleet.Engine, d measurements.Doing) measurements.ActivityKey {
	class := measurements.ClassOnCPU
	if category, waits := measurements.Classify(engine, d.Wait); waits {
		class = category
	}
	switch by {
	case measurements.DimState:
		return measurements.ActivityKey{State: d.State}
	case measurements.DimWaitClass:
		return measurements.ActivityKey{Class: class}
	case measurements.DimWaitEvent:
		return measurements.ActivityKey{Class: class, Name: measurements.NameKey{}.Hash(by, d.Event)}
	case measurements.DimUser:
		return measurements.ActivityKey{Name: measurements.NameKey{}.Hash(by, d.User)}
	case measurements.DimApplication:
		return measurements.ActivityKey{Name: measurements.NameKey{}.Hash(by, d.Application)}
	case measurements.DimClient:
		return measurements.ActivityKey{Name: measurements.NameKey{}.Hash(by, d.Client)}
	case measurements.DimDatabase:
		return measurements.ActivityKey{Instance: of.instance, Database: of.database}
	case measurements.DimInstance:
		return measurements.ActivityKey{Instance: of.instance}
	case measurements.DimStatement:
	}
	if d.Statement == "" {
		return measurements.ActivityKey{}
	}
	return measurements.ActivityKey{Instance: of.instance, Database: of.database, Statement: measurements.HashStatement(of.database, d.Statement)}
}

// averages hands how many sessions of a database do something at once in a bucket to take: those
// on the CPU over the samples that tell of it, those that wait over the samples in which one does.
func averages(engine fleet.Engine, database []measurements.SessionSample, take func(measurements.Doing, float64)) (told bool) {
	var waiting, telling float64
	for i := range database {
		doings, tells := database[i].Activity()
		if tells {
			telling++
		}
		for _, d := range doings {
			if _, waits := measurements.Classify(engine, d.Wait); waits {
				waiting++
				break
			}
		}
	}
	for i := range database {
		doings, _ := database[i].Activity()
		for _, d := range doings {
			if d.State == measurements.OnCPU {
				take(d, float64(d.Sessions)/telling)
			} else {
				take(d, float64(d.Sessions)/waiting)
			}
		}
	}
	return telling > 0
}

// isOf says whether sessions are of the people that are asked for.
func isOf(q measurements.ActivityQuery, d measurements.Doing) bool {
	for of, names := range q.Names {
		if !slices.Contains(names, d.Name(of)) {
			return false
		}
	}
	return true
}

// Activity is documented at measurements.Store.
func (r *Reference) Activity(_ context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, w timegrid.Window, q measurements.ActivityQuery) (measurements.ActivityPart, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	part := measurements.ActivityPart{Lines: make(map[measurements.ActivityKey]measurements.Values), Classes: make(map[measurements.ActivityKey]measurements.ByClass), Sampled: make([]bool, w.Len()), Told: make([]bool, w.Len())}
	for database, samples := range r.of(organization).byDatabase(engine, scope, measurements.OnlyCounts) {
		for i := range w.Len() {
			var here []measurements.SessionSample
			for _, v := range samples {
				if w.Index(v.At) == i {
					here = append(here, v)
				}
			}
			if len(here) == 0 {
				continue
			}
			part.Sampled[i] = true
			tells := averages(engine, here, func(d measurements.Doing, sessions float64) {
				if !q.Counts(d.State) || !isOf(q, d) {
					return
				}
				key := activityKey(q.By, database, engine, d)
				if part.Lines[key] == nil {
					part.Lines[key] = make(measurements.Values, w.Len())
				}
				part.Lines[key][i] += sessions
				class := waitclass.Categories
				if category, waits := measurements.Classify(engine, d.Wait); waits {
					class = category
				}
				sum := part.Classes[key]
				sum[class] += sessions
				part.Classes[key] = sum
			})
			part.Told[i] = part.Told[i] || tells
		}
	}
	for key, line := range part.Lines {
		for i := range line {
			onCPU := key.State == measurements.OnCPU || key.Class == measurements.ClassOnCPU
			if !part.Sampled[i] || onCPU && !part.Told[i] {
				line[i] = gap
			}
		}
	}
	part.Partial = r.of(organization).partialSessions(engine, scope, w.Start(), w.End())
	return part, nil
}

// Deadlocks is documented at measurements.Store.
func (r *Reference) Deadlocks(_ context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, w timegrid.Window, limit int) (measurements.Deadlocks, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := measurements.DeadlocksOf{Deadlocks: measurements.Deadlocks{Lines: make(map[measurements.DatabaseOf]measurements.Values), Total: measurements.Gaps(w.Len())}}
	add := func(to measurements.Values, at int, n float64) {
		if math.IsNaN(to[at]) {
			to[at] = 0
		}
		to[at] += n
	}
	for of, samples := range r.of(organization).byDatabase(engine, scope, measurements.OnlyCounts) {
		key := measurements.DatabaseOf{Instance: of.instance, Database: of.database}
		for _, v := range samples {
			at := w.Index(v.At)
			if v.Deadlocks == nil || at < 0 || at >= w.Len() {
				continue
			}
			if found.Lines[key] == nil {
				found.Lines[key] = measurements.Gaps(w.Len())
			}
			add(found.Lines[key], at, float64(*v.Deadlocks))
			add(found.Total, at, float64(*v.Deadlocks))
		}
	}
	found.Cut(limit)
	return found.Deadlocks, nil
}

// Names is documented at measurements.Store. The reference keeps no hash without its name.
func (r *Reference) Names(_ context.Context, organization uuid.UUID, of measurements.Dimension, hashes []uint64) (map[uint64]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := make(map[uint64]string)
	for _, s := range r.of(organization).sessions {
		for _, d := range s.Doing {
			name := d.Name(of)
			for _, hash := range hashes {
				if name != "" && hash == (measurements.NameKey{}).Hash(of, name) {
					names[hash] = name
				}
			}
		}
	}
	return names, nil
}

// behindActivity adds who waits, by a key that only activity tells.
func (s *samples) behindActivity(engine fleet.Engine, scope fleet.Scope, span measurements.Span, b measurements.Breakdown, by measurements.Dimension, r *measurements.Ranking) {
	in := inSpan(span)
	behind := make(map[measurements.Contributor]float64)
	for database, samples := range s.byDatabase(engine, scope, measurements.OnlyCounts) {
		var here []measurements.SessionSample
		for _, v := range samples {
			if in(v.At) {
				here, r.Sampled = append(here, v), true
			}
		}
		averages(engine, here, func(d measurements.Doing, sessions float64) {
			category, waits := measurements.Classify(engine, d.Wait)
			if only, one := categories[b.Series]; !waits || one && only != category {
				return
			}
			key := activityKey(by, database, engine, d)
			c := measurements.Contributor{Instance: key.Instance, Database: key.Database, Category: key.Class, Name: key.Name}
			if key.Statement != 0 {
				c.Statement = measurements.StatementID(key.Instance, key.Statement)
			}
			behind[c] += sessions
		})
	}
	addParts(r, behind)
}
