package servicerecords_test

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/objective"
	"muster/domain/team"
	"muster/internal/measurements"
	"muster/internal/report/snapshot"
)

// reference computes the records of a world minute by minute, from what was drawn alone.
func reference(w *world) *snapshot.ServiceRecords {
	out := &snapshot.ServiceRecords{BudgetTo: w.window.To, Changed: []time.Time{}, Servers: []snapshot.ServiceServer{}, Rooms: []snapshot.ServiceRoom{}}
	if f := w.window.From.UTC(); f.Day() == 1 && f.Hour() == 0 && f.Minute() == 0 {
		out.BudgetTo = time.Date(f.Year(), f.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	}
	var list []objective.Objective
	for _, v := range w.objectives {
		if v.from.Before(w.window.To) {
			list = v.list
			if !v.from.Before(w.window.From) {
				out.Changed = append(out.Changed, v.from)
			}
		}
	}
	servers := w.servers
	if !w.whole {
		servers = servers[:(len(servers)+1)/2]
	}
	for _, s := range servers {
		if one, there := w.server(s, list); there {
			out.Servers = append(out.Servers, one)
			if grown, ok := w.room(s); ok {
				out.Rooms = append(out.Rooms, grown)
			}
		}
	}
	slices.SortFunc(out.Servers, byName)
	out.RoomsSeen = len(out.Rooms)
	w.cost(out)
	return out
}

// at is what the log says of a server just before a time.
type said struct {
	name               string
	tags               map[string]string
	known, off, gone   bool
	goneAt, registered time.Time
}

func (w *world) said(id uuid.UUID, before time.Time) (s said) {
	s.tags = map[string]string{}
	for _, f := range w.facts {
		if f.stream != id || !f.at.Before(before) {
			continue
		}
		switch e := f.event.(type) {
		case fleet.InstanceRegistered:
			s.known, s.name, s.registered = true, e.Name, f.at
		case fleet.InstanceChanged:
			s.name = e.Name
		case fleet.InstanceTagged:
			s.tags["env"] = e.Set["env"]
		case fleet.InstanceDeactivated:
			s.off = true
		case fleet.InstanceActivated:
			s.off = false
		case fleet.InstanceRemoved:
			s.gone, s.goneAt = true, f.at
		}
	}
	return s
}

func selects(s team.Selector, id uuid.UUID, env string) bool {
	if len(s.Tags) == 0 && len(s.InstanceIDs) == 0 {
		return true
	}
	return slices.Contains(s.InstanceIDs, id) || slices.Contains(s.Tags["env"], env)
}

// covered says whether a maintenance window is about a server in the minute that begins at a time.
func (w *world) covered(id uuid.UUID, env string, at time.Time) bool {
	return slices.ContainsFunc(w.windows, func(v version) bool {
		return !at.Before(v.from) && (v.until == nil || at.Before(*v.until)) && !at.Before(*v.terms.From) && at.Before(*v.terms.To) && selects(v.terms.Selector, id, env)
	})
}

// states of a minute.
const (
	isUp = iota
	isDown
	isUnknown
	isCovered
	isOff
)

func (w *world) state(s *drawnServer, env string, at time.Time) int {
	if now := w.said(s.id, at.Add(1)); now.off || now.gone {
		return isOff
	}
	if w.covered(s.id, env, at) {
		return isCovered
	}
	for _, span := range s.spans {
		if !at.Before(span.Since) && at.Before(span.Until) {
			if span.Up {
				return isUp
			}
			return isDown
		}
	}
	return isUnknown
}

// server is how a server was in the window; there is false if it does not belong to the report.
func (w *world) server(s *drawnServer, list []objective.Objective) (out snapshot.ServiceServer, there bool) {
	end := w.said(s.id, w.window.To)
	if !end.known {
		return out, false
	}
	env := end.tags["env"]
	out = snapshot.ServiceServer{ID: s.id, Name: end.name, Engine: string(fleet.PostgreSQL), From: w.window.From, To: w.window.To,
		Outages: []snapshot.ServiceOutage{}, Gaps: []snapshot.Window{}, Covered: []snapshot.Window{}}
	if s.created.After(out.From) {
		out.From, out.Joined = s.created, &s.created
	}
	if s.created.Equal(w.window.From) {
		out.Joined = &s.created
	}
	if end.gone && !end.goneAt.Before(w.window.From) {
		out.Left = &end.goneAt
	}
	minutes, was := map[int]int{}, -1
	for at := out.From; at.Before(out.To); at = at.Add(time.Minute) {
		state := w.state(s, env, at)
		minutes[state]++
		next := at.Add(time.Minute)
		switch state {
		case isDown:
			if was != isDown {
				out.Outages = append(out.Outages, snapshot.ServiceOutage{From: at})
			}
			last := &out.Outages[len(out.Outages)-1]
			last.To, last.Ongoing = next, next.Equal(out.To)
		case isUnknown:
			if was != isUnknown {
				out.Gaps = append(out.Gaps, snapshot.Window{From: at})
			}
			out.Gaps[len(out.Gaps)-1].To = next
		case isCovered:
			if was != isCovered {
				out.Covered = append(out.Covered, snapshot.Window{From: at})
			}
			out.Covered[len(out.Covered)-1].To = next
		}
		was = state
	}
	of := func(state int) time.Duration { return time.Duration(minutes[state]) * time.Minute }
	out.Up, out.Down, out.Unknown, out.Maintenance, out.Off = of(isUp), of(isDown), of(isUnknown), of(isCovered), of(isOff)
	out.OutageN, out.GapN, out.CoveredN = len(out.Outages), len(out.Gaps), len(out.Covered)
	for i := range out.Outages {
		w.notice(s.id, &out.Outages[i])
	}
	for _, o := range list {
		if selects(o.Selector, s.id, env) {
			out.ObjectivePercent, out.ObjectiveMs = o.AvailabilityPercent, o.LatencyMs
			break
		}
	}
	w.latency(s, env, &out)
	return out, !w.whole || out.Off < out.To.Sub(out.From)
}

// notice finds the first alert of an outage.
func (w *world) notice(id uuid.UUID, o *snapshot.ServiceOutage) {
	for _, f := range w.facts {
		e, raised := f.event.(alert.Raised)
		if !raised || e.Rule.ID != "down" || e.InstanceID != id && !slices.Contains(e.OtherInstanceIDs, id) {
			continue
		}
		if f.at.Before(o.From) || f.at.After(o.To) || !f.at.Before(w.window.To) || f.at.Before(w.window.From) {
			continue
		}
		o.SeenAt = &f.at
		for _, g := range w.facts {
			if _, taken := g.event.(alert.Acknowledged); taken && g.stream == f.stream && g.at.Before(w.window.To) {
				o.TakenAt = &g.at
			}
		}
		return
	}
}

func (w *world) latency(s *drawnServer, env string, out *snapshot.ServiceServer) {
	var ms, calls float64
	hours, executed := 0, 0
	for hour := out.From.Truncate(time.Hour); hour.Before(out.To.Truncate(time.Hour)); hour = hour.Add(time.Hour) {
		counts := true
		for at := hour; at.Before(hour.Add(time.Hour)); at = at.Add(time.Minute) {
			if !at.Before(out.From) && (w.state(s, env, at) == isCovered || w.state(s, env, at) == isOff) {
				counts = false
			}
		}
		if !counts {
			continue
		}
		hours++
		n := 0.0
		for _, e := range s.executed {
			if e.hour.Equal(hour) {
				n += float64(e.calls)
				ms += e.ms
			}
		}
		if calls += n; n > 0 {
			executed++
		}
	}
	if calls > 0 {
		mean := ms / calls
		out.MeanMs, out.Coverage = &mean, float64(executed)/float64(hours)
	}
}

func (w *world) room(s *drawnServer) (out snapshot.ServiceRoom, ok bool) {
	out = snapshot.ServiceRoom{InstanceID: s.id, Kind: "database", Name: "sales", Limit: 4e9, Reason: "tooShort"}
	for _, size := range s.sizes {
		if size.at.Before(w.window.From) || !size.at.Before(w.window.To) {
			continue
		}
		if !ok {
			out.First, out.FirstUsed, ok = size.at, size.used, true
		}
		out.Last, out.LastUsed = size.at, size.used
	}
	return out, ok
}

// cost sums up statements over the whole hours that the window touches.
func (w *world) cost(out *snapshot.ServiceRecords) {
	from, to := w.window.From.Truncate(time.Hour), w.window.To.Truncate(time.Hour)
	if to.Before(w.window.To) {
		to = to.Add(time.Hour)
	}
	st := &out.Statements
	st.From, st.To, st.Missing, st.Listed = from, to, snapshot.ServiceNotMeasured, []snapshot.ServiceStatement{}
	var all []snapshot.ServiceStatement
	for _, s := range w.servers {
		if !slices.ContainsFunc(out.Servers, func(one snapshot.ServiceServer) bool { return one.ID == s.id }) {
			continue
		}
		sums := map[string]*snapshot.ServiceStatement{}
		for _, e := range s.executed {
			if e.hour.Before(from) || !e.hour.Before(to) {
				continue
			}
			if sums[e.key] == nil {
				id := measurements.StatementRef{Instance: s.id, Hash: measurements.HashStatement(s.database, e.key)}.ID()
				sums[e.key] = &snapshot.ServiceStatement{ID: id, InstanceID: s.id, Text: "SELECT " + e.key}
			}
			sums[e.key].Calls += float64(e.calls)
			sums[e.key].TotalMs += e.ms
		}
		for _, one := range sums {
			all = append(all, *one)
			st.TotalMs += one.TotalMs
			st.Missing = ""
		}
	}
	slices.SortFunc(all, func(a, b snapshot.ServiceStatement) int {
		return cmp.Or(cmp.Compare(b.TotalMs, a.TotalMs), cmp.Compare(a.ID.String(), b.ID.String()))
	})
	st.Count = len(all)
	st.Listed = append(st.Listed, all[:min(len(all), 10)]...)
}

// near compares figures that are added up in another order.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }
