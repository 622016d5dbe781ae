package pgstore

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the statement
	"maps"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
)

// Activity is documented at measurements.Store.
func (s *Store) Activity(ctx context.Context, organization uuid.UUID, of fleet.Engine, scope fleet.Scope, asked timegrid.Window, q measurements.ActivityQuery) (measurements.ActivityPart, error) {
	w := windowOf(asked)
	if err := s.keepsActivity(ctx, asked); err != nil {
		return measurements.ActivityPart{}, err
	}
	if !scope.Filtered && len(q.Names) == 0 {
		whole := whole{organization, codec.Activity, of}
		state, err := s.stateOf(ctx, whole, w)
		if err != nil {
			return measurements.ActivityPart{}, err
		}
		if state.Made {
			part, err := s.wholeActivity(ctx, whole, w, q)
			part.Partial = state.Partial
			return part, err
		}
	}
	return s.activityOf(ctx, organization, of, scope, w, q)
}

// activityOf reads activity from the rows of instances.
func (s *Store) activityOf(ctx context.Context, organization uuid.UUID, of fleet.Engine, scope fleet.Scope, w window, q measurements.ActivityQuery) (measurements.ActivityPart, error) {
	lines := s.newLines(w.buckets, true, q)
	var err error
	if lines.names, err = s.hashesOf(ctx, organization, q); err != nil {
		return measurements.ActivityPart{}, err
	}
	series, err := s.inScope(ctx, organization, codec.Activity, of, scope)
	if err != nil {
		return measurements.ActivityPart{}, err
	}
	err = s.eachActivity(ctx, w, series, func(instance uuid.UUID, start time.Time, row *codec.ActivityRow) error {
		lines.fold()
		return lines.add(instance, start, w, row)
	})
	part := lines.part()
	part.Partial = series.arePartial(w.Start(), w.End())
	return part, err
}

// Deadlocks is documented at measurements.Store. Most databases have none, so that lines of buckets are
// read only of those that have most.
func (s *Store) Deadlocks(ctx context.Context, organization uuid.UUID, of fleet.Engine, scope fleet.Scope, asked timegrid.Window, limit int) (measurements.Deadlocks, error) {
	w := windowOf(asked)
	found := measurements.Deadlocks{Lines: make(map[measurements.DatabaseOf]measurements.Values), Total: measurements.Gaps(w.buckets)}
	if err := s.keepsActivity(ctx, asked); err != nil {
		return found, err
	}
	series, err := s.inScope(ctx, organization, codec.Activity, of, scope)
	if err != nil {
		return found, err
	}
	counts := make(map[measurements.DatabaseOf]float64)
	err = s.eachDeadlocks(ctx, w, series, func(of measurements.DatabaseOf, at int, n float64) {
		if math.IsNaN(found.Total[at]) {
			found.Total[at] = 0
		}
		found.Total[at] += n
		if n > 0 {
			counts[of] += n
		}
	})
	if err != nil || len(counts) == 0 {
		return found, err
	}
	shown := make(map[uuid.UUID]bool)
	for _, of := range measurements.Most(counts, limit) {
		found.Lines[of], shown[of.Instance] = measurements.Gaps(w.buckets), true
	}
	found.Others = len(counts) - len(found.Lines)
	var some subjects
	for _, one := range series {
		if instance, err := one.instance(); err == nil && shown[instance] {
			some = append(some, one)
		}
	}
	return found, s.eachDeadlocks(ctx, w, some, func(of measurements.DatabaseOf, at int, n float64) {
		if line := found.Lines[of]; line != nil {
			line[at] = n
		}
	})
}

