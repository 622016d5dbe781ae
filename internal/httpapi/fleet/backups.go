package fleet

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	openapi_types "github.com/oapi-codegen/runtime/types"

	domain "muster/domain/fleet"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements/backups"
	"muster/internal/watch"
	"muster/projections/fleet"
)

const (
	// databasesShown is how many databases the answer lists, daysShown of how many days it has the ages.
	databasesShown, daysShown = 200, 30
	oneDay                    = 24 * time.Hour
	daysBefore                = 35 // that may have the backup before the first day
)

// GetBackups shows the newest backups of a server, and their age.
func (s *ServerRoutes) GetBackups(ctx context.Context, r api.GetBackupsRequestObject) (api.GetBackupsResponseObject, error) {
	organization := wire.Caller(ctx).Organization.ID
	server, err := s.row(ctx, r.InstanceId)
	if err != nil {
		return nil, err
	}
	stored, err := s.Accounts.WatchRulesOf(ctx, organization)
	if err != nil {
		return nil, err
	}
	rpo := watch.RPO(stored, domain.Tags(server.Tags))
	scope := domain.Scope{Filtered: true, Instances: []uuid.UUID{r.InstanceId}}
	looks, err := backups.Looks(ctx, s.DB, organization, scope)
	if err != nil {
		return nil, err
	}
	newest, err := backups.NewestOf(ctx, s.DB, organization, scope)
	if err != nil {
		return nil, err
	}
	databases, err := s.Fleet.DatabasesOf(ctx, organization, scope.Instances)
	if err != nil {
		return nil, err
	}
	names := make(map[uuid.UUID]fleet.Database)
	for _, d := range databases[r.InstanceId] {
		names[d.ID] = d
	}
	shown := api.Backups{RpoMinutes: int(rpo.Minutes()), Sources: wire.List(looks, showBackupSource), Databases: []api.DatabaseBackups{}}
	for _, l := range looks {
		if shown.MeasuredAt == nil || l.At.After(*shown.MeasuredAt) {
			shown.MeasuredAt = wire.UTC(&l.At)
		}
	}
	now := s.Now()
	standings := slices.DeleteFunc(backups.StandingsOf(newest, looks, rpo, now), func(st backups.Standing) bool {
		return st.Database != uuid.Nil && names[st.Database].Name == "" // it was removed
	})
	for _, st := range standings {
		*countOf(&shown.Counts, st.State)++
	}
	shown.Omitted = max(len(standings)-databasesShown, 0)
	for _, st := range standings[:len(standings)-shown.Omitted] {
		shown.Databases = append(shown.Databases, showStanding(st, names[st.Database].Name))
	}
	var side wire.Side
	if shown.History, err = s.backupDays(ctx, scope, names, standings, rpo); side.Lacks(ctx, err, "history") {
		shown.History = nil
	}
	shown.Unavailable = side.Unavailable()
	return api.GetBackups200JSONResponse(shown), nil
}

func countOf(c *api.BackupCounts, state backups.State) *int {
	switch state {
	case backups.None:
		return &c.None
	case backups.Late:
		return &c.Late
	case backups.InTime:
		return &c.Kept
	case backups.NotKnown:
	}
	return &c.Unknown
}

// backupDays are the greatest ages of the last days.
func (s *ServerRoutes) backupDays(ctx context.Context, scope domain.Scope, names map[uuid.UUID]fleet.Database, standings []backups.Standing, rpo time.Duration) (*[]api.BackupDay, error) {
	now := s.Now()
	from := now.UTC().Truncate(oneDay).Add(-(daysShown - 1) * oneDay)
	ends, err := backups.EndsOf(ctx, s.DB, wire.Caller(ctx).Organization.ID, scope, from.Add(-daysBefore*oneDay), now)
	if err != nil {
		return nil, err
	}
	born, none := map[uuid.UUID]time.Time{}, []time.Time(nil)
	for id, d := range names {
		born[id] = d.CreatedAt
	}
	for _, st := range standings {
		if st.State == backups.None {
			none = append(none, now.Add(-st.Age))
		}
	}
	ends = slices.DeleteFunc(ends, func(e backups.Ends) bool { return e.Database != uuid.Nil && names[e.Database].Name == "" })
	shown := wire.List(backups.DaysOf(ends, born, none, from, now), func(d backups.Day) api.BackupDay {
		one := api.BackupDay{Day: openapi_types.Date{Time: d.Start}, Known: d.Known}
		if d.Greatest != nil {
			age := int64(d.Greatest.Seconds())
			one.GreatestAgeSeconds = &age
		}
		if kept, known := d.Kept(rpo); known {
			one.Kept = &kept
		}
		return one
	})
	return &shown, nil
}

func showBackupSource(l backups.Look) api.BackupSourceState {
	return api.BackupSourceState{
		Source: api.BackupSource(l.Source), MeasuredAt: l.At, Condition: api.BackupCondition(l.Condition), Why: wire.Optional(l.Why), MissingGrant: wire.Optional(l.Denied),
	}
}

func showStanding(st backups.Standing, name string) api.DatabaseBackups {
	shown := api.DatabaseBackups{
		State: api.BackupState(st.State), RestorableTo: st.RestorableTo, Why: wire.Optional(st.Why), HasLog: !st.NoLog,
		Backups: wire.List(st.Of, func(n backups.Newest) api.Backup {
			return api.Backup{
				Kind: api.BackupKind(n.Kind), Source: api.BackupSource(n.Source), StartedAt: wire.UTC(n.StartedAt), FinishedAt: n.FinishedAt.UTC(),
				SizeBytes: n.SizeBytes, Tool: wire.Optional(n.Tool),
			}
		}),
	}
	if st.Database != uuid.Nil {
		shown.Database = &api.ContributingDatabase{Id: st.Database, Name: name}
	}
	if st.Known() {
		age := int64(st.Age.Seconds())
		shown.AgeSeconds = &age
	}
	return shown
}
