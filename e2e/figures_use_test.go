package e2e

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"muster/internal/cli/installation"
)

// drawnAlert is an alert of the server of the scorecard.
type drawnAlert struct {
	severity, title string
	created         time.Time
	resolved        time.Time // zero: it is open
	muted           bool
}

// measured is what is known of the host of that server.
type measured struct {
	cpu, memory, disk []float64 // by hour
	first             time.Time
	perDay            float64 // growth of the disk
}

const day24 = 24 * time.Hour

// drawUse draws what happened on a server: its alerts, and 12 days of measurements.
func (d *drawn) drawUse() {
	titles := [][2]string{{"critical", "Base backup is late"}, {"warning", "Replication lag above 60 seconds"}, {"warning", "Many dead rows"}, {"info", "Idle in transaction"}}
	for n := range 9 + d.IntN(6) {
		t := one(d.Rand, titles...)
		a := drawnAlert{severity: t[0], title: t[1], created: d.now.Add(-time.Duration(3*60+d.IntN(40*24*60)) * time.Minute), muted: n == 0}
		if d.IntN(6) > 0 {
			a.resolved = a.created.Add(time.Duration(1+d.IntN(150)) * time.Minute)
		}
		d.alerts = append(d.alerts, a)
	}
	m := &d.host
	m.first = d.now.Truncate(day24).AddDate(0, 0, -12)
	m.perDay = 0.4 + float64(d.IntN(40))/10 // up to 4.3 points a day, that is full within a week
	base := 40.37 + float64(d.IntN(8))      // so that no day ends as it is full
	for hour := range 12 * 24 {
		m.cpu = append(m.cpu, float64(5+d.IntN(90)))
		m.memory = append(m.memory, float64(30+d.IntN(60)))
		m.disk = append(m.disk, base+m.perDay*float64(hour/24))
	}
}

// use sends it.
func (d *drawn) use() {
	d.Helper()
	s := d.subject
	var alerts []map[string]any
	for i, a := range d.alerts {
		item := map[string]any{"externalId": fmt.Sprint("a", i), "title": a.title, "severity": a.severity, "state": "Open", "isMuted": a.muted, "createdAt": a.created, "firstTriggeredAt": a.created, "lastTriggeredAt": a.created, "instance": s.name}
		if !a.resolved.IsZero() {
			item["state"], item["resolvedAt"] = "Resolved", a.resolved
		}
		alerts = append(alerts, item)
	}
	d.ana.call(d.T, http.StatusOK, http.MethodPost, "/ingest/v1/alerts", map[string]any{"alerts": alerts}, nil)
	var hosts []map[string]any
	for hour := range d.host.cpu {
		hosts = append(hosts, map[string]any{
			"host": "host-" + s.name, "instances": []string{s.name}, "at": d.host.first.Add(time.Duration(hour)*time.Hour + 10*time.Minute), "cpuPercent": d.host.cpu[hour], "memoryPercent": d.host.memory[hour],
			"volumes": []map[string]any{{"mount": "/data", "usedPercent": d.host.disk[hour]}, {"mount": "/", "usedPercent": 20}},
		})
	}
	d.ana.call(d.T, http.StatusAccepted, http.MethodPost, "/ingest/v1/samples", map[string]any{"hosts": hosts}, nil)
	d.backUp()
	d.of.within(d.T, func(ctx context.Context, in *installation.Installation) error {
		_, err := in.Samples.Roll(ctx)
		return err
	})
	eventually(d.T, "the alerts are shown", func() bool {
		var listed struct{ Page struct{ TotalItems int } }
		d.ana.get(d.T, "/api/v1/alerts?pageSize=1&instanceId="+s.id.String(), &listed)
		return listed.Page.TotalItems >= len(d.alerts)
	})
}