// eachDeadlocks hands the deadlocks of each database and bucket to take, where they are counted.
func (s *Store) eachDeadlocks(ctx context.Context, w window, series subjects, take func(of measurements.DatabaseOf, at int, n float64)) error {
	return s.eachActivity(ctx, w, series, func(instance uuid.UUID, start time.Time, row *codec.ActivityRow) error {
		for slot, at := range w.slots(start) {
			_, err := row.EachSamples(slot, func(database uuid.UUID, n codec.Samples) {
				if n.Counting > 0 {
					take(measurements.DatabaseOf{Instance: instance, Database: database}, at, float64(n.Deadlocks))
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// keepsActivity returns a NotKeptError if a window begins before buckets of its size are kept.
func (s *Store) keepsActivity(ctx context.Context, w timegrid.Window) error {
	return s.keepsSince(ctx, w.Size, w.Start(), s.ledger.Retention.Activity.Of(w.Size), true)
}

// eachActivity hands the rows of some instances in a window to take.
func (s *Store) eachActivity(ctx context.Context, w window, series subjects, take func(instance uuid.UUID, start time.Time, row *codec.ActivityRow) error) error {
	return s.eachRow(ctx, w, false, series, func(place int, start time.Time, body []byte) error {
		instance, err := series[place].instance()
		if err != nil {
			return err
		}
		row, err := codec.ReadActivityRow(body)
		if err != nil {
			return err
		}
		return take(instance, start, &row)
	})
}

// activityLines are those of an engine while its rows are read.
type activityLines struct {
	measurements.ActivityQuery
	*lineSet[measurements.ActivityKey] // with classes, the values of a line have those of ByClass behind the buckets
	sampled, told                      []bool
	classes                            bool
	names                              map[int][]uint64 // by their places: the hashes of which one must be there
}

func (s *Store) newLines(buckets int, classes bool, q measurements.ActivityQuery) *activityLines {
	numbers := buckets
	if classes {
		numbers += len(measurements.ByClass{})
	}
	return &activityLines{ActivityQuery: q, lineSet: newLineSet(numbers, s.mostNumbers, restOf), sampled: make([]bool, buckets), told: make([]bool, buckets), classes: classes}
}

// hashesOf are the hashes of the names of a query, with the key as it is now: one of before the names
// were deleted would find their sessions.
func (s *Store) hashesOf(ctx context.Context, organization uuid.UUID, q measurements.ActivityQuery) (map[int][]uint64, error) {
	if len(q.Names) == 0 {
		return nil, nil
	}
	key, err := s.NameKey(ctx, organization)
	if err != nil {
		return nil, err
	}
	hashes := make(map[int][]uint64, len(q.Names))
	for of, names := range q.Names {
		for _, name := range names {
			hashes[codec.NamePlace(of)] = append(hashes[codec.NamePlace(of)], key.Hash(of, name))
		}
	}
	return hashes, nil
}

// counts says whether the sessions of a combination count.
func (l *activityLines) counts(c *codec.Combination) bool {
	for place, hashes := range l.names {
		if !slices.Contains(hashes, c.Names[place]) {
			return false
		}
	}
	return l.Counts(c.StateOf())
}

func restOf(measurements.ActivityKey) measurements.ActivityKey {
	return measurements.ActivityKey{Rest: true}
}

// add adds a row of an instance.
func (l *activityLines) add(instance uuid.UUID, start time.Time, w window, row *codec.ActivityRow) error {
	const unknown, uncounted = -1, -2
	of := slices.Repeat([]int{unknown}, len(row.Combinations)) // the line of each
	averages := row.Averages()
	for slot, at := range w.slots(start) {
		found, sampled, told, err := averages.Of(slot)
		if err != nil {
			return err
		}
		for _, one := range found {
			if of[one.Combination] == unknown {
				if c := &row.Combinations[one.Combination]; l.counts(c) {
					of[one.Combination] = l.line(c.Key(instance, l.By))
				} else {
					of[one.Combination] = uncounted
				}
			}
			if line := of[one.Combination]; line != uncounted {
				l.values[line][at] += one.Sessions
				l.values[line][len(l.sampled)+int(row.Combinations[one.Combination].Category)] += one.Sessions
			}
		}
		l.sampled[at], l.told[at] = l.sampled[at] || sampled, l.told[at] || told
	}
	return nil
}

// part has gaps where nothing was sampled, and of what was on the CPU where that was not told.
func (l *activityLines) part() measurements.ActivityPart {
	l.fold()
	part := measurements.ActivityPart{Lines: make(map[measurements.ActivityKey]measurements.Values, len(l.keys)), Sampled: l.sampled, Told: l.told}
	buckets := len(l.sampled)
	if l.classes {
		part.Classes = make(map[measurements.ActivityKey]measurements.ByClass, len(l.keys))
	}
	for i, key := range l.keys {
		if l.classes {
			part.Classes[key] = measurements.ByClass(l.values[i][buckets:])
		}
		l.values[i] = l.values[i][:buckets:buckets]
		for bucket := range l.values[i] {
			if !l.sampled[bucket] || key.OnCPU() && !l.told[bucket] {
				l.values[i][bucket] = math.NaN()
			}
		}
		part.Lines[key] = l.values[i]
	}
	return part
}

// activityContributors ranks who waits, by a key that only activity tells.
func (s *Store) activityContributors(ctx context.Context, organization uuid.UUID, of fleet.Engine, scope fleet.Scope, span measurements.Span, b measurements.Breakdown, by measurements.Dimension) (measurements.Ranking, error) {
	ranking := measurements.Ranking{Breakdown: b}
	series, err := s.inScope(ctx, organization, codec.Activity, of, scope)
	if err != nil {
		return ranking, err
	}
	ranking.Partial = series.arePartial(span.From, span.To)
	sums := make(map[uuid.UUID]*waitingOf, len(series))
	for _, piece := range span.Pieces() {
		w := windowOf(piece)
		err := s.eachActivity(ctx, w, series, func(instance uuid.UUID, start time.Time, row *codec.ActivityRow) error {
			if sums[instance] == nil {
				sums[instance] = &waitingOf{samples: make(map[uuid.UUID]uint64), sessions: make(map[keyOfDatabase]uint64)}
			}
			return sums[instance].add(instance, row, w, start, b.Series, by)
		})
		if err != nil {
			return ranking, err
		}
	}
	behind := make(map[measurements.ActivityKey]float64)
	for _, of := range series { // in order, so that sums are the same each time
		instance, err := of.instance()
		if err != nil {
			return ranking, err
		}
		sum := sums[instance]
		if sum == nil || !sum.sampled {
			continue
		}
		ranking.Sampled = true
		for _, one := range slices.SortedFunc(maps.Keys(sum.sessions), keyOfDatabase.compare) {
			behind[one.ActivityKey] += float64(sum.sessions[one]) / float64(max(sum.samples[one.database], 1))
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(behind), measurements.ActivityKey.Compare) {
		c := measurements.Contributor{Instance: key.Instance, Database: key.Database, Category: max(key.Class, 0), Name: key.Name, Value: behind[key]}
		switch {
		case key.Rest:
			ranking.Others.Add(c)
		case key.Statement != 0:
			ranking.AddStatement(c, key.Statement)
		default:
			addPart(&ranking, c)
		}
	}
	return ranking, nil
}

// keyOfDatabase is a value of a dimension, of a database's sessions.
type keyOfDatabase struct {
	database uuid.UUID
	measurements.ActivityKey
}

func (k keyOfDatabase) compare(o keyOfDatabase) int {
	return cmp.Or(bytes.Compare(k.database[:], o.database[:]), k.Compare(o.ActivityKey))
}

// waitingOf are the sessions of an instance that wait, and in how many samples of a database any
// does: averages over all of a span need both.
type waitingOf struct {
	sampled  bool
	samples  map[uuid.UUID]uint64
	sessions map[keyOfDatabase]uint64
}

// add adds what a row has of a window and a series of the tile. Its combinations are added up by
// their keys first, slot by slot: these are few, and finding one takes as long as adding a hundred.
func (s *waitingOf) add(instance uuid.UUID, row *codec.ActivityRow, w window, start time.Time, series measurements.Series, by measurements.Dimension) error {
	const uncounted = -1
	of, places := make([]int, len(row.Combinations)), make(map[keyOfDatabase]int)
	var keys []keyOfDatabase
	for i := range row.Combinations {
		c := &row.Combinations[i]
		if only, one := waitCategories[series]; c.OnCPU() || one && only != int(c.Category) {
			of[i] = uncounted
			continue
		}
		key := keyOfDatabase{c.Database, c.Key(instance, by)}
		if i > 0 && of[i-1] != uncounted && keys[of[i-1]] == key { // they are in order: often
			of[i] = of[i-1]
			continue
		}
		place, known := places[key]
		if !known {
			place = len(keys)
			places[key], keys = place, append(keys, key)
		}
		of[i] = place
	}
	sums, found := make([]uint64, len(keys)), make([]bool, len(keys))
	for slot := range w.slots(start) {
		sampled, err := row.EachSum(slot, func(database uuid.UUID, n codec.Samples) { s.samples[database] += n.Waiting }, func(c int, n uint64) {
			if place := of[c]; place != uncounted {
				sums[place] += n
				found[place] = true
			}
		})
		if s.sampled = s.sampled || sampled; err != nil {
			return err
		}
	}
	for place, key := range keys {
		if found[place] {
			s.sessions[key] += sums[place]
		}
	}
	return nil
}
