package servicerecords

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/objectives"
	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/maintenance"
	"muster/domain/objective"
	"muster/domain/timegrid"
	"muster/eventstore"
	"muster/handlers/gather/alertlog"
	"muster/internal/measurements"
	"muster/internal/report/snapshot"
	"muster/internal/watch/uptime"
	"muster/projections"
)

// Measurements is what servers executed; *pgstore.Store is one.
type Measurements interface {
	QueryPerformance(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, w timegrid.Window, now time.Time) (measurements.QuerySums, error)
	Statements(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope measurements.StatementScope, span measurements.Span, now time.Time, take func(measurements.StatementSums)) (sampled, partial bool, err error)
	NameStatements(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]measurements.NamedStatement, error)
}

// Source is what is read.
type Source struct {
	DB           *sqlx.DB
	Events       *eventstore.Store
	Decode       projections.Decode
	Measurements Measurements
}

// Scope is the servers of a report: all that were active in the window, or those with these ids.
type Scope struct {
	Organization uuid.UUID
	Whole        bool
	Instances    []uuid.UUID
	Window       snapshot.Window
	Texts        bool      // every reader may see the texts of statements
	Now          time.Time // of the request, which says what of the samples is still kept
}

// Gather returns the records of a window.
func (s Source) Gather(ctx context.Context, in Scope) (*snapshot.ServiceRecords, error) {
	servers, err := s.servers(ctx, in)
	if err != nil {
		return nil, err
	}
	out := &snapshot.ServiceRecords{BudgetTo: budgetTo(in.Window)}
	list, err := s.objectives(ctx, in, out)
	if err != nil {
		return nil, err
	}
	judge := uptime.Judge{DB: s.DB, Statements: s.Measurements}
	period := uptime.Period{From: in.Window.From, To: in.Window.To, Now: in.Window.To}
	judged := make([]uptime.Server, len(servers))
	for i, one := range servers {
		judged[i] = one.judged()
	}
	states, err := judge.StatesBy(ctx, in.Organization, list, judged, period)
	if err != nil {
		return nil, err
	}
	notices, err := s.notices(ctx, in)
	if err != nil {
		return nil, err
	}
	for i, state := range states {
		latency, err := judge.Latency(ctx, in.Organization, state, period)
		if err != nil {
			return nil, fmt.Errorf("read how fast %s was: %w", servers[i].name, err)
		}
		out.Servers = append(out.Servers, record(servers[i], state, latency, notices[state.ID], in.Window))
	}
	if out.Statements, err = s.statements(ctx, in, servers); err != nil {
		return nil, err
	}
	return out, s.rooms(ctx, in, servers, out)
}

// budgetTo is until when a budget has to last: an objective is about a calendar month in UTC.
func budgetTo(w snapshot.Window) time.Time {
	month := uptime.MonthOf(w.From, w.To)
	if w.From.Equal(month.From) && w.To.Before(month.To) {
		return month.To
	}
	return w.To
}

// objectives are those that held at the window's end, and when they changed in it.
func (s Source) objectives(ctx context.Context, in Scope, out *snapshot.ServiceRecords) ([]objective.Objective, error) {
	row, err := objectives.At(ctx, s.DB, in.Organization, in.Window.To)
	if err != nil {
		return nil, err
	}
	if out.Changed, err = objectives.ChangedIn(ctx, s.DB, in.Organization, in.Window.From, in.Window.To); err != nil {
		return nil, err
	}
	if !row.Holds.Before(in.Window.To) { // they were set later
		return nil, nil
	}
	return row.Items, nil
}

// record is a server in the form of the document.
func record(one server, state uptime.State, latency objective.Latency, notices []*alertlog.Alert, w snapshot.Window) snapshot.ServiceServer {
	out := snapshot.ServiceServer{
		ID: one.id, Name: one.name, Engine: string(one.engine), From: state.Judged.From, To: state.Judged.To,
		Up: state.Up, Down: state.Down, Unknown: state.Unknown, Maintenance: state.Maintenance, Off: maintenance.Lasting(state.Off),
		OutageN: len(state.Downs), GapN: len(state.Gaps), CoveredN: len(state.Covered),
		Gaps: windows(longest(state.Gaps)), Covered: windows(longest(state.Covered)),
		MeanMs: latency.MeanMs, Coverage: latency.Coverage,
	}
	if w.Within(&one.created) {
		out.Joined = &one.created
	}
	if w.Within(one.removed) {
		out.Left = one.removed
	}
	if o := state.Objective; o != nil {
		out.ObjectivePercent, out.ObjectiveMs = o.AvailabilityPercent, o.LatencyMs
	}
	for _, down := range longest(state.Downs) {
		outage := snapshot.ServiceOutage{From: down.From, To: down.To, Ongoing: !down.To.Before(w.To)}
		noticed(&outage, notices)
		out.Outages = append(out.Outages, outage)
	}
	return out
}

// longest are the longest of some times.
func longest(spans []maintenance.Span) []maintenance.Span {
	all := slices.SortedStableFunc(slices.Values(spans), func(a, b maintenance.Span) int {
		return cmp.Or(cmp.Compare(b.To.Sub(b.From), a.To.Sub(a.From)), a.From.Compare(b.From))
	})
	return all[:min(len(all), snapshot.MaxServiceSpans)]
}

func windows(spans []maintenance.Span) (all []snapshot.Window) {
	for _, s := range spans {
		all = append(all, snapshot.Window{From: s.From, To: s.To})
	}
	return all
}

// server is a server as the log has it at the window's end.
type server struct {
	id         uuid.UUID
	name       string
	engine     fleet.Engine
	tags       fleet.Tags
	created    time.Time
	registered time.Time  // when that was recorded
	removed    *time.Time // nil: it is there
	off        []maintenance.Span
	since      *time.Time // since when it is switched off; nil: it is on
}

// judged is the server as its time is judged.
func (s server) judged() uptime.Server {
	off := slices.Clone(s.off)
	if s.since != nil {
		off = append(off, maintenance.Span{From: *s.since, To: far})
	}
	return uptime.Server{ID: s.id, Engine: s.engine, Tags: s.tags, CreatedAt: s.created, Off: maintenance.Merged(off)}
}

// far is after every window.
var far = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// active says whether the server was switched on at some time in a window.
func (s server) active(w snapshot.Window) bool {
	in := maintenance.Span{From: instant.Later(w.From, s.created), To: w.To}
	if !in.To.After(in.From) {
		return false
	}
	var off []maintenance.Span
	for _, span := range s.judged().Off {
		if span = span.Cut(in); span.To.After(span.From) {
			off = append(off, span)
		}
	}
	return maintenance.Lasting(off) < in.To.Sub(in.From)
}
