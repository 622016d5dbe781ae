package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/concurrency/supervise"
	"muster/internal/engine"
	"muster/internal/engine/trait"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/rowbytes"
	"muster/internal/measurements/waitclass"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/details_since.sql
	detailsSince string
	//go:embed sql/open_databases.sql
	openDatabases string
)

// keeps returns a NotKeptError if a span begins before its key is stored; rolled says that it
// is in the rollups, and not in details alone.
func (s *Store) keeps(ctx context.Context, span measurements.Span, b measurements.Breakdown, rolled bool) error {
	if !b.Detailed() {
		return nil
	}
	return s.keepsSince(ctx, span.Size, span.From, measurements.DayDetailsKept, rolled)
}

// keepsSince returns a NotKeptError if buckets of a size that are kept for so long are not kept since from.
func (s *Store) keepsSince(ctx context.Context, size timegrid.Size, from time.Time, kept time.Duration, rolled bool) error {
	since, err := statement.One[time.Time](ctx, s.db, "read since when details are kept", detailsSince, kept.Seconds(), !rolled)
	if err != nil {
		return err
	}
	if since = size.Floor(since.Add(size.Width() - 1)); from.Before(since) {
		return &measurements.NotKeptError{Since: since}
	}
	return nil
}

// isBucket says that a span is a bucket of tiles, and so has a slot.
func isBucket(span measurements.Span) bool {
	pieces := span.Pieces()
	return len(pieces) == 1 && pieces[0].Len() == 1
}

// UtilizationContributors is documented at measurements.Store.
func (s *Store) UtilizationContributors(ctx context.Context, organization uuid.UUID, scope measurements.HostScope, span measurements.Span, b measurements.Breakdown) (measurements.Ranking, error) {
	ranking := measurements.Ranking{Breakdown: b}
	if err := s.keeps(ctx, span, b, false); err != nil {
		return ranking, err
	}
	series, err := s.hostsIn(ctx, organization, scope)
	if err != nil {
		return ranking, err
	}
	if b.By == measurements.ByVolume {
		peaks := make([]codec.Peaks, len(series))
		err := s.readDetails(ctx, codec.Hosts, series, span, func(place int, body []byte, inDetail bool) error {
			if peaks[place] == nil {
				peaks[place] = make(codec.Peaks)
			}
			return peaks[place].Add(body, inDetail)
		})
		for place, of := range series {
			for mount, peak := range peaks[place] {
				ranking.Add(measurements.Contributor{Host: of.Subject, Mount: mount, Value: peak})
			}
		}
		return ranking, err
	}
	sums := make([]*codec.HostSlot, len(series))
	err = s.readSpan(ctx, span, series, func(place int, slot []byte) error {
		one, err := codec.DecodeHostSlot(slot)
		if sums[place] == nil {
			sums[place] = new(codec.HostSlot)
		}
		sums[place].AddHosts(one)
		return err
	})
	for place, of := range series {
		sum := sums[place]
		if sum == nil {
			continue
		}
		mean := sum.MeanCPU()
		if b.Series == measurements.Memory {
			mean = sum.MeanMemory()
		}
		if !math.IsNaN(mean) {
			ranking.Add(measurements.Contributor{Host: of.Subject, Value: mean})
		}
	}
	return ranking, err
}

// QueryContributors is documented at measurements.Store.
func (s *Store) QueryContributors(ctx context.Context, organization uuid.UUID, of fleet.Engine, scope fleet.Scope, span measurements.Span, b measurements.Breakdown, now time.Time) (measurements.Ranking, error) {
	ranking := measurements.Ranking{Breakdown: b}
	if err := s.keeps(ctx, span, b, false); err != nil {
		return ranking, err
	}
	rules := engine.StatementsOf(of)
	if rules.Hides(span.From, now) {
		return ranking, nil
	}
	series, err := s.inScope(ctx, organization, codec.Statements, of, scope)
	if err != nil {
		return ranking, err
	}
	ranking.Partial = series.arePartial(span.From, span.To)
	var covered measurements.Coverage
	both, within := supervise.WithContext(ctx) // each waits for the server most of its time
	both.Go(func() (err error) {
		covered, err = s.coverage(within, organization, of, scope, span)
		return err
	})
	both.Go(func() error {
		// What statements that need several samples come to, and a maximum, is not the sum of shorter buckets'.
		if b.By == measurements.ByInstance && (isBucket(span) || b.Series == measurements.Average && rules.Least < 2) {
			return s.rankBySlots(within, series, span, &ranking)
		}
		return s.rankByDetails(within, rules, series, span, &ranking)
	})
	err = both.Wait()
	ranking.Coverage = covered
	return ranking, err
}

