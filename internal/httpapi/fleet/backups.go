package fleet

import (
	"context"
	"time"

	"github.com/google/uuid"
	openapi_types "github.com/oapi-codegen/runtime/types"

	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements/backups"
	"muster/internal/report/serverfacts"
)

const (
	// databasesShown is how many databases the answer lists, daysShown of how many days it has the ages.
	databasesShown, daysShown = 200, 30
	oneDay                    = 24 * time.Hour
)

// GetBackups shows the newest backups of a server, and their age.
func (s *ServerRoutes) GetBackups(ctx context.Context, r api.GetBackupsRequestObject) (api.GetBackupsResponseObject, error) {
	organization := wire.Caller(ctx).Organization.ID
	if _, err := s.row(ctx, r.InstanceId); err != nil {
		return nil, err
	}
	now := s.Now()
	source := serverfacts.Source{DB: s.DB, Accounts: s.Accounts, Fleet: s.Fleet}
	servers, err := source.Servers(ctx, organization, []uuid.UUID{r.InstanceId})
	if err != nil {
		return nil, err
	}
	stand, err := source.Backups(ctx, organization, servers, now)
	if err != nil {
		return nil, err
	}
	of := stand[r.InstanceId]
	looks, standings := of.Looks, of.Standings
	shown := api.Backups{RpoMinutes: int(of.RPO.Minutes()), Sources: wire.List(looks, showBackupSource), Databases: []api.DatabaseBackups{}}
	for _, l := range looks {
		if shown.MeasuredAt == nil || l.At.After(*shown.MeasuredAt) {
			shown.MeasuredAt = wire.UTC(&l.At)
		}
	}
	for _, st := range standings {
		*countOf(&shown.Counts, st.State)++
	}
	shown.Omitted = max(len(standings)-databasesShown, 0)
	for _, st := range standings[:len(standings)-shown.Omitted] {
		shown.Databases = append(shown.Databases, showStanding(st, of.Databases[st.Database].Name))
	}
	var side wire.Side
	if shown.History, err = s.backupDays(ctx, source, stand, r.InstanceId); side.Lacks(ctx, err, "history") {
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

// backupDays are the greatest ages of the last days of a server.
func (s *ServerRoutes) backupDays(ctx context.Context, source serverfacts.Source, stand map[uuid.UUID]*serverfacts.Backups, instance uuid.UUID) (*[]api.BackupDay, error) {
	now := s.Now()
	days, err := source.BackupDays(ctx, wire.Caller(ctx).Organization.ID, stand, now.UTC().Truncate(oneDay).Add(-(daysShown-1)*oneDay), now)
	if err != nil {
		return nil, err
	}
	shown := wire.List(days[instance], func(d backups.Day) api.BackupDay {
		one := api.BackupDay{Day: openapi_types.Date{Time: d.Start}, Known: d.Known}
		if d.Greatest != nil {
			age := int64(d.Greatest.Seconds())
			one.GreatestAgeSeconds = &age
		}
		if kept, known := d.Kept(stand[instance].RPO); known {
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
