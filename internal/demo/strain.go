package demo

import (
	"time"

	"muster/domain/fleet"
)

// strain is what an incident does to the database that it is about.
type strain struct {
	server, database, rule string // of the incident
	locked                 float64
	slower                 float64 // statements take so many times longer; 0: they do not
	left                   float64 // share of the calls that are still made; 0: all
	open                   float64 // transactions that nobody ends
}

// strains say in figures what the titles of the incidents say in words.
var strains = []strain{
	{"demo-pg-orders-01", "orders", "lock-storm", 40, 0, 0.35, 0},
	{"demo-pg-orders-01", "orders", "lock-storm-latency", 0, 20, 0, 0},
	{"demo-pg-orders-01", "orders_archive", "lock-storm", 12, 5, 0.6, 0},
	{"demo-pg-orders-02", "orders", "lock-storm", 4, 3, 0.8, 0},
	{"demo-pg-billing-01", "billing", "lock-storm", 25, 0, 0.4, 0},
	{"demo-pg-billing-01", "billing", "lock-storm-latency", 0, 12, 0, 0},
	{"demo-pg-billing-01", "ledger", "lock-storm", 9, 4, 0.7, 0},
	{"demo-pg-identity-01", "identity", "lock-storm", 31, 0, 0.3, 0},
	{"demo-pg-identity-01", "identity", "lock-storm-latency", 0, 60, 0, 0},
	{"demo-pg-legacy-01", "crm", "lock-storm", 8, 4, 0.7, 0},
	{"demo-pg-legacy-01", "crm_reporting", "lock-storm", 3, 2, 0.8, 0},
	{"demo-mssql-erp-01", "ERP", "lock-storm-import", 2, 3, 0, 0},
	{"demo-mssql-erp-01", "ERP", "full-disk-log", 18, 9, 0.1, 0},
	{"demo-mssql-erp-01", "ERP_Archive", "full-disk-log", 3, 4, 0.3, 0},
	{"demo-mssql-erp-02", "ERP", "full-disk-replica", 5, 2, 0.5, 0},
	{"demo-pg-billing-01", "ledger", "ongoing-transaction", 0, 0, 0, 1},
}

// fullVolume is where the full disk is.
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
}

// crowds is how long a volume takes to get there.
const crowds = 2 * time.Hour

// crowd is when a volume is so full, and how full.
type crowd struct {
	between
	mount string
	to    float64
}

// crowdsOf are those of a server between two times: when its alerts of the rules above are
// open, of an organization made at that time.
func crowdsOf(made time.Time, w workload, engine fleet.Engine, from, to time.Time) []crowd {
	since := made.AddDate(0, 0, -alertDays)
	if longAgo := from.Add(-4 * day); longAgo.After(since) { // none of them lasts longer
		since = longAgo
	}
	var of []crowd
	for _, c := range crowded {
		mount := c.mount
		if mount == "" {
			mount = w.volumes[len(w.volumes)-1].mount
		}
		for _, r := range rules()[c.engine] {
			if c.engine != engine || c.rule != r.ID {
				continue
			}
			for _, e := range r.raise(w.server, "", since, to.Add(crowds)) {
				of = append(of, crowd{between{e.starts, e.ends}, mount, c.to})
			}
		}
	}
	return of
}

// used is how full the volume is at a time at which it would have been as full as usual.
func (c crowd) used(at time.Time, usual float64) float64 {
	if c.has(at) {
		return max(usual, c.to)
	}
	if left := c.from.Sub(at); left > 0 && left < crowds && c.to > usual {
		return usual + (c.to-usual)*(1-float64(left)/float64(crowds))
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

// between is when something takes place.
type between struct{ from, to time.Time }

func (b between) has(at time.Time) bool { return !at.Before(b.from) && at.Before(b.to) }

// swells is how long an incident takes to reach its full size, and to go.
const swells = 6 * time.Minute

// strength is how much of an incident there is at a time, from 0 to 1.
func (b between) strength(at time.Time) float64 {
	if !b.has(at) {
		return 0
	}
	edge := min(at.Sub(b.from), b.to.Sub(at))
	return min(1, float64(edge)/float64(min(swells, b.to.Sub(b.from)/2)))
}

// story is when an incident of an organization made at that time takes place; zero
// where there is none.
func story(made time.Time, server, database, rule string) between {
	for _, e := range scripted(made) {
		if e.server == server && e.database == database && e.rule == rule {
			return between{e.starts, e.ends}
		}
	}
	return between{}
}
