package daily

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"muster/internal/measurements/room"
	"muster/internal/report/serverfacts"
	"muster/internal/report/snapshot/day"
	"muster/internal/watch"
)

const (
	certificateRule = string(watch.Certificate)
	jobsRule        = string(watch.FailedJobs)

	soonFull   = 14.0 // days
	urgentFull = 7.0
	sizesEach  = 20 // things of one kind of a server or host
)

// readBackups reads how backups stood at the end of the day.
func (r *Reader) readBackups(ctx context.Context, f *facts) (err error) {
	servers := make([]serverfacts.Server, len(f.Servers))
	for i, s := range f.Servers {
		servers[i] = serverfacts.Server{ID: s.ID, Tags: s.Tags, Databases: s.Databases}
	}
	f.backups, err = r.source().BackupsBefore(ctx, f.Organization, servers, f.To)
	return err
}

func (r *Reader) source() serverfacts.Source {
	return serverfacts.Source{DB: r.DB, Accounts: r.Accounts}
}

// lateBackups are the backups that are older than their objective, the oldest first.
func (f *facts) lateBackups() (late []day.Backup, inTime, untold int) {
	for _, s := range f.Servers {
		old, young, _ := f.backups[s.ID].Count(s.Name)
		late, inTime = append(late, old...), inTime+young
		if len(old)+young == 0 {
			untold++
		}
	}
	slices.SortStableFunc(late, func(a, b day.Backup) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), strings.Compare(a.Server, b.Server), strings.Compare(a.Database, b.Database))
	})
	return late, inTime, untold
}

// readRoom reads how sizes grew until the end of the day.
func (r *Reader) readRoom(ctx context.Context, f *facts) (err error) {
	f.sizes, err = r.source().Sizes(ctx, f.Organization, f.ids(), f.To.Add(-room.Lookback), f.To, sizesEach)
	return err
}

// fills are the things that are full soon, the first first, and those that are nearly full without a date.
func (f *facts) fills() (soon, undated []day.Fill, measured int) {
	seen := map[string]bool{}
	for _, s := range f.sizes {
		fill, ok := f.fill(s)
		if !ok {
			continue
		}
		seen[s.Subject] = true
		switch {
		case fill.Days != nil && *fill.Days <= soonFull:
			soon = append(soon, fill)
		case fill.Days == nil && fill.Percent >= serverfacts.NearlyFull:
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

// fill is how full something was at the end of the day, with the server or host that it is on.
func (f *facts) fill(s serverfacts.Sized) (day.Fill, bool) {
	fill, ok := s.Fill(f.To)
	if s.Host == "" {
		fill.On = f.named(s.Servers[0]).Name
	}
	return fill, ok
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
