package daily

import (
	"cmp"
	"context"
	_ "embed" // the statement
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/accounts"
	"muster/internal/measurements/backups"
	"muster/internal/measurements/forecast"
	"muster/internal/measurements/room"
	"muster/internal/postgres/statement"
	"muster/internal/report/snapshot/day"
	"muster/internal/watch"
)

const (
	certificateRule = string(watch.Certificate)
	jobsRule        = string(watch.FailedJobs)

	soonFull   = 14.0 // days
	urgentFull = 7.0
	nearlyFull = 90.0 // percent
	sizesEach  = 20   // things of one kind of a server or host

	endsBefore = 35 * 24 * time.Hour // how far back a backup is looked for that ended before the end of the day
)

type backupFacts struct {
	newest   map[uuid.UUID][]backups.Newest
	looks    map[uuid.UUID][]backups.Look
	settings accounts.WatchSettings
}

// readBackups reads the newest backups that ended before the end of the day.
func (r *Reader) readBackups(ctx context.Context, f *facts) (err error) {
	f.backups = backupFacts{newest: map[uuid.UUID][]backups.Newest{}, looks: map[uuid.UUID][]backups.Look{}}
	scope := fleet.Scope{Filtered: true, Instances: f.ids()}
	if f.backups.settings, err = r.Accounts.WatchRulesOf(ctx, f.Organization); err != nil {
		return err
	}
	looks, err := backups.Looks(ctx, r.DB, f.Organization, scope)
	if err != nil {
		return err
	}
	for _, l := range looks {
		f.backups.looks[l.Instance] = append(f.backups.looks[l.Instance], l)
	}
	newest, err := backups.NewestOf(ctx, r.DB, f.Organization, scope)
	if err != nil {
		return err
	}
	later := false
	for _, n := range newest {
		if n.FinishedAt.Before(f.To) {
			f.backups.newest[n.Instance] = append(f.backups.newest[n.Instance], n)
		} else {
			later = true
		}
	}
	if !later {
		return nil
	}
	// Something ended since, and took the place of what was the newest.
	ends, err := backups.EndsOf(ctx, r.DB, f.Organization, scope, f.To.Add(-endsBefore), f.To)
	if err != nil {
		return err
	}
	for _, e := range ends {
		if i, _ := slices.BinarySearchFunc(e.Times, f.To, time.Time.Compare); i > 0 {
			f.backups.newest[e.Instance] = append(f.backups.newest[e.Instance],
				backups.Newest{Instance: e.Instance, Database: e.Database, Kind: backups.Full, FinishedAt: e.Times[i-1]})
		}
	}
	return nil
}

// lateBackups are the backups that are older than their objective, the oldest first.
func (f *facts) lateBackups() (late []day.Backup, inTime, untold int) {
	for _, s := range f.Servers {
		looks, newest := f.backups.looks[s.ID], f.backups.newest[s.ID]
		rpo := watch.RPO(f.backups.settings, s.Tags)
		known := false
		for _, st := range backups.StandingsOf(newest, looks, rpo, f.To) {
			name := s.Databases[st.Database]
			if st.Database != uuid.Nil && name == "" {
				continue // it was removed
			}
			known = known || st.Known()
			switch st.State {
			case backups.InTime:
				inTime++
			case backups.Late, backups.None:
				late = append(late, day.Backup{
					Instance: s.ID, Server: s.Name, Database: name, Seconds: int64(st.Age / time.Second), Limit: int64(rpo / time.Second), None: st.State == backups.None,
				})
			case backups.NotKnown:
			}
		}
		if !known {
			untold++
		}
	}
	slices.SortStableFunc(late, func(a, b day.Backup) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), strings.Compare(a.Server, b.Server), strings.Compare(a.Database, b.Database))
	})
	return late, inTime, untold
}

//go:embed sql/hosts.sql
var hostsSQL string

// sized is the history of something that has a size.
type sized struct {
	room.History
	on      string // a server, or a host
	servers []uuid.UUID
}