// backUp sends the backups of the server: PostgreSQL has one of all databases, the others have one of each. The newest
// one of every second server is older than a day, which is the RPO of all.
func (d *drawn) backUp() {
	d.Helper()
	var all []map[string]any
	newest := d.now.AddDate(0, 0, -d.IntN(2)).Add(-time.Duration(len(d.subject.databases)) * time.Hour)
	for n := range 3 {
		d.backedUp = newest.AddDate(0, 0, n-2).Add(-time.Duration(d.IntN(600)) * time.Minute)
		if d.subject.engine == "postgresql" {
			all = append(all, map[string]any{"instance": d.subject.name, "kind": "base", "finishedAt": d.backedUp})
			continue
		}
		for i, db := range d.subject.databases {
			all = append(all, map[string]any{"instance": d.subject.name, "database": db.name, "kind": "full", "finishedAt": d.backedUp.Add(time.Duration(i) * time.Hour)})
		}
	}
	d.ana.call(d.T, http.StatusAccepted, http.MethodPost, "/ingest/v1/backups", map[string]any{"backups": all}, nil)
}

// facts are what page 1 says of the server.
func (p *paper) facts() {
	s, section := p.about, "1"
	if !strings.Contains(p.sections["1"], "Server Version ") {
		section = "Overall health"
	}
	title := map[string]string{"postgresql": "PostgreSQL", "sqlserver": "SQL Server", "oracle": "Oracle"}[s.engine]
	p.says("server", section, "Version %s %s Role not known", title, s.version)
	p.says("server", section, "Host host-%s Registered %s", s.name, day(s.registered))
	var size, grown int64
	since := time.Time{}
	for _, db := range s.databases {
		size += db.size
		for look := p.first(s); look < len(p.looks)-1; look++ {
			if at := p.at(s, look); at.After(p.asOf.Add(-30 * day24)) {
				since = at
				grown += db.grows * int64(p.looks[look])
				break
			}
		}
	}
	change := "no change"
	if grown > 0 {
		change = fmt.Sprintf("+%d GB", grown)
	}
	p.says("server", section, "Databases %d, %s (%s since %s)", len(s.databases), sizeWords(size), change, day(since))
	oldest := ""
	if s.engine != "postgresql" && len(s.databases) > 1 {
		oldest = fmt.Sprintf(", the oldest of %d databases", len(s.databases))
	}
	if p.asOf.Sub(p.backedUp) > 24*time.Hour {
		oldest += ", beyond the RPO"
	}
	p.says("server", section, "Last backup %s%s", minute(p.backedUp), oldest)
}

// sizeWords are gigabytes in the largest unit.
func sizeWords(gigabytes int64) string {
	if gigabytes < 1024 {
		return fmt.Sprintf("%d GB", gigabytes)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(gigabytes)/1024), ".0") + " TB"
}

// took writes a duration in its two largest units.
func took(d time.Duration) string {
	minutes := int(d / time.Minute)
	switch days, hours, rest := minutes/1440, minutes/60%24, minutes%60; {
	case days > 0 && hours > 0:
		return fmt.Sprintf("%d d %d h", days, hours)
	case days > 0:
		return fmt.Sprintf("%d d", days)
	case hours > 0 && rest > 0:
		return fmt.Sprintf("%d h %d min", hours, rest)
	case hours > 0:
		return fmt.Sprintf("%d h", hours)
	}
	return fmt.Sprintf("%d min", minutes)
}

// alertCounts are some alerts within the window.
type alertCounts struct {
	touch, raised, resolved, open int
	active                        time.Duration
	median                        string
}

// countAlerts counts minute by minute.
func (p *paper) countAlerts(all []drawnAlert) (c alertCounts) {
	from, to := p.now.AddDate(0, 0, -30), p.now
	var lengths []time.Duration
	minutes := map[int64]bool{}
	for _, a := range all {
		end := a.resolved
		if end.IsZero() {
			end = to
			c.open++
		}
		if !end.After(from) {
			continue
		}
		c.touch++
		if !a.created.Before(from) {
			c.raised++
		}
		if !a.resolved.IsZero() {
			c.resolved++
			lengths = append(lengths, a.resolved.Sub(a.created))
		}
		for at := a.created; at.Before(end); at = at.Add(time.Minute) {
			if !at.Before(from) {
				minutes[at.Unix()/60] = true
			}
		}
	}
	c.active, c.median = time.Duration(len(minutes))*time.Minute, "–"
	if n := len(lengths); n > 0 {
		slices.Sort(lengths)
		c.median = took((lengths[(n-1)/2] + lengths[n/2]) / 2)
	}
	return c
}

