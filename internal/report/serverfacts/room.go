package serverfacts

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/timegrid"
	"muster/internal/measurements/forecast"
	"muster/internal/measurements/room"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis/window"
	"muster/internal/report/snapshot/day"
	"muster/internal/watch"
)

const (
	// sizesEach is how many volumes of a host, and tablespaces of a server, are looked at: those that use most.
	sizesEach = 50
	// staleSize is how old the newest size of something may be that is measured.
	staleSize = 48 * time.Hour
	// NearlyFull is from how many percent on something is worth a line that has no date when it is full.
	NearlyFull = 90.0
	// imported is how far back the utilization of hosts is read whose volumes have no history.
	imported = 31 * 24 * time.Hour
)

// Sized is something that has a size, with its history and the servers that use it.
type Sized struct {
	room.History
	Host    string // empty: the server itself tells of it
	Servers []uuid.UUID
}

// Sizes are how sizes of servers and of their hosts' volumes grew from a time until before another one, of each kind the
// most that use most. What has no value in that time is left out.
func (s Source) Sizes(ctx context.Context, organization uuid.UUID, servers []uuid.UUID, from, until time.Time, most int) ([]Sized, error) {
	hosts, err := watch.HostsOf(ctx, s.DB, organization, servers)
	if err != nil {
		return nil, err
	}
	var subjects []string
	where := map[string]Sized{}
	add := func(subject, host string, server uuid.UUID) {
		at, there := where[subject]
		if !there {
			subjects = append(subjects, subject)
		}
		where[subject] = Sized{Host: host, Servers: append(at.Servers, server)}
	}
	for _, id := range servers {
		add(room.InstanceSubject(id), "", id)
	}
	hostsOf := map[string][]string{}
	for _, h := range hosts {
		add(room.HostSubject(h.Host), h.Host, h.Instance)
		own := room.InstanceSubject(h.Instance)
		hostsOf[own] = append(hostsOf[own], room.HostSubject(h.Host))
	}
	histories, err := room.Histories(ctx, s.DB, organization, subjects, from, most)
	if err != nil {
		return nil, err
	}
	sizes := make([]Sized, 0, len(histories))
	for _, h := range room.Distinct(histories, hostsOf) {
		h.Points = slices.DeleteFunc(h.Points, func(p forecast.Point) bool { return !p.At.Before(until) })
		if len(h.Points) > 0 {
			of := where[h.Subject]
			of.History = h
			sizes = append(sizes, of)
		}
	}
	return sizes, nil
}

// Fill is how full it was at a time, and when it is full; ok is false if nothing limits it, or if it was not measured any
// more.
func (s Sized) Fill(at time.Time) (fill day.Fill, ok bool) {
	last := s.Points[len(s.Points)-1]
	if last.Size <= 0 || at.Sub(last.At) > staleSize {
		return fill, false
	}
	return fillOf(s.Name, s.Host, 100*last.Used/last.Size, forecast.Of(s.Points, at)), true
}

func fillOf(name, on string, percent float64, is forecast.Forecast) day.Fill {
	fill := day.Fill{Name: name, On: on, Percent: tenth(percent)}
	if is.Reason == "" {
		days := tenth(is.Days)
		fill.Days = &days
	} else {
		fill.Why = string(is.Reason)
	}
	return fill
}

func tenth(x float64) float64 { return math.Round(10*x) / 10 }

// addRoom adds what is full first of the volumes and tablespaces of servers, and what has no date beside it.
func (s Source) addRoom(ctx context.Context, organization uuid.UUID, instances []snapshot.Instance, at time.Time, all map[uuid.UUID]*snapshot.Server) error {
	ids := make([]uuid.UUID, len(instances))
	for i, in := range instances {
		ids[i] = in.ID
	}
	sizes, err := s.Sizes(ctx, organization, ids, at.Add(-room.Lookback), at.Add(time.Nanosecond), sizesEach)
	if err != nil {
		return err
	}
	fills, short, told := map[uuid.UUID][]day.Fill{}, map[uuid.UUID][]day.Fill{}, map[uuid.UUID]bool{}
	for _, of := range sizes {
		fill, ok := of.Fill(at)
		if !ok {
			continue
		}
		for _, id := range of.Servers {
			if of.Kind == room.Volume && fill.Why == string(forecast.TooShort) {
				short[id] = append(short[id], fill)
				continue
			}
			told[id] = told[id] || of.Kind == room.Volume
			fills[id] = append(fills[id], fill)
		}
	}
	for i := range instances {
		id := instances[i].ID
		if !told[id] {
			fill, ok, err := s.fullest(ctx, organization, instances[i], at)
			if err != nil {
				return err
			}
			if ok {
				short[id] = []day.Fill{fill}
			}
		}
		all[id].Room, all[id].Undated = firstOf(append(fills[id], short[id]...))
	}
	return nil
}

// fullest is the fullest volume of the hosts of a server, whichever it was in each hour.
func (s Source) fullest(ctx context.Context, organization uuid.UUID, in snapshot.Instance, at time.Time) (fill day.Fill, ok bool, err error) {
	hours := timegrid.Window{From: at.Add(-imported), To: at, Size: timegrid.Hour}
	u, err := s.Measurements.Utilization(ctx, organization, HostsOf(in), hours)
	if err != nil {
		return fill, false, err
	}
	is := window.Fullest(hours.Start(), figures(u.DiskPercent))
	if is.Until.IsZero() || at.Sub(is.Until) > staleSize {
		return fill, false, nil
	}
	return fillOf("the fullest volume", "", is.Level, is.Forecast), true, nil
}

// firstOf is what is full first, or without any date the fullest, and beside it the fullest one without a date if it is
// nearly full.
func firstOf(all []day.Fill) (first, undated *day.Fill) {
	if len(all) == 0 {
		return nil, nil
	}
	soonest := slices.MinFunc(all, func(a, b day.Fill) int { return cmp.Or(cmp.Compare(days(a), days(b)), fuller(a, b)) })
	for i, fill := range all {
		if fill.Days == nil && fill.Percent >= NearlyFull && soonest.Days != nil && (undated == nil || fuller(fill, *undated) < 0) {
			undated = &all[i]
		}
	}
	return &soonest, undated
}

func days(f day.Fill) float64 {
	if f.Days == nil {
		return math.Inf(1)
	}
	return *f.Days
}

// fuller compares what is without a date: first what nobody can tell, then the fullest.
func fuller(a, b day.Fill) int {
	told := func(f day.Fill) int {
		if window.Told(f) {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(told(a), told(b)), cmp.Compare(b.Percent, a.Percent), strings.Compare(a.Name, b.Name), strings.Compare(a.On, b.On))
}
