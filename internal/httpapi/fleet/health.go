package fleet

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/oapi-codegen/runtime/types"

	domain "muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/assessment/changes"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/projections/health"
)

// changesShown is how many changes the health of an instance lists.
const changesShown = 500

// GetInstanceHealth answers from what the log says of an instance's assessments, and from
// the values that are kept beside it.
func (s *ServerRoutes) GetInstanceHealth(ctx context.Context, r api.GetInstanceHealthRequestObject) (api.GetInstanceHealthResponseObject, error) {
	organization := wire.Caller(ctx).Organization.ID
	if _, err := s.row(ctx, r.InstanceId); err != nil {
		return nil, err
	}
	var side wire.Side
	shown := api.InstanceHealth{Domains: []api.DomainHealth{}, History: []api.ScoreOfDay{}}
	today := timegrid.Day.Floor(s.Now())
	days, err := s.Health.Days(ctx, organization, []uuid.UUID{r.InstanceId}, today.AddDate(0, 0, 1-health.KeptDays))
	if err != nil {
		return nil, err
	}
	if len(days) > 0 {
		last := days[len(days)-1]
		shown.Score, shown.Grade = last.Score, wire.Optional(last.Grade)
		if shown.AssessedAt, err = s.scoredAt(ctx, r.InstanceId, last); side.Lacks(ctx, err, "assessedAt") {
			shown.AssessedAt = wire.UTC(&last.At) // at least
		}
		domains, err := s.Health.Domains(ctx, organization, r.InstanceId, last.Day)
		if err != nil {
			return nil, err
		}
		shown.Domains = wire.List(domains, func(d domain.DomainScore) api.DomainHealth {
			return api.DomainHealth{Name: d.Name, Score: d.Score, Failed: d.Failed, Passed: d.Passed, NotAssessed: d.NotAssessed}
		})
		for i, score := range everyDay(days, days[0].Day, today) {
			shown.History = append(shown.History, api.ScoreOfDay{Day: types.Date{Time: days[0].Day.AddDate(0, 0, i)}, Score: score})
		}
	}
	if settings, err := s.settings(ctx, r.InstanceId); !side.Lacks(ctx, err, "settings") {
		shown.Settings = &settings
	}
	if changed, err := s.changes(ctx, r.InstanceId); !side.Lacks(ctx, err, "changes") {
		shown.Changes = &changed
	}
	shown.Unavailable = side.Unavailable()
	return api.GetInstanceHealth200JSONResponse(shown), nil
}

// scoredAt is the time of the last assessment that came to a score. The log is told of an
// assessment only where it differs, so it is the last one that reached the server, unless
// what the log was told is not shown yet.
func (s *ServerRoutes) scoredAt(ctx context.Context, instance uuid.UUID, last health.Score) (*time.Time, error) {
	organization := wire.Caller(ctx).Organization.ID
	told, ok, err := changes.Told(ctx, s.DB, organization, instance)
	follows := !told.At.After(last.At) || told.Grade == last.Grade && same(told.Score, last.Score)
	if err != nil || !ok || !follows {
		return wire.UTC(&last.At), err
	}
	states, err := s.Servers.States(ctx, organization, []uuid.UUID{instance})
	if at := states[instance].LastAssessedAt; at != nil && at.After(last.At) {
		return wire.UTC(at), err
	}
	return wire.UTC(&last.At), err
}

func same(a, b *int) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

// everyDay are the scores of each day from the first to the last, nil where there is
// none. The days of scores are sorted.
func everyDay(scores []health.Score, first, last time.Time) []*int {
	if last.Before(first) {
		return []*int{}
	}
	days := make([]*int, int(last.Sub(first)/(24*time.Hour))+1)
	for _, score := range scores {
		if day := int(score.Day.Sub(first) / (24 * time.Hour)); day >= 0 && day < len(days) {
			days[day] = score.Score
		}
	}
	return days
}

func (s *ServerRoutes) settings(ctx context.Context, instance uuid.UUID) ([]api.Setting, error) {
	organization := wire.Caller(ctx).Organization.ID
	settings, err := changes.Settings(ctx, s.DB, organization, instance)
	if err != nil {
		return nil, err
	}
	changed, err := s.Health.SettingsChanged(ctx, organization, instance)
	if err != nil {
		return nil, err
	}
	return wire.List(settings, func(setting changes.Setting) api.Setting {
		shown := api.Setting{Name: setting.Name, Value: setting.Value, Unit: wire.Optional(setting.Unit)}
		if at, ok := changed[setting.Key]; ok {
			shown.ChangedAt = wire.UTC(&at)
		}
		return shown
	}), nil
}

func (s *ServerRoutes) changes(ctx context.Context, instance uuid.UUID) ([]api.InstanceChange, error) {
	organization := wire.Caller(ctx).Organization.ID
	rows, err := s.Health.Changes(ctx, organization, instance, changesShown)
	if err != nil {
		return nil, err
	}
	ids := wire.List(rows, func(c health.Changed) uuid.UUID { return c.Assessment })
	values, err := changes.ValuesOf(ctx, s.DB, organization, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	return wire.List(rows, func(c health.Changed) api.InstanceChange {
		shown := api.InstanceChange{At: c.At.UTC(), Kind: string(c.Kind), Added: c.Added, Removed: c.Removed}
		if v, kept := values[changes.Place{Assessment: c.Assessment, Nth: c.Nth}]; kept {
			shown.Name, shown.Before, shown.After = &v.Name, v.Before, v.After
		}
		return shown
	}), nil
}
