package demo

import (
	"math"
	"time"

	"muster/internal/measurements"
	"muster/internal/operate/demo/inspected"
)

// sessions is a look at the sessions of a database.
func (a *agent) sessions(d *database, at time.Time) measurements.SessionSample {
	minute := minuteOf(at)
	seed := func(what string) chance { return newChance(a.Name, d.name, what) }
	load := a.load(at) * (0.7 + 0.6*seed("sessions").drift(minute, 10))
	pool := a.Pool * d.size
	for _, held := range d.strains {
		pool *= held.folded(at)
	}
	s := measurements.SessionSample{
		Instance: a.instance, Engine: a.Engine, Database: d.id, At: at, Interval: agentInterval,
		Active:            seed("active").whole(minute, 0.14*pool*load),
		Waiting:           seed("waiting").whole(minute, 0.08*pool*load),
		IdleInTransaction: seed("transaction").whole(minute, 0.03*pool*load),
		Other:             seed("other").whole(minute, 0.1),
		Waits:             map[string]int64{},
		Deadlocks:         a.deadlocks(d, at),
	}
	s.Idle = max(1, int64(pool)-s.Active-s.Waiting-s.IdleInTransaction)
	who := a.doings(d, at)
	for n := range s.Active {
		who.session(measurements.OnCPU, "", "", n)
	}
	if kinds := busyWaits[a.Engine]; kinds != nil {
		for n := range s.Waiting {
			draw := seed("wait").draw(minute*1000 + n)
			wait := kinds[int(draw*float64(len(kinds)))]
			s.Waits[wait]++
			who.session(measurements.Waits, wait, "", 300+n)
		}
	}
	for _, held := range d.strains {
		strength := held.strength(at)
		locked := int64(math.Round(held.strain.Locked * strength * (0.9 + 0.2*seed("storm").draw(minute))))
		s.Waiting += locked
		if wait := lockWait[a.Engine]; wait != "" && locked > 0 {
			s.Waits[wait] += locked
			for n := range locked {
				who.session(measurements.Waits, wait, stormEvents[a.Engine], 600+n)
			}
		}
		if strength > 0 {
			s.IdleInTransaction += int64(held.strain.Open)
		}
	}
	s.Idle += a.crowding(d, at, s.Active+s.Waiting+s.IdleInTransaction+s.Idle+s.Other)
	if wait := idleWait[a.Engine]; wait != "" {
		s.Waits[wait] += s.Idle
		who.idle(wait, s.Idle)
	}
	s.Doing = who.all()
	return s
}

// crowding is how many sessions more a database has, for as many as alerts say that the server has.
func (a *agent) crowding(d *database, at time.Time, usual int64) int64 {
	used := usual
	for _, c := range a.crowds {
		if c.mount == connected {
			percent := a.percentOf(d)
			used = max(used, int64(math.Ceil(c.used(at, float64(used)/percent)*percent-1e-6)))
		}
	}
	return used - usual
}

// percentOf is how many sessions are a percent of a database's share in those that the server admits.
func (a *agent) percentOf(d *database) float64 {
	var sizes float64
	for i := range a.databases {
		sizes += a.databases[i].size
	}
	return float64(inspected.Of(a.Name).MaxConnections()) / 100 * d.size / sizes
}