// readRoom reads how sizes grew until the end of the day.
func (r *Reader) readRoom(ctx context.Context, f *facts) error {
	where := map[string]sized{}
	var subjects []string
	add := func(subject, on string, server uuid.UUID) {
		at, there := where[subject]
		if !there {
			subjects = append(subjects, subject)
		}
		at.on, at.servers = on, append(at.servers, server)
		where[subject] = at
	}
	for _, s := range f.Servers {
		add(room.InstanceSubject(s.ID), s.Name, s.ID)
	}
	hosts, err := statement.All[struct {
		Instance uuid.UUID `db:"instance"`
		Host     string    `db:"host"`
	}](ctx, r.DB, "read the hosts of servers", hostsSQL, f.Organization, statement.IDs(f.ids()))
	if err != nil {
		return err
	}
	for _, h := range hosts {
		add(room.HostSubject(h.Host), h.Host, h.Instance)
	}
	histories, err := room.Histories(ctx, r.DB, f.Organization, subjects, f.To.Add(-room.Lookback), sizesEach)
	if err != nil {
		return err
	}
	for _, h := range histories {
		h.Points = slices.DeleteFunc(h.Points, func(p forecast.Point) bool { return !p.At.Before(f.To) })
		if len(h.Points) == 0 || h.Points[len(h.Points)-1].Size <= 0 {
			continue
		}
		at := where[h.Subject]
		at.History = h
		f.sizes = append(f.sizes, at)
	}
	return nil
}

// fills are the things that are full soon, the first first, and those that are nearly full without a date.
func (f *facts) fills() (soon, undated []day.Fill, measured int) {
	seen := map[string]bool{}
	for _, s := range f.sizes {
		last := s.Points[len(s.Points)-1]
		if f.To.Sub(last.At) > 48*time.Hour { // it is not measured any more
			continue
		}
		seen[s.Subject] = true
		fill := day.Fill{Name: s.Name, On: s.on, Percent: math.Round(1000*last.Used/last.Size) / 10}
		switch is := forecast.Of(s.Points, f.To); {
		case is.Reason == "" && is.Days <= soonFull:
			days := math.Round(10*is.Days) / 10
			fill.Days = &days
			soon = append(soon, fill)
		case is.Reason != "" && fill.Percent >= nearlyFull:
			fill.Why = string(is.Reason)
			undated = append(undated, fill)
		}
	}
	slices.SortStableFunc(soon, func(a, b day.Fill) int {
		return cmp.Or(cmp.Compare(*a.Days, *b.Days), strings.Compare(a.On, b.On), strings.Compare(a.Name, b.Name))
	})
	slices.SortStableFunc(undated, func(a, b day.Fill) int {
		return cmp.Or(cmp.Compare(b.Percent, a.Percent), strings.Compare(a.On, b.On), strings.Compare(a.Name, b.Name))
	})
	return soon, undated, len(seen)
}

// room is backups, jobs and room.
func (f *facts) room() (r day.Room) {
	r.Late, r.InTime, r.Untold = f.lateBackups()
	r.LateAll = len(r.Late)
	r.Late = r.Late[:min(r.LateAll, day.MostRoom)]
	for _, a := range f.alerts {
		if a.Rule == jobsRule {
			r.Jobs = append(r.Jobs, day.Job{Server: f.serverOf(a), Title: f.titleOf(a), At: a.RaisedAt})
		}
	}
	r.JobsAll = len(r.Jobs)
	slices.Reverse(r.Jobs)
	r.Jobs = r.Jobs[:min(r.JobsAll, day.MostJobs)]
	r.Full, r.NoDate, r.Measured = f.fills()
	r.FullAll = len(r.Full)
	r.Full, r.NoDate = r.Full[:min(r.FullAll, day.MostRoom)], r.NoDate[:min(len(r.NoDate), day.MostJobs)]
	return r
}
