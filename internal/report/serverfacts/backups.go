package serverfacts

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements/backups"
	"muster/internal/report/control"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/day"
	"muster/internal/watch"
)

const (
	oneDay     = 24 * time.Hour
	daysBefore = 35 // in which the backup before a time is looked for
)

// Backups is how the backups of a server stood at a time.
type Backups struct {
	Server
	RPO       time.Duration
	Looks     []backups.Look
	Standings []backups.Standing // of what is there, the worst first
	newest    []backups.Newest
	at        time.Time
}

// Backups are how the backups of servers stand at a time.
func (s Source) Backups(ctx context.Context, organization uuid.UUID, servers []Server, at time.Time) (map[uuid.UUID]*Backups, error) {
	newest, err := backups.NewestOf(ctx, s.DB, organization, scopeOf(servers))
	if err != nil {
		return nil, err
	}
	return s.stood(ctx, organization, servers, newest, at)
}

// BackupsBefore is Backups without what ended at the time or later.
func (s Source) BackupsBefore(ctx context.Context, organization uuid.UUID, servers []Server, at time.Time) (map[uuid.UUID]*Backups, error) {
	newest, err := backups.NewestOf(ctx, s.DB, organization, scopeOf(servers))
	if err != nil {
		return nil, err
	}
	all := len(newest)
	newest = slices.DeleteFunc(newest, func(n backups.Newest) bool { return !n.FinishedAt.Before(at) })
	if len(newest) == all {
		return s.stood(ctx, organization, servers, newest, at)
	}
	// Something ended since, and took the place of what was the newest.
	ends, err := backups.EndsOf(ctx, s.DB, organization, scopeOf(servers), at.Add(-daysBefore*oneDay), at)
	if err != nil {
		return nil, err
	}
	for _, e := range ends {
		if i, _ := slices.BinarySearchFunc(e.Times, at, time.Time.Compare); i > 0 {
			newest = append(newest, backups.Newest{Instance: e.Instance, Database: e.Database, Kind: backups.Full, FinishedAt: e.Times[i-1]})
		}
	}
	return s.stood(ctx, organization, servers, newest, at)
}

// stood judges the newest backups of servers.
func (s Source) stood(ctx context.Context, organization uuid.UUID, servers []Server, newest []backups.Newest, at time.Time) (map[uuid.UUID]*Backups, error) {
	settings, err := s.Accounts.WatchRulesOf(ctx, organization)
	if err != nil {
		return nil, err
	}
	looks, err := backups.Looks(ctx, s.DB, organization, scopeOf(servers))
	if err != nil {
		return nil, err
	}
	all := make(map[uuid.UUID]*Backups, len(servers))
	for _, server := range servers {
		all[server.ID] = &Backups{Server: server, RPO: watch.RPO(settings, server.Tags), at: at}
	}
	for _, l := range looks {
		all[l.Instance].Looks = append(all[l.Instance].Looks, l)
	}
	for _, n := range newest {
		all[n.Instance].newest = append(all[n.Instance].newest, n)
	}
	for _, b := range all {
		b.Standings = slices.DeleteFunc(backups.StandingsOf(b.newest, b.Looks, b.RPO, at), func(st backups.Standing) bool { return !b.has(st.Database) })
	}
	return all, nil
}

// has says whether a database is there, or is the whole server.
func (b *Backups) has(database uuid.UUID) bool {
	_, there := b.Databases[database]
	return there || database == uuid.Nil
}

// Count counts databases, or the whole server as one, by how their backups stand, and lists those that are late.
func (b *Backups) Count(server string) (late []day.Backup, inTime, unknown int) {
	for _, st := range b.Standings {
		switch st.State {
		case backups.NotKnown:
			unknown++
		case backups.InTime:
			inTime++
		case backups.Late, backups.None:
			late = append(late, day.Backup{
				Instance: b.ID, Server: server, Database: b.Databases[st.Database].Name,
				Seconds: int64(st.Age / time.Second), Limit: int64(b.RPO / time.Second), None: st.State == backups.None,
			})
		}
	}
	return late, inTime, unknown
}

