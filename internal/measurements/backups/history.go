package backups

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/postgres/statement"
)

// Ends are the times at which a database got a new time to which it can be restored, oldest first. The
// first one is the end of a whole backup. They are the starts of minutes.
type Ends struct {
	Instance, Database uuid.UUID // a database of zeros: the whole server
	Times              []time.Time
}

type dayRow struct {
	Instance uuid.UUID `db:"instance_id"`
	Database uuid.UUID `db:"database_id"`
	Whole    bool
	Day      time.Time
	Minutes  minutes
}

type minutes []int

// Scan implements sql.Scanner.
func (m *minutes) Scan(src any) error { return statement.ScanJSON(src, (*[]int)(m)) }

// EndsOf returns the ends of backups of the instances in scope between two times. A database has those
// of the whole server, too.
func EndsOf(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, scope fleet.Scope, from, to time.Time) ([]Ends, error) {
	rows, err := statement.All[dayRow](ctx, q, "read when backups ended", daysQuery, organization, scope.Filtered, statement.IDs(scope.Instances), from.UTC(), to.UTC())
	if err != nil {
		return nil, err
	}
	type end struct {
		at    time.Time
		whole bool
	}
	type place struct{ instance, database uuid.UUID }
	all, order := map[place][]end{}, []place(nil)
	for _, row := range rows {
		at := place{row.Instance, row.Database}
		if all[at] == nil {
			order = append(order, at)
		}
		for _, m := range row.Minutes {
			all[at] = append(all[at], end{row.Day.UTC().Add(time.Duration(m) * time.Minute), row.Whole})
		}
	}
	var found []Ends
	for _, at := range order {
		ends := all[at]
		if at.database != uuid.Nil {
			ends = slices.Concat(ends, all[place{instance: at.instance}])
		}
		slices.SortFunc(ends, func(a, b end) int { return a.at.Compare(b.at) })
		of := Ends{Instance: at.instance, Database: at.database}
		for _, e := range ends {
			if e.whole || len(of.Times) > 0 {
				of.Times = append(of.Times, e.at)
			}
		}
		found = append(found, of)
	}
	return found, nil
}

// Greatest is the greatest age between two times; known is false if nothing ended before from, and
// then the age is that of the known part.
func (e *Ends) Greatest(from, to time.Time) (age time.Duration, known bool) {
	i, _ := slices.BinarySearchFunc(e.Times, from, func(t, from time.Time) int {
		if t.After(from) {
			return 1
		}
		return -1
	})
	var last time.Time
	if known = i > 0; known {
		last = e.Times[i-1]
	}
	for _, t := range e.Times[i:] {
		if t.After(to) {
			break
		}
		if !last.IsZero() {
			age = max(age, t.Sub(last))
		}
		last = t
	}
	if !last.IsZero() {
		age = max(age, to.Sub(last))
	}
	return age, known
}

// Day is how old the backups of a server became on a day in UTC.
type Day struct {
	Start    time.Time
	Greatest *time.Duration // of the worst database; nil: nothing is known
	Known    bool           // of all databases, for the whole day
}

// Kept is whether no database was older than a limit; known is false if that cannot be told.
func (d *Day) Kept(limit time.Duration) (kept, known bool) {
	if d.Greatest != nil && *d.Greatest > limit {
		return false, true
	}
	return d.Known, d.Known
}

// DaysOf returns the days from one to another, the last one up to a time, from the ends of a server's backups.
// born is since when there is a database: it does not count on days before that. none are databases
// without any backup, each with the time since when that is known.
func DaysOf(ends []Ends, born map[uuid.UUID]time.Time, none []time.Time, from, to time.Time) (days []Day) {
	const length = 24 * time.Hour
	for start := from.UTC().Truncate(length); start.Before(to); start = start.Add(length) {
		end := start.Add(length)
		if end.After(to) {
			end = to
		}
		day, counts := Day{Start: start, Known: true}, 0
		add := func(age time.Duration) {
			if day.Greatest == nil || age > *day.Greatest {
				day.Greatest = &age
			}
		}
		for i := range ends {
			began := start
			if b := born[ends[i].Database]; b.After(began) {
				began = b
			}
			if !began.Before(end) {
				continue
			}
			counts++
			age, known := ends[i].Greatest(began, end)
			if known || age > 0 {
				add(age)
			}
			day.Known = day.Known && known
		}
		for _, since := range none {
			if since.Before(end) {
				counts++
				add(end.Sub(since))
			}
		}
		day.Known = day.Known && counts > 0
		days = append(days, day)
	}
	return days
}
