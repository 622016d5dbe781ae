package serverfacts

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/accounts"
	"muster/internal/assessment"
	"muster/internal/measurements/backups"
	"muster/internal/measurements/forecast"
	"muster/internal/measurements/replication"
	"muster/internal/measurements/room"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/day"
	"muster/internal/watch"
	projected "muster/projections/fleet"
)

// sizesEach is how many volumes of a host, and tablespaces of a server, are looked at: those that use most.
const sizesEach = 50

// Source is where the facts are read.
type Source struct {
	DB       *sqlx.DB
	Facts    *assessment.Store
	Fleet    *projected.Reader
	Accounts *accounts.Store
}

// Of returns the facts of a server at a time.
func (s Source) Of(ctx context.Context, organization uuid.UUID, in *snapshot.Instance, at time.Time) (*snapshot.Server, error) {
	facts := &snapshot.Server{}
	for _, add := range []func(context.Context, uuid.UUID, *snapshot.Instance, time.Time, *snapshot.Server) error{
		s.addReplication, s.addGrowth, s.addBackups, s.addRoom,
	} {
		if err := add(ctx, organization, in, at, facts); err != nil {
			return nil, err
		}
	}
	return facts, nil
}

func scopeOf(in *snapshot.Instance) fleet.Scope {
	return fleet.Scope{Filtered: true, Instances: []uuid.UUID{in.ID}}
}

// addReplication adds the role, and whether everything follows.
func (s Source) addReplication(ctx context.Context, organization uuid.UUID, in *snapshot.Instance, at time.Time, facts *snapshot.Server) error {
	states, err := replication.Related(ctx, s.DB, organization, scopeOf(in), in.ID)
	if err != nil || len(states) == 0 {
		return err
	}
	facts.Role = string(states[0].Role)
	if at.Sub(states[0].At) > replication.Fresh {
		return nil
	}
	stand, err := replication.Stand(ctx, s.DB, organization, states[:1])
	if err != nil || len(stand) == 0 {
		return err
	}
	of := stand[0]
	facts.Replication = &snapshot.Replication{Broken: of.Broken, First: of.First, Why: of.Why, LagSeconds: of.Lag, Laggard: of.Laggard}
	return nil
}

// addGrowth adds the size that the databases had.
func (s Source) addGrowth(ctx context.Context, organization uuid.UUID, in *snapshot.Instance, _ time.Time, facts *snapshot.Server) error {
	now, before, err := s.Facts.DatabaseSizes(ctx, organization, in.ID)
	for name, size := range now.Bytes { // a sum of whole numbers: the order does not show
		if was, known := before.Bytes[name]; known {
			if facts.Before == nil {
				facts.Before = &snapshot.SizeBefore{At: before.At}
			}
			facts.Before.Change += size - was
		}
	}
	return err
}

// addBackups adds the last backup, and how those of the databases stand against their RPO.
func (s Source) addBackups(ctx context.Context, organization uuid.UUID, in *snapshot.Instance, at time.Time, facts *snapshot.Server) error {
	newest, err := backups.NewestOf(ctx, s.DB, organization, scopeOf(in))
	if err != nil {
		return err
	}
	facts.Backup = lastBackup(newest)
	looks, err := backups.Looks(ctx, s.DB, organization, scopeOf(in))
	if err != nil || len(newest)+len(looks) == 0 {
		return err
	}
	settings, err := s.Accounts.WatchRulesOf(ctx, organization)
	if err != nil {
		return err
	}
	tags, err := s.Fleet.TagsOf(ctx, organization, []uuid.UUID{in.ID})
	if err != nil {
		return err
	}
	rpo := watch.RPO(settings, tags[in.ID])
	facts.Backups = standing(in, backups.StandingsOf(newest, looks, rpo, at), rpo)
	return nil
}

// standing counts how the databases stand, worst first; nil: nothing is known of those that are there.
func standing(in *snapshot.Instance, all []backups.Standing, rpo time.Duration) *snapshot.Backups {
	names := map[uuid.UUID]string{}
	for _, d := range in.Databases {
		names[d.ID] = d.Name
	}
	names[uuid.Nil] = "" // the whole server; a database that only an assessment has seen has no id, either
	counts := &snapshot.Backups{RPOSeconds: int64(rpo / time.Second)}
	for _, st := range all {
		name, there := names[st.Database]
		switch {
		case !there: // it was removed
		case st.State == backups.NotKnown:
			counts.Unknown++
		case st.State == backups.InTime:
			counts.InTime++
		default:
			if counts.Late++; counts.Worst == nil {
				counts.Worst = &day.Backup{
					Instance: in.ID, Server: in.Name, Database: name, Seconds: int64(st.Age / time.Second), Limit: counts.RPOSeconds, None: st.State == backups.None,
				}
			}
		}
	}
	if counts.Late+counts.InTime+counts.Unknown == 0 {
		return nil
	}
	return counts
}

// lastBackup is the newest one of the whole server, or the oldest of the newest ones of its databases.
func lastBackup(all []backups.Newest) (last *snapshot.LastBackup) {
	of := map[uuid.UUID]backups.Newest{}
	for _, b := range all {
		if known, ok := of[b.Database]; b.Kind.Whole() && (!ok || b.FinishedAt.After(known.FinishedAt)) {
			of[b.Database] = b
		}
	}
	if whole, ok := of[uuid.Nil]; ok {
		return &snapshot.LastBackup{FinishedAt: whole.FinishedAt}
	}
	for _, b := range of {
		if last == nil || b.FinishedAt.Before(last.FinishedAt) {
			last = &snapshot.LastBackup{FinishedAt: b.FinishedAt, Databases: len(of)}
		}
	}
	return last
}

// addRoom adds what is full first of the volumes of its hosts and its tablespaces; without any date what is fullest.
func (s Source) addRoom(ctx context.Context, organization uuid.UUID, in *snapshot.Instance, at time.Time, facts *snapshot.Server) error {
	hosts, err := watch.HostsOf(ctx, s.DB, organization, in.ID)
	if err != nil {
		return err
	}
	subjects := []string{room.InstanceSubject(in.ID)}
	for _, host := range hosts {
		subjects = append(subjects, room.HostSubject(host))
	}
	histories, err := room.Histories(ctx, s.DB, organization, subjects, at.Add(-room.Lookback), sizesEach)
	if err != nil {
		return err
	}
	var all []day.Fill
	for _, h := range histories {
		last := h.Points[len(h.Points)-1]
		if last.Size <= 0 || at.Sub(last.At) > staleSize {
			continue
		}
		fill := day.Fill{Name: h.Name, Percent: math.Round(1000*last.Used/last.Size) / 10}
		if is := forecast.Of(h.Points, at); is.Reason == "" {
			days := math.Round(10*is.Days) / 10
			fill.Days = &days
		} else {
			fill.Why = string(is.Reason)
		}
		all = append(all, fill)
	}
	if len(all) > 0 {
		first := slices.MinFunc(all, fullFirst)
		facts.Room = &first
	}
	return nil
}

// staleSize is how old the newest size of something may be that is measured.
const staleSize = 48 * time.Hour

func fullFirst(a, b day.Fill) int {
	days := func(f day.Fill) float64 {
		if f.Days == nil {
			return math.Inf(1)
		}
		return *f.Days
	}
	return cmp.Or(cmp.Compare(days(a), days(b)), cmp.Compare(b.Percent, a.Percent), strings.Compare(a.Name, b.Name))
}
