package servicerecords

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/forecast"
	"muster/internal/measurements/room"
	"muster/internal/report/serverfacts"
	"muster/internal/report/snapshot"
)

// statements are those that took most time, of hours if hours are kept, else of UTC days.
func (s Source) statements(ctx context.Context, in Scope, servers []server) (out snapshot.ServiceStatements, err error) {
	w := timegrid.Window{From: in.Window.From, To: in.Window.To, Size: timegrid.Hour}
	if in.Window.From.Before(measurements.KeptSince(timegrid.Hour, in.Now)) {
		w.Size = timegrid.Day
	}
	out, err = s.statementsOf(ctx, in, servers, measurements.Span{From: w.Start(), To: w.End(), Size: w.Size})
	var gone *measurements.NotKeptError
	if errors.As(err, &gone) {
		out.Missing, err = snapshot.ServiceNotKept, nil
	}
	return out, err
}

func (s Source) statementsOf(ctx context.Context, in Scope, servers []server, span measurements.Span) (out snapshot.ServiceStatements, err error) {
	out = snapshot.ServiceStatements{From: span.From, To: span.To, Missing: snapshot.ServiceNotMeasured}
	engines := map[fleet.Engine][]uuid.UUID{}
	for _, one := range servers {
		engines[one.engine] = append(engines[one.engine], one.id)
	}
	var all []measurements.StatementSums
	for _, engine := range fleet.Engines() {
		if len(engines[engine]) == 0 {
			continue
		}
		scope := measurements.StatementScope{Scope: fleet.Scope{Filtered: true, Instances: engines[engine]}}
		sampled, partial, err := s.Measurements.Statements(ctx, in.Organization, engine, scope, span, in.Now, func(one measurements.StatementSums) { all = append(all, one) })
		if err != nil {
			return out, err
		}
		out.Partial = out.Partial || sampled && partial
		if sampled {
			out.Missing = ""
		}
	}
	slices.SortFunc(all, func(a, b measurements.StatementSums) int {
		x, y := a.ID(), b.ID()
		return cmp.Or(cmp.Compare(b.TotalMs, a.TotalMs), bytes.Compare(x[:], y[:]))
	})
	out.Count = len(all)
	for _, one := range all {
		out.TotalMs += one.TotalMs
	}
	out.Listed, err = s.named(ctx, in, all[:min(len(all), snapshot.MaxServiceStatements)])
	return out, err
}

func (s Source) named(ctx context.Context, in Scope, all []measurements.StatementSums) (listed []snapshot.ServiceStatement, err error) {
	ids := make([]uuid.UUID, len(all))
	for i, one := range all {
		ids[i] = one.ID()
	}
	var names map[uuid.UUID]measurements.NamedStatement
	if in.Texts && len(ids) > 0 {
		if names, err = s.Measurements.NameStatements(ctx, in.Organization, ids); err != nil {
			return nil, err
		}
	}
	for i, one := range all {
		listed = append(listed, snapshot.ServiceStatement{ID: ids[i], InstanceID: one.Instance, Text: names[ids[i]].Text, Calls: one.Calls, TotalMs: one.TotalMs})
	}
	return listed, nil
}

// rooms adds how sizes grew: first those that are full soonest, then those that grew most.
func (s Source) rooms(ctx context.Context, in Scope, servers []server, out *snapshot.ServiceRecords) error {
	since, ids := in.Window.To.Add(-room.Lookback), make([]uuid.UUID, len(servers))
	if in.Window.From.Before(since) {
		since = in.Window.From
	}
	for i, one := range servers {
		ids[i] = one.id
	}
	sizes, err := serverfacts.Source{DB: s.DB}.Sizes(ctx, in.Organization, ids, since, in.Window.To, room.MaxSizes)
	if err != nil {
		return err
	}
	for _, of := range sizes {
		if one, ok := roomOf(of, in.Window); ok {
			out.Rooms = append(out.Rooms, one)
		}
	}
	out.RoomsSeen = len(out.Rooms)
	slices.SortStableFunc(out.Rooms, compareRooms)
	out.Rooms = out.Rooms[:min(len(out.Rooms), snapshot.MaxServiceRooms)]
	return nil
}

// roomOf is a size in a window; ok is false if it was not measured in it.
func roomOf(of serverfacts.Sized, w snapshot.Window) (out snapshot.ServiceRoom, ok bool) {
	points := of.Points
	first := slices.IndexFunc(points, func(p forecast.Point) bool { return !p.At.Before(w.From) })
	if first < 0 {
		return out, false
	}
	last, f := points[len(points)-1], forecast.Of(points, w.To)
	out = snapshot.ServiceRoom{
		InstanceID: of.Servers[0], Host: of.Host, Kind: string(of.Kind), Name: of.Name, First: points[first].At, Last: last.At, FirstUsed: points[first].Used, LastUsed: last.Used, Limit: last.Size,
		Reason: string(f.Reason),
	}
	if f.Reason == "" {
		out.Days, out.Soonest, out.Latest = finite(f.Days), finite(f.Soonest), finite(f.Latest)
	}
	return out, true
}

// finite is a number of days in tenths; nil: there is no end.
func finite(days float64) *float64 {
	if math.IsInf(days, 0) {
		return nil
	}
	days = math.Round(10*days) / 10
	return &days
}

func compareRooms(a, b snapshot.ServiceRoom) int {
	days := func(r snapshot.ServiceRoom) float64 {
		if r.Days == nil {
			return math.Inf(1)
		}
		return *r.Days
	}
	return cmp.Or(
		cmp.Compare(days(a), days(b)), cmp.Compare(b.LastUsed-b.FirstUsed, a.LastUsed-a.FirstUsed),
		bytes.Compare(a.InstanceID[:], b.InstanceID[:]), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name),
	)
}
