package backupdays

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	domain "muster/domain/fleet"
	"muster/internal/accounts"
	"muster/internal/measurements/backups"
	"muster/internal/report/control"
	"muster/internal/watch"
	"muster/projections/fleet"
)

const (
	oneDay     = 24 * time.Hour
	daysBefore = 35 // that may have the backup before the first day
)

// Source reads the days.
type Source struct {
	DB       *sqlx.DB
	Accounts *accounts.Store
	Fleet    *fleet.Reader
}

// Server is how the backups of a server stand now, and how old they became on each day.
type Server struct {
	RPO       time.Duration
	Looks     []backups.Look
	Standings []backups.Standing // of what is there, the worst first
	Databases map[uuid.UUID]fleet.Database
	ends      []backups.Ends
	now       time.Time
}

// Of implements control.BackupDays.
func (s Source) Of(ctx context.Context, organization uuid.UUID, instances []uuid.UUID, from, to, now time.Time) (map[uuid.UUID]control.BackedUp, error) {
	servers, err := s.Servers(ctx, organization, instances, now)
	if err != nil {
		return nil, err
	}
	all := make(map[uuid.UUID]control.BackedUp, len(servers))
	for id, server := range servers {
		all[id] = control.BackedUp{RPO: server.RPO}
	}
	days, err := s.Days(ctx, organization, servers, from, to)
	for id, of := range days {
		up := all[id]
		for _, d := range of {
			kept, known := d.Kept(up.RPO)
			up.Days = append(up.Days, control.BackupDay{Start: d.Start, Kept: kept, Known: known})
		}
		all[id] = up
	}
	return all, err
}

// Servers are how the backups of servers stand at a time.
func (s Source) Servers(ctx context.Context, organization uuid.UUID, instances []uuid.UUID, now time.Time) (map[uuid.UUID]*Server, error) {
	scope := domain.Scope{Filtered: true, Instances: instances}
	settings, err := s.Accounts.WatchRulesOf(ctx, organization)
	if err != nil {
		return nil, err
	}
	tags, err := s.Fleet.TagsOf(ctx, organization, instances)
	if err != nil {
		return nil, err
	}
	databases, err := s.Fleet.DatabasesOf(ctx, organization, instances)
	if err != nil {
		return nil, err
	}
	looks, err := backups.Looks(ctx, s.DB, organization, scope)
	if err != nil {
		return nil, err
	}
	newest, err := backups.NewestOf(ctx, s.DB, organization, scope)
	if err != nil {
		return nil, err
	}
	all, of := map[uuid.UUID]*Server{}, map[uuid.UUID][]backups.Newest{}
	for _, id := range instances {
		all[id] = &Server{RPO: watch.RPO(settings, tags[id]), Databases: map[uuid.UUID]fleet.Database{}, now: now}
		for _, d := range databases[id] {
			all[id].Databases[d.ID] = d
		}
	}
	for _, l := range looks {
		all[l.Instance].Looks = append(all[l.Instance].Looks, l)
	}
	for _, n := range newest {
		of[n.Instance] = append(of[n.Instance], n)
	}
	for id, server := range all {
		server.Standings = slices.DeleteFunc(backups.StandingsOf(of[id], server.Looks, server.RPO, now), func(st backups.Standing) bool { return !server.has(st.Database) })
	}
	return all, nil
}

// has says whether a database is there, or is the whole server.
func (s *Server) has(database uuid.UUID) bool {
	_, there := s.Databases[database]
	return there || database == uuid.Nil
}

// Days are the days that a window touches, the last one up to its end.
func (s Source) Days(ctx context.Context, organization uuid.UUID, servers map[uuid.UUID]*Server, from, to time.Time) (map[uuid.UUID][]backups.Day, error) {
	scope := domain.Scope{Filtered: true}
	for id := range servers {
		scope.Instances = append(scope.Instances, id)
	}
	ends, err := backups.EndsOf(ctx, s.DB, organization, scope, from.Add(-daysBefore*oneDay), to)
	if err != nil {
		return nil, err
	}
	for _, e := range ends {
		if server := servers[e.Instance]; server.has(e.Database) {
			server.ends = append(server.ends, e)
		}
	}
	days := make(map[uuid.UUID][]backups.Day, len(servers))
	for id, server := range servers {
		days[id] = server.days(id, from, to)
	}
	return days, nil
}

func (s *Server) days(id uuid.UUID, from, to time.Time) []backups.Day {
	told, born, none := map[uuid.UUID]bool{}, map[uuid.UUID]time.Time{}, []time.Time(nil)
	for _, e := range s.ends {
		told[e.Database] = true
	}
	for _, st := range s.Standings {
		if st.State == backups.None {
			told[st.Database] = true
			none = append(none, s.now.Add(-st.Age))
		}
	}
	ends := s.ends
	for database, d := range s.Databases {
		born[database] = d.CreatedAt
		if len(told) > 0 && !told[database] && !told[uuid.Nil] { // nobody tells of it
			ends = append(ends, backups.Ends{Instance: id, Database: database})
		}
	}
	return backups.DaysOf(ends, born, none, from, to)
}
