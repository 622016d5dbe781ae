package uptime

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	windows "muster/commands/maintenance"
	"muster/commands/objectives"
	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/maintenance"
	"muster/domain/objective"
	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// Statements answers what a server executed; measurements.Store does.
type Statements interface {
	QueryPerformance(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, w timegrid.Window, now time.Time) (measurements.QuerySums, error)
}

// Server is a server that is judged.
type Server struct {
	ID        uuid.UUID
	Engine    fleet.Engine
	Tags      fleet.Tags
	CreatedAt time.Time
	// Off are the times in which it was switched off or removed. They count as nothing.
	Off []maintenance.Span
}

// Period is what is judged: from an instant until before another. Now is when that is asked; nothing
// after it counts. All of them are times as PostgreSQL keeps them.
type Period struct{ From, To, Now time.Time }

// MonthOf is the calendar month in UTC that a time lies in.
func MonthOf(at, now time.Time) Period {
	from := time.Date(at.UTC().Year(), at.UTC().Month(), 1, 0, 0, 0, 0, time.UTC)
	return Period{From: from, To: from.AddDate(0, 1, 0), Now: now}
}

// of is the part of the period that has passed and in which a server was there.
func (p Period) of(s Server) maintenance.Span {
	in := maintenance.Span{From: instant.Later(p.From, s.CreatedAt), To: p.To}
	if p.Now.Before(in.To) {
		in.To = p.Now
	}
	if in.To.Before(in.From) {
		in.To = in.From
	}
	return in
}

// State is how a server kept its objective in a period.
type State struct {
	Server
	Judged    maintenance.Span // the part of the period that counts
	Objective *objective.Objective
	objective.Uptime
	Available objective.Verdict // empty: the objective has no availability
	// Budget is for how long the server may be down in the whole period, in which time in windows that has
	// passed does not count; nil: the objective has no availability.
	Budget *time.Duration
	Downs  []maintenance.Span // outside windows, in order
	Gaps   []maintenance.Span // in which nobody knows, outside windows, in order
	// Covered are the times in maintenance windows. Off are those in which the server was switched off.
	Covered, Off []maintenance.Span
}

// Judge judges objectives.
type Judge struct {
	DB         *sqlx.DB
	Statements Statements
}

// States are those of servers, in their order, by the list of objectives that held at the end of the period.
func (j Judge) States(ctx context.Context, organization uuid.UUID, servers []Server, p Period) ([]State, error) {
	row, err := objectives.At(ctx, j.DB, organization, p.To)
	if err != nil {
		return nil, err
	}
	return j.StatesBy(ctx, organization, row.Items, servers, p)
}

// StatesBy are those of servers by a list of objectives.
func (j Judge) StatesBy(ctx context.Context, organization uuid.UUID, list []objective.Objective, servers []Server, p Period) ([]State, error) {
	versions, err := windows.Versions(ctx, j.DB, organization, p.From)
	if err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, len(servers))
	for i, s := range servers {
		ids[i] = s.ID
	}
	spans, err := SpansOf(ctx, j.DB, organization, ids, p.From, p.To, p.Now)
	if err != nil {
		return nil, err
	}
	states := make([]State, len(servers))
	for i, s := range servers {
		state := stateOf(s, spans[s.ID], versions, p.of(s))
		if of, ok := objective.Of(list, s.ID, s.Tags); ok {
			state.Objective = &of
			if percent := of.AvailabilityPercent; percent != nil {
				budget := objective.Budget(max(0, p.To.Sub(state.Judged.From)-state.Maintenance-maintenance.Lasting(state.Off)), *percent)
				state.Available, state.Budget = objective.Available(state.Uptime, *percent), &budget
			}
		}
		states[i] = state
	}
	return states, nil
}

// stateOf is how a server was in a period, without its objective.
func stateOf(s Server, spans []Span, versions []maintenance.Version, in maintenance.Span) State {
	off := within(s.Off, in)
	covered := minus(maintenance.Covered(versions, s.ID, s.Tags, in), off)
	out := maintenance.Merged(slices.Concat(covered, off))
	state := State{Server: s, Judged: in, Uptime: Sum(spans, out, in), Downs: Downs(spans, out, in), Gaps: Gaps(spans, out, in), Covered: covered, Off: off}
	state.Maintenance -= maintenance.Lasting(off)
	return state
}

// Latency is the mean over the executions of the hours that are whole, in the time that counts and in no
// window, even in part.
func (j Judge) Latency(ctx context.Context, organization uuid.UUID, s State, p Period) (objective.Latency, error) {
	w := timegrid.Window{From: s.Judged.From.Truncate(time.Hour), To: s.Judged.To.Truncate(time.Hour), Size: timegrid.Hour}
	if !w.To.After(w.From) {
		return objective.Latency{}, nil
	}
	sums, err := j.Statements.QueryPerformance(ctx, organization, s.Engine, fleet.Scope{Filtered: true, Instances: []uuid.UUID{s.ID}}, w, p.Now)
	if err != nil || !sums.Sampled {
		return objective.Latency{}, err
	}
	return latencyOf(sums, w.Starts(), slices.Concat(s.Covered, s.Off)), nil
}

func latencyOf(sums measurements.QuerySums, starts []time.Time, covered []maintenance.Span) (l objective.Latency) {
	var totalMs, calls float64
	hours, executed := 0, 0
	for i, start := range starts {
		if touches(start, covered) {
			continue
		}
		if hours++; sums.Calls[i] > 0 {
			executed++
			totalMs += sums.TotalMs[i]
			calls += sums.Calls[i]
		}
	}
	if calls > 0 && !math.IsInf(totalMs, 0) {
		mean := totalMs / calls
		l.MeanMs, l.Coverage = &mean, float64(executed)/float64(hours)
	}
	return l
}

// touches says whether one of the times touches the hour that begins at start.
func touches(start time.Time, covered []maintenance.Span) bool {
	for _, c := range covered {
		if c.From.Before(start.Add(time.Hour)) && c.To.After(start) {
			return true
		}
	}
	return false
}
