package pgstore

import (
	"context"
	"database/sql"
	_ "embed" // the statements
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/statement"
)

var (
	//go:embed sql/details_since.sql
	detailsSince string
	//go:embed sql/span_samples.sql
	spanSamples string
	//go:embed sql/span_details.sql
	spanDetails string
	//go:embed sql/open_databases.sql
	openDatabases string
)

// seriesAtOnce is of how many series details are in memory at the same time.
const seriesAtOnce = 64

// keeps returns a NotKeptError where a span begins before what it is broken down by is
// kept; rolled says that it is in the rollups, and not in details alone.
func (s *Store) keeps(ctx context.Context, span measurements.Span, b measurements.Breakdown, rolled bool) error {
	if !b.Detailed() {
		return nil
	}
	since, err := statement.One[time.Time](ctx, s.db, "read since when details are kept", detailsSince, measurements.DaysKept.Seconds(), !rolled)
	if err != nil {
		return err
	}
	if since = span.Size.Floor(since.Add(span.Size.Width() - 1)); span.From.Before(since) {
		return &measurements.NotKeptError{Since: since}
	}
	return nil
}

// isBucket says that a span is one that tiles have, so that there is a slot of it.
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
		return ranking, readDetails(ctx, s, codec.Hosts, series, span, codec.SamplePeaks, codec.DecodePeaks, func(of subject, parts []codec.Peaks) error {
			sum := make(codec.Peaks)
			for _, part := range parts {
				sum.Join(part)
			}
			for mount, peak := range sum {
				ranking.Add(measurements.Contributor{Host: of.Subject, Mount: mount, Value: peak})
			}
			return nil
		})
	}
	sums := make(map[int64]*codec.HostSlot, len(series))
	err = s.readSpan(ctx, span, codec.Hosts, series, func(id int64, slot []byte) error {
		one, err := codec.DecodeHostSlot(slot)
		if sums[id] == nil {
			sums[id] = new(codec.HostSlot)
		}
		sums[id].AddHosts(one)
		return err
	})
	for _, of := range series {
		sum := sums[of.ID]
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
func (s *Store) QueryContributors(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, span measurements.Span, b measurements.Breakdown, now time.Time) (measurements.Ranking, error) {
	ranking := measurements.Ranking{Breakdown: b}
	if err := s.keeps(ctx, span, b, false); err != nil {
		return ranking, err
	}
	if engine == fleet.Oracle && span.From.Before(now.Add(-oracleDays)) {
		return ranking, nil
	}
	series, err := s.inScope(ctx, organization, codec.Statements, engine, scope)
	if err != nil {
		return ranking, err
	}
	if ranking.Coverage, err = s.coverage(ctx, organization, engine, scope, span); err != nil {
		return ranking, err
	}
	// What Oracle's statements come to, and a maximum, is not the sum of shorter buckets'.
	if b.By == measurements.ByInstance && (isBucket(span) || b.Series == measurements.Average && engine != fleet.Oracle) {
		return s.queryInstances(ctx, series, span, ranking)
	}
	return ranking, s.readStatements(ctx, series, span, func(instance uuid.UUID, all codec.Detail) {
		ranking.Sampled = true
		whole := codec.NoQueries()
		for _, d := range all {
			c := measurements.Contributor{Instance: instance, Database: d.Database}
			sum := codec.NoQueries()
			for _, one := range d.Statements {
				shown := one.Shown(engine)
				if b.By == measurements.ByStatement && shown.Calls > 0 {
					c.Statement = measurements.StatementID(instance, one.Hash)
					addQueries(&ranking, c, shown)
				}
				sum.AddQueries(shown)
			}
			if b.By == measurements.ByDatabase {
				addQueries(&ranking, c, sum)
			}
			whole.AddQueries(sum)
		}
		if b.By == measurements.ByInstance {
			addQueries(&ranking, measurements.Contributor{Instance: instance}, whole)
		}
	})
}

// coverage reads how much of an engine's busy time is in its statements.
func (s *Store) coverage(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, span measurements.Span) (measurements.Coverage, error) {
	var sum codec.BusySlot
	telling := make(map[int64]bool)
	series, err := s.inScope(ctx, organization, codec.Busy, engine, scope)
	if err == nil {
		err = s.readSpan(ctx, span, codec.Busy, series, func(id int64, slot []byte) error {
			one, err := codec.DecodeBusySlot(slot)
			if sum.AddBusy(one); one.Sampled {
				telling[id] = true
			}
			return err
		})
	}
	return measurements.Coverage{AttributedMs: sum.Attributed, BusyMs: sum.Busy, Instances: len(telling)}, err
}

// queryInstances ranks instances by what their slots show.
func (s *Store) queryInstances(ctx context.Context, series subjects, span measurements.Span, ranking measurements.Ranking) (measurements.Ranking, error) {
	sums := make(map[int64]*codec.QuerySlot, len(series))
	err := s.readSpan(ctx, span, codec.Statements, series, func(id int64, slot []byte) error {
		one, err := codec.DecodeQuerySlot(slot)
		if sums[id] == nil {
			none := codec.NoQueries()
			sums[id] = &none
		}
		sums[id].AddQueries(one)
		return err
	})
	if err != nil {
		return ranking, err
	}
	for _, of := range series {
		if sum := sums[of.ID]; sum != nil {
			instance, err := of.instance()
			if err != nil {
				return ranking, err
			}
			ranking.Sampled = true
			addQueries(&ranking, measurements.Contributor{Instance: instance}, *sum)
		}
	}
	return ranking, nil
}

// addQueries adds a contributor with what was executed of it, if anything was.
func addQueries(r *measurements.Ranking, c measurements.Contributor, sum codec.QuerySlot) {
	if sum.Calls == 0 {
		return
	}
	c.Value = sum.Max
	if r.Series == measurements.Average {
		c.Calls, c.TotalMs = float64(sum.Calls), sum.Total
		c.Value = c.TotalMs / c.Calls
	}
	r.Add(c)
}

// waitCategories are the places of the series in a slot; anything is all of them.
var waitCategories = map[measurements.Series]int{
	measurements.WaitingForLocks: measurements.Locks, measurements.WaitingForLightLocks: measurements.LightweightLocks,
	measurements.WaitingForIO: measurements.IO, measurements.WaitingForClients: measurements.ClientNetwork,
	measurements.WaitingForOther: measurements.Other,
}

// WaitContributors is documented at measurements.Store.
func (s *Store) WaitContributors(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, span measurements.Span, b measurements.Breakdown) (measurements.Ranking, error) {
	ranking := measurements.Ranking{Breakdown: b}
	if err := s.keeps(ctx, span, b, true); err != nil {
		return ranking, err
	}
	series, err := s.inScope(ctx, organization, codec.Sessions, engine, scope)
	if err != nil {
		return ranking, err
	}
	sums := make(map[int64]codec.WaitSlot, len(series))
	for _, piece := range span.Pieces() {
		w := windowOf(piece)
		err := s.eachRow(ctx, w, false, series.ids(), func(id int64, start time.Time, row []byte) error {
			slots, err := codec.DecodeWaitRow(row, w.end)
			if err != nil {
				return err
			}
			first := w.Index(start) // the bucket of the first slot
			for i, slot := range slots[:w.end] {
				if at := first + i; slot == nil || at < 0 || at >= w.buckets {
					continue
				}
				if sums[id] == nil {
					sums[id] = codec.WaitSlot{}
				}
				for database, sum := range slot {
					sums[id].AddDatabase(database, sum)
				}
			}
			return nil
		})
		if err != nil {
			return ranking, err
		}
	}
	var categories [measurements.Categories]float64
	for _, of := range series {
		if sums[of.ID] == nil {
			continue
		}
		ranking.Sampled = true
		instance, err := of.instance()
		if err != nil {
			return ranking, err
		}
		var whole float64
		for _, database := range sums[of.ID].Databases() { // in order: sums are the same each time
			sum := sums[of.ID][database]
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
	}
	rows, err := statement.All[open](ctx, s.db, fmt.Sprintf("read the connections of %d databases", len(databases)), openDatabases,
		organization, string(engine), statement.IDs(databases), now)
	instances := make(map[uuid.UUID]float64)
	for _, row := range rows {
		ranking.Sampled = true
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
func (s *Store) readSpan(ctx context.Context, span measurements.Span, kind string, series subjects, take func(series int64, slot []byte) error) error {
	for _, piece := range span.Pieces() {
		err := s.readRows(ctx, windowOf(piece), kind, series.ids(), func(id int64, part codec.Stretch) error {
			for part.More() {
				slot, _, ok := part.Next()
				if !ok {
					return codec.ErrBytes
				}
				if len(slot) == 0 {
					continue
				}
				if err := take(id, slot); err != nil {
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

// detailSpan asks for details of a series and size; Open: only for those of which days
// and weeks are still made.
type detailSpan struct {
	detailRange
	Open bool
}

// readDetails hands what each series has in a span to take, part by part: of minutes
// raw samples, else details. Series without any are left out.
func readDetails[D any](ctx context.Context, s *Store, kind string, series subjects, span measurements.Span, ofSample, ofDetail func(body []byte) (D, error), take func(of subject, parts []D) error) error {
	for some := range slices.Chunk(series, seriesAtOnce) {
		parts := make([][]D, len(some))
		var raw, rolled []detailSpan
		var rawOf, rolledOf []int // which series a row is of
		for i, of := range some {
			for _, piece := range span.Pieces() {
				asked := detailSpan{detailRange{of.ID, string(piece.Size), piece.From, piece.To}, false}
				if piece.Size == timegrid.Minute {
					raw, rawOf = append(raw, asked), append(rawOf, i)
					continue
				}
				rolled, rolledOf = append(rolled, asked), append(rolledOf, i)
				if kind == codec.Hosts && piece.Size == timegrid.Day { // their days are made when the week is over
					asked.Size, asked.Open = string(timegrid.Hour), true
					rolled, rolledOf = append(rolled, asked), append(rolledOf, i)
				}
			}
		}
		if err := readParts(ctx, s, spanSamples, raw, rawOf, parts, ofSample); err != nil {
			return err
		}
		if err := readParts(ctx, s, spanDetails, rolled, rolledOf, parts, ofDetail); err != nil {
			return err
		}
		for i, of := range parts {
			if len(of) == 0 {
				continue
			}
			if err := take(some[i], of); err != nil {
				return err
			}
		}
	}
	return nil
}

// readStatements hands what each instance executed in a span to take. Instances without
// a sample are left out.
func (s *Store) readStatements(ctx context.Context, series subjects, span measurements.Span, take func(instance uuid.UUID, all codec.Detail)) error {
	return readDetails(ctx, s, codec.Statements, series, span, codec.DecodeStatements, codec.DecodeDetail, func(of subject, parts []codec.Detail) error {
		instance, err := of.instance()
		if err == nil {
			take(instance, codec.AddUpDetails(parts))
		}
		return err
	})
}

// readParts reads the bodies of spans, each into the parts of its series.
func readParts[D any](ctx context.Context, s *Store, query string, asked []detailSpan, of []int, parts [][]D, decode func(body []byte) (D, error)) error {
	if len(asked) == 0 {
		return nil
	}
	rows, err := s.db.QueryContext(ctx, query, statement.Columns(asked)...)
	if err != nil {
		return fmt.Errorf("read %d spans: %w", len(asked), err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var place int
		var body sql.RawBytes
		if err := rows.Scan(&place, &body); err != nil {
			return fmt.Errorf("read a span: %w", err)
		}
		part, err := decode(body)
		if err != nil {
			return fmt.Errorf("series %d: %w", asked[place].Series, err)
		}
		parts[of[place]] = append(parts[of[place]], part)
	}
	return rows.Err()
}