// rankByDetails ranks by what is known of each statement.
func (s *Store) rankByDetails(ctx context.Context, rules trait.Statements, series subjects, span measurements.Span, r *measurements.Ranking) error {
	return s.readStatements(ctx, series, span, func(instance uuid.UUID, all codec.Detail) {
		r.Sampled = true
		whole := codec.NoQueries()
		for _, d := range all {
			c := measurements.Contributor{Instance: instance, Database: d.Database}
			sum := codec.NoQueries()
			for _, one := range d.Statements {
				shown := one.Shown(rules)
				if r.By == measurements.ByStatement && shown.Calls > 0 {
					r.AddStatement(withQueries(c, r.Series, shown), one.Hash)
				}
				sum.AddQueries(shown)
			}
			if r.By == measurements.ByDatabase {
				addQueries(r, c, sum)
			}
			whole.AddQueries(sum)
		}
		if r.By == measurements.ByInstance {
			addQueries(r, measurements.Contributor{Instance: instance}, whole)
		}
	})
}

// coverage reads how much of an engine's busy time is in its statements.
func (s *Store) coverage(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, span measurements.Span) (measurements.Coverage, error) {
	var sum codec.BusySlot
	telling := make(map[int]bool)
	series, err := s.inScope(ctx, organization, codec.Busy, engine, scope)
	if err == nil {
		err = s.readSpan(ctx, span, series, func(place int, slot []byte) error {
			one, err := codec.DecodeBusySlot(slot)
			if sum.AddBusy(one); one.Sampled {
				telling[place] = true
			}
			return err
		})
	}
	return measurements.Coverage{AttributedMs: sum.Attributed, BusyMs: sum.Busy, Instances: len(telling)}, err
}

// rankBySlots ranks instances by what their slots show.
func (s *Store) rankBySlots(ctx context.Context, series subjects, span measurements.Span, r *measurements.Ranking) error {
	sums := make([]*codec.QuerySlot, len(series))
	err := s.readSpan(ctx, span, series, func(place int, slot []byte) error {
		one, err := codec.DecodeQuerySlot(slot)
		if sums[place] == nil {
			none := codec.NoQueries()
			sums[place] = &none
		}
		sums[place].AddQueries(one)
		return err
	})
	if err != nil {
		return err
	}
	for place, of := range series {
		if sum := sums[place]; sum != nil {
			instance, err := of.instance()
			if err != nil {
				return err
			}
			r.Sampled = true
			addQueries(r, measurements.Contributor{Instance: instance}, *sum)
		}
	}
	return nil
}

// addQueries adds a contributor with what was executed of it, if anything was.
func addQueries(r *measurements.Ranking, c measurements.Contributor, sum codec.QuerySlot) {
	if sum.Calls > 0 {
		r.Add(withQueries(c, r.Series, sum))
	}
}

// withQueries is a contributor with its part of a series.
func withQueries(c measurements.Contributor, series measurements.Series, sum codec.QuerySlot) measurements.Contributor {
	c.Value = sum.Max
	if series == measurements.Average {
		c.Calls, c.TotalMs = float64(sum.Calls), sum.Total
		c.Value = c.TotalMs / c.Calls
	}
	return c
}

// waitCategories are the places of the series in a slot; anything is all of them.
var waitCategories = map[measurements.Series]int{
	measurements.WaitingForLocks: waitclass.Locks, measurements.WaitingForLightLocks: waitclass.LightweightLocks,
	measurements.WaitingForIO: waitclass.IO, measurements.WaitingForClients: waitclass.ClientNetwork,
	measurements.WaitingForOther: waitclass.Other,
}

