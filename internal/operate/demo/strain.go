package demo

import (
	"slices"
	"time"

	"muster/domain/fleet"
	"muster/domain/instant"
)

// Where the full disk is, and the rule of the incident that says so.
const (
	fullServer, fullMount, fullRule = "demo-mssql-erp-01", "D:", "full-disk"
	// fills is how long before it was full something began to fill it.
	fills = 10 * time.Hour
)

// crowded are the rules whose alerts say that a volume is fuller than it should be,
// and how full it then is.
var crowded = []struct {
	engine fleet.Engine
	rule   string
	mount  string // empty: the last one of the server, which has the data
	to     float64
}{
	{fleet.PostgreSQL, "data-volume", "", 92},
	{fleet.SQLServer, "volume", "E:", 92},
	{fleet.MongoDB, "volume", "", 91},
	{fleet.MySQL, "binary-logs", "/", 87},
	{fleet.PostgreSQL, "replication-lag", lagged, 61},
	{fleet.PostgreSQL, "connections", connected, 86},
}

// lagged stands for a volume: what fills are seconds of replication lag. lagging are the incidents that say so.
const lagged = "lag"

var lagging = map[string]float64{"lock-storm-lag": 905, "ongoing-lag": 61}

// connected stands for a volume, too: what fills are the connections that a server admits.
const (
	connected      = "connections"
	connecting     = "lock-storm-connections" // the incidents that say so
	connectedTo    = 96
	connectsWithin = 10 * time.Minute
)

// crowds is how long a volume takes to get there.
const crowds = 2 * time.Hour

// crowd is when a volume is so full, how full, and how long it took to get there.
type crowd struct {
	between
	mount string
	to    float64
	takes time.Duration
}

// crowdsOf are those of a server between two times: when its alerts of the rules above are
// open, of an organization made at that time.
func crowdsOf(made time.Time, s server, from, to time.Time) []crowd {
	since := instant.Later(made.AddDate(0, 0, -alertDays), from.Add(-4*day)) // none of them lasts longer
	var of []crowd
	for _, c := range crowded {
		mount := c.mount
		if mount == "" {
			mount = s.Volumes[len(s.Volumes)-1].Mount
		}
		for _, r := range rules()[c.engine] {
			if c.engine != s.Engine || c.rule != r.ID {
				continue
			}
			for _, e := range r.raise(s.Name, "", since, to.Add(crowds)) {
				of = append(of, crowd{e.between, mount, c.to, crowds})
			}
		}
	}
	for _, e := range scripted(made) {
		if lagging[e.rule] > 0 && e.server == s.Name {
			of = append(of, crowd{e.between, lagged, lagging[e.rule], crowds})
		}
		if e.rule == connecting && e.server == s.Name {
			of = append(of, crowd{e.between, connected, connectedTo, crowds})
		}
	}
	for i := range of {
		switch of[i].mount {
		case lagged: // which grows by a second in a second at most
			of[i].takes = time.Duration(1.05*of[i].to) * time.Second
		case connected:
			of[i].takes = connectsWithin
		}
	}
	return of
}

// used is how full the volume is at a time at which it would have been as full as usual.
func (c crowd) used(at time.Time, usual float64) float64 {
	if c.has(at) {
		return max(usual, c.to)
	}
	if left := c.starts.Sub(at); left > 0 && left < c.takes && c.to > usual {
		return usual + (c.to-usual)*(1-float64(left)/float64(c.takes))
	}
	return usual
}

// outage is a time of which there are no samples of a host, because its agent was
// off, or of anything: the collector itself was.
type outage struct {
	host   string
	from   time.Duration // after the start of the organization's first day
	length time.Duration
}

var outages = []outage{
	{"", -20*day + 2*time.Hour, 3*time.Hour + 20*time.Minute},
	{"win02", -11*day + 13*time.Hour, 9 * time.Hour},
	{"db03", -6*day + 90*time.Minute, 5*time.Hour + 30*time.Minute},
	{"doc01", -3*day + 15*time.Hour, 4 * time.Hour},
}

// lastOutage is one that somebody can look at who sees the last day first: it is
// counted from the minute.
var lastOutage = outage{"db04", -7*time.Hour - 40*time.Minute, 95 * time.Minute}

// folded is how many times the sessions and calls of a database there are at a time.
func (e episode) folded(at time.Time) float64 {
	if e.strain.Folded > 0 && e.has(at) {
		return e.strain.Folded
	}
	return 1
}

// gone says whether the server is, at a time.
func (a *agent) gone(at time.Time) bool {
	return slices.ContainsFunc(a.down, func(b between) bool { return b.has(at) })
}

// between is when something takes place.
type between struct{ starts, ends time.Time }

func (b between) has(at time.Time) bool { return !at.Before(b.starts) && at.Before(b.ends) }

// swells is how long an incident takes to reach its full size, and to go.
const swells = 6 * time.Minute

// strength is how much of an incident there is at a time, from 0 to 1.
func (b between) strength(at time.Time) float64 {
	if !b.has(at) {
		return 0
	}
	edge := min(at.Sub(b.starts), b.ends.Sub(at))
	return min(1, float64(edge)/float64(min(swells, b.ends.Sub(b.starts)/2)))
}
