package objectives

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/domain/maintenance"
	"muster/domain/objective"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/watch/uptime"
	"muster/projections/fleet"
)

const (
	// everyone is a page with all servers.
	everyone = 100_000
	// outagesShown is how many times a server that was down has in an answer.
	outagesShown = 20
)

// ListObjectiveStates shows how servers kept their objectives in a month.
func (s *ObjectiveRoutes) ListObjectiveStates(ctx context.Context, r api.ListObjectiveStatesRequestObject) (api.ListObjectiveStatesResponseObject, error) {
	p, organization := r.Params, wire.Caller(ctx).Organization.ID
	period := uptime.MonthOf(s.Now(), s.Now())
	if p.Month != nil {
		month, err := time.Parse("2006-01", *p.Month)
		if err != nil {
			return nil, wire.BadParameter(api.Query, "month", "invalid_parameter", "must be a year and a month, as in 2026-11")
		}
		period = uptime.MonthOf(month, s.Now())
	}
	ids, err := wire.FilteredIDs(ctx, s.Fleet, wire.Filter{IDs: p.InstanceId, Tags: p.Tag, Owner: p.Owner})
	if err != nil {
		return nil, err
	}
	active := true
	rows, _, err := s.Fleet.Instances(ctx, fleet.Query{Organization: organization, IDs: ids, Active: &active, Page: 1, Size: everyone})
	if err != nil {
		return nil, err
	}
	names := make(map[uuid.UUID]string, len(rows))
	servers := wire.List(rows, func(i fleet.Instance) uptime.Server {
		names[i.ID] = i.Name
		return uptime.Server{ID: i.ID, Engine: i.Engine, Tags: domain.Tags(i.Tags), CreatedAt: i.CreatedAt}
	})
	states, err := s.Judge.States(ctx, organization, servers, period)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(states, func(a, b uptime.State) int { return cmp.Compare(rank[a.Available], rank[b.Available]) })
	shown := api.ObjectiveStatePage{Month: period.From.Format("2006-01"), Items: []api.ObjectiveState{}}
	for _, state := range states {
		*counter(&shown, state.Available)++
	}
	if shown.KnownSince, err = s.knownSince(ctx, organization, servers); err != nil {
		return nil, err
	}
	number, size := wire.Or(p.Page, 1), wire.Or(p.PageSize, wire.DefaultPageSize)
	shown.Page = wire.Paged(ctx, number, size, int64(len(states)))
	first := min((number-1)*size, len(states))
	var side wire.Side
	for _, state := range states[first:min(first+size, len(states))] {
		shown.Items = append(shown.Items, s.show(ctx, names[state.ID], state, period, &side))
	}
	shown.Unavailable = side.Unavailable()
	return api.ListObjectiveStates200JSONResponse(shown), nil
}

// knownSince is since when something is known of one of the servers that the caller asks for.
func (s *ObjectiveRoutes) knownSince(ctx context.Context, organization uuid.UUID, servers []uptime.Server) (*time.Time, error) {
	since, err := uptime.Known(ctx, s.DB, organization, wire.List(servers, func(s uptime.Server) uuid.UUID { return s.ID }))
	return wire.UTC(since), err
}

var rank = map[objective.Verdict]int{objective.Missed: 0, objective.Untold: 1, objective.Kept: 2, "": 3}

// counter is the number that a verdict counts in.
func counter(p *api.ObjectiveStatePage, v objective.Verdict) *int64 {
	switch v {
	case objective.Missed:
		return &p.Missed
	case objective.Untold:
		return &p.CannotBeTold
	case objective.Kept:
		return &p.Kept
	}
	return &p.Without
}

func (s *ObjectiveRoutes) show(ctx context.Context, name string, state uptime.State, period uptime.Period, side *wire.Side) api.ObjectiveState {
	u := state.Uptime
	one := api.ObjectiveState{
		Instance: api.Reference{Id: state.ID, Name: name}, From: state.Judged.From.UTC(), To: state.Judged.To.UTC(),
		UpSeconds: seconds(u.Up), DownSeconds: seconds(u.Down), UnknownSeconds: seconds(u.Unknown), MaintenanceSeconds: seconds(u.Maintenance),
		OutageCount: int64(len(state.Downs)), Outages: wire.List(longest(state.Downs), showTime),
	}
	if state.Objective == nil {
		return one
	}
	of := showObjective(ctx, *state.Objective)
	one.Objective = &of
	if percent := state.Objective.AvailabilityPercent; percent != nil {
		a := api.ObjectiveAvailability{ObjectivePercent: *percent, Verdict: api.ObjectiveVerdict(state.Available), BudgetSeconds: seconds(*state.Budget), UsedSeconds: one.DownSeconds}
		if low, high, ok := u.Range(); ok {
			a.LowPercent, a.HighPercent = wire.Rounded(low, wire.Thousandths), wire.Rounded(high, wire.Thousandths)
		}
		one.Availability = &a
	}
	if most := state.Objective.LatencyMs; most != nil {
		limited, cancel := side.Limited(ctx)
		l, err := s.Judge.Latency(limited, wire.Caller(ctx).Organization.ID, state, period)
		cancel()
		if !side.Lacks(ctx, err, "items.latency") {
			one.Latency = &api.ObjectiveLatency{ObjectiveMs: *most, Verdict: api.ObjectiveVerdict(objective.Fast(l, *most)), CoveragePercent: *wire.Rounded(100*l.Coverage, 10)}
			if l.MeanMs != nil {
				one.Latency.MeanMs = wire.Rounded(*l.MeanMs, wire.Thousandths)
			}
		}
	}
	return one
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// longest are the longest of some times, in order.
func longest(times []maintenance.Span) []maintenance.Span {
	lasts := func(a, b maintenance.Span) int { return cmp.Compare(b.To.Sub(b.From), a.To.Sub(a.From)) }
	most := slices.SortedStableFunc(slices.Values(times), lasts)
	most = most[:min(outagesShown, len(most))]
	slices.SortFunc(most, func(a, b maintenance.Span) int { return a.From.Compare(b.From) })
	return most
}

func showTime(s maintenance.Span) api.MaintenanceTime {
	return api.MaintenanceTime{From: s.From.UTC(), To: s.To.UTC()}
}