// WaitContributors is documented at measurements.Store.
func (s *Store) WaitContributors(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, span measurements.Span, b measurements.Breakdown) (measurements.Ranking, error) {
	ranking := measurements.Ranking{Breakdown: b}
	if err := s.keeps(ctx, span, b, true); err != nil {
		return ranking, err
	}
	if by, is := b.Dimension(); is {
		return s.activityContributors(ctx, organization, engine, scope, span, b, by)
	}
	series, err := s.inScope(ctx, organization, codec.Sessions, engine, scope)
	if err != nil {
		return ranking, err
	}
	ranking.Partial = series.arePartial(span.From, span.To)
	sums := make([]codec.WaitSlot, len(series))
	for _, piece := range span.Pieces() {
		w := windowOf(piece)
		err := s.eachRow(ctx, w, false, series, func(place int, start time.Time, row []byte) error {
			slots, err := codec.DecodeWaitRow(row, w.end)
			if err != nil {
				return err
			}
			for i := range w.slots(start) {
				if slots[i] != nil && sums[place] == nil {
					sums[place] = codec.WaitSlot{}
				}
				for database, sum := range slots[i] {
					sums[place].AddDatabase(database, sum)
				}
			}
			return nil
		})
		if err != nil {
			return ranking, err
		}
	}
	var categories [waitclass.Categories]float64
	for place, of := range series {
		if sums[place] == nil {
			continue
		}
		ranking.Sampled = true
		instance, err := of.instance()
		if err != nil {
			return ranking, err
		}
		var whole float64
		for _, database := range sums[place].Databases() { // in order: sums are the same each time
			sum := sums[place][database]
			var waiting float64
			for category, n := range sum.Sums {
				if only, one := waitCategories[b.Series]; one && only != category {
					continue
				}
				average := float64(n) / float64(sum.Samples)
				categories[category] += average
				waiting += average
			}
			if whole += waiting; b.By == measurements.ByDatabase {
				addPart(&ranking, measurements.Contributor{Instance: instance, Database: database, Value: waiting})
			}
		}
		if b.By == measurements.ByInstance {
			addPart(&ranking, measurements.Contributor{Instance: instance, Value: whole})
		}
	}
	if b.By == measurements.ByCategory {
		for category, waiting := range categories {
			addPart(&ranking, measurements.Contributor{Category: category, Value: waiting})
		}
	}
	return ranking, nil
}

// addPart adds a contributor that has any part of a sum, or one without where those are
// asked for too.
func addPart(r *measurements.Ranking, c measurements.Contributor) {
	if c.Value > 0 || r.Zeros {
		r.Add(c)
	}
}

// ConnectionContributors is documented at measurements.Store.
func (s *Store) ConnectionContributors(ctx context.Context, organization uuid.UUID, engine fleet.Engine, databases []uuid.UUID, b measurements.Breakdown, now time.Time) (measurements.Ranking, error) {
	ranking := measurements.Ranking{Breakdown: b}
	type open struct {
		Instance, Database                              uuid.UUID
		Active, Idle, Waiting, IdleInTransaction, Other int64
		Partial                                         bool
	}
	rows, err := statement.All[open](ctx, s.db, fmt.Sprintf("read the connections of %d databases", len(databases)), openDatabases,
		organization, string(engine), statement.IDs(databases), now)
	instances := make(map[uuid.UUID]float64)
	for _, row := range rows {
		ranking.Sampled, ranking.Partial = true, ranking.Partial || row.Partial
		n := measurements.OpenConnections{Active: row.Active, Idle: row.Idle, Waiting: row.Waiting, IdleInTransaction: row.IdleInTransaction, Other: row.Other}
		value := float64(n.Total())
		switch b.Series {
		case measurements.ConnectionsActive:
			value = float64(n.Active)
		case measurements.ConnectionsIdle:
			value = float64(n.Idle)
		case measurements.ConnectionsThatWait:
			value = float64(n.Waiting)
		}
		if instances[row.Instance] += value; b.By == measurements.ByDatabase {
			addPart(&ranking, measurements.Contributor{Instance: row.Instance, Database: row.Database, Value: value})
		}
	}
	if b.By == measurements.ByInstance {
		for instance, value := range instances {
			addPart(&ranking, measurements.Contributor{Instance: instance, Value: value})
		}
	}
	return ranking, err
}

// readSpan hands the slots that series have in a span to take, piece by piece.
func (s *Store) readSpan(ctx context.Context, span measurements.Span, series subjects, take func(place int, slot []byte) error) error {
	for _, piece := range span.Pieces() {
		err := s.readRows(ctx, windowOf(piece), series, func(place int, part rowbytes.Stretch) error {
			for part.More() {
				slot, _, ok := part.Next()
				if !ok {
					return rowbytes.ErrBytes
				}
				if len(slot) == 0 {
					continue
				}
				if err := take(place, slot); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