// counts is Count as a document has it; nil: nothing is known of what is there.
func (b *Backups) counts(in *snapshot.Instance) *snapshot.Backups {
	late, inTime, unknown := b.Count(in.Name)
	if len(b.Standings) == 0 {
		return nil
	}
	counts := &snapshot.Backups{RPOSeconds: int64(b.RPO / time.Second), Late: len(late), InTime: inTime, Unknown: unknown}
	if len(late) > 0 {
		counts.Worst = &late[0]
	}
	return counts
}

// last is the newest backup of the whole server, or the oldest of the newest ones of its databases.
func (b *Backups) last() (last *snapshot.LastBackup) {
	of := map[uuid.UUID]backups.Newest{}
	for _, n := range b.newest {
		if known, ok := of[n.Database]; b.has(n.Database) && n.Kind.Whole() && (!ok || n.FinishedAt.After(known.FinishedAt)) {
			of[n.Database] = n
		}
	}
	if whole, ok := of[uuid.Nil]; ok {
		return &snapshot.LastBackup{FinishedAt: whole.FinishedAt}
	}
	for _, n := range of {
		if last == nil || n.FinishedAt.Before(last.FinishedAt) {
			last = &snapshot.LastBackup{FinishedAt: n.FinishedAt, Databases: len(of)}
		}
	}
	return last
}

// BackedUp implements control.BackupDays.
func (s Source) BackedUp(ctx context.Context, organization uuid.UUID, instances []uuid.UUID, from, to, now time.Time) (map[uuid.UUID]control.BackedUp, error) {
	servers, err := s.Servers(ctx, organization, instances)
	if err != nil {
		return nil, err
	}
	stand, err := s.Backups(ctx, organization, servers, now)
	if err != nil {
		return nil, err
	}
	days, err := s.BackupDays(ctx, organization, stand, from, to)
	all := make(map[uuid.UUID]control.BackedUp, len(stand))
	for id, b := range stand {
		all[id] = control.BackedUp{RPO: b.RPO, Days: days[id]}
	}
	return all, err
}

// BackupDays are how old the backups of servers became on the days that a window touches, the last one up to its end.
func (s Source) BackupDays(ctx context.Context, organization uuid.UUID, stand map[uuid.UUID]*Backups, from, to time.Time) (map[uuid.UUID][]backups.Day, error) {
	servers := make([]Server, 0, len(stand))
	for _, b := range stand {
		servers = append(servers, b.Server)
	}
	ends, err := backups.EndsOf(ctx, s.DB, organization, scopeOf(servers), from.Add(-daysBefore*oneDay), to)
	if err != nil {
		return nil, err
	}
	of := make(map[uuid.UUID][]backups.Ends, len(stand))
	for _, e := range ends {
		if b := stand[e.Instance]; b.has(e.Database) {
			of[e.Instance] = append(of[e.Instance], e)
		}
	}
	days := make(map[uuid.UUID][]backups.Day, len(stand))
	for id, b := range stand {
		days[id] = b.days(of[id], from, to)
	}
	return days, nil
}

func (b *Backups) days(ends []backups.Ends, from, to time.Time) []backups.Day {
	told, born, none := map[uuid.UUID]bool{}, map[uuid.UUID]time.Time{}, []time.Time(nil)
	for _, e := range ends {
		told[e.Database] = true
	}
	for _, st := range b.Standings {
		if st.State == backups.None {
			told[st.Database] = true
			none = append(none, b.at.Add(-st.Age))
		}
	}
	for database, d := range b.Databases {
		born[database] = d.CreatedAt
		if len(told) > 0 && !told[database] && !told[uuid.Nil] { // nobody tells of it
			ends = append(ends, backups.Ends{Instance: b.ID, Database: database})
		}
	}
	return backups.DaysOf(ends, born, none, from, to)
}