// alertHistory are the figures of alerts: of all, by severity and by title.
func (p *paper) alertHistory() {
	const section = "Alert history"
	shown := those(p.alerts, func(a drawnAlert) bool { return !a.muted })
	all := p.countAlerts(shown)
	p.says("alerts", section, "%s raised in the window and %d resolved; %s open at its end. For %s of 30 d", count(all.raised, "alert was", "alerts were"), all.resolved, count(all.open, "was", "were"), took(all.active))
	if all.resolved > 0 {
		p.says("alerts", section, "Half of those resolved took no longer than %s.", strings.TrimSuffix(all.median, "."))
	}
	for severity, of := range different(shown, func(a drawnAlert) string { return a.severity }) {
		if c := p.countAlerts(of); c.touch > 0 {
			p.says("alerts: severities", section, "%s %d %d %d %s %s", strings.ToUpper(severity[:1])+severity[1:], c.raised, c.resolved, c.open, took(c.active), c.median)
		}
	}
	for title, of := range different(shown, func(a drawnAlert) string { return a.title }) {
		if c := p.countAlerts(of); c.touch > 0 {
			p.says("alerts: titles", section, "%s %d %s %s %d", title, c.touch, took(c.active), c.median, c.open)
		}
	}
	if muted := p.alerts[0]; p.countAlerts(p.alerts[:1]).touch > 0 {
		p.says("alerts", section, "Muted alerts « %s", muted.title)
	}
}

// daysUntilFull is when the line of the disk reaches 100: it is level within a day, so its noon counts.
func (p *paper) daysUntilFull() float64 {
	last := p.host.disk[len(p.host.disk)-1]
	noon := p.host.first.AddDate(0, 0, len(p.host.disk)/24-1).Add(12 * time.Hour)
	until := p.host.first.Add(time.Duration(len(p.host.disk)) * time.Hour)
	return (100-last)/p.host.perDay - until.Sub(noon).Hours()/24
}

// utilization are the figures of the host, and when its volume is full.
func (p *paper) utilization() {
	const section = "Resource utilization"
	for _, of := range []struct {
		name   string
		values []float64
	}{{"CPU", p.host.cpu}, {"Memory", p.host.memory}, {"Disk", p.host.disk}} {
		sorted, sum, busy := slices.Sorted(slices.Values(of.values)), 0.0, 0
		for _, v := range sorted {
			sum += v
			if v > 80 {
				busy++
			}
		}
		n := len(sorted)
		p.says("utilization", section, "%s ‹ %.1f%% %s%% %.1f%% %.1f%% %d %d of ‹ %d minutes of %s", of.name, sorted[0], decimal(sum/float64(n)), sorted[int(math.Ceil(0.95*float64(n)))-1], sorted[n-1], busy, n, n, grouped(int64(60*n)))
		if busy > 0 {
			p.says("utilization", section, "%s was above 80%% in %s of %d (‹).", of.name, count(busy, "hour", "hours"), n)
		} else {
			p.says("utilization", section, "%s was never above 80%%.", of.name)
		}
	}
	days := int(math.Ceil(p.daysUntilFull()))
	until := p.host.first.Add(time.Duration(len(p.host.disk)) * time.Hour)
	p.says("days until full", section, "The fullest volume was at %.1f%% at the end of the data, as measured. It grows by %.2f points a day, by ‹. If that goes on, it is full %s later, around %s;",
		p.host.disk[len(p.host.disk)-1], p.host.perDay, count(days, "day", "days"), day(until.AddDate(0, 0, days)))
	p.says("days until full", "1", "FULLEST VOLUME %.1f%% full in %s", p.host.disk[len(p.host.disk)-1], count(days, "day", "days"))
}
