package watch

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/organization"
	"muster/internal/postgres/statement"
	"muster/projections/fleet"
)

var (
	//go:embed sql/past_hours.sql
	pastHours string
	//go:embed sql/past_since.sql
	pastSince string
	//go:embed sql/past_series.sql
	pastSeries string
)

const (
	// Past is how far back a preview looks, pastKept how long figures are kept for it.
	Past     = 30 * 24 * time.Hour
	pastKept = Past + 24*time.Hour
	// maxPreviewed is how many servers a preview shows by name, maxCharted of how many it has the figures, and maxRaised
	// how many alerts of a server it lists.
	maxPreviewed, maxCharted, maxRaised = 50, 8, 100
	// paused is how long no sign of a server that is down or silent may come for that to be over.
	paused = 90 * time.Second
)

// Preview is what a rule would have raised with other settings.
type Preview struct {
	From, To   time.Time
	Since      *time.Time                    // when the figures begin; nil: there are none
	Alerts     int                           // that would have been raised
	Servers    int                           // on which
	Now        struct{ Alerts, Servers int } // the same with the settings in force
	Unmeasured int                           // active servers without a figure of the rule
	Items      []Previewed                   // the servers with most alerts first
}

// Previewed is what would have been raised about one server.
type Previewed struct {
	Instance uuid.UUID
	Name     string
	Setting  organization.WatchSetting
	Alerts   int      // that would have been raised
	Raised   []Raised // the newest of them, oldest first
	Now      int      // alerts with the settings in force
	Longest  time.Duration
	Figures  []Figure // by the hour; of the first servers only
}

// Raised is an alert that would have been raised.
type Raised struct {
	At       time.Time
	Until    *time.Time // nil: it would still be open
	Severity alert.Severity
	Now      bool // the settings in force raise it, too
}

// Figure is a figure of an hour.
type Figure struct {
	At    time.Time `db:"hour"`
	Value float64
}

// History reads the figures of the past.
type History struct {
	DB    *sqlx.DB
	Fleet Fleet
	Now   func() time.Time
}

// point is a figure of the past.
type point struct {
	at       time.Time
	value    float64
	sessions int
}

// line are the figures of a subject, oldest first.
type line struct {
	rule   Rule
	id     uuid.UUID
	mount  string
	points []point
}

// Preview judges the figures of the last 30 days by settings, and by those in force. advisory says whether waits for
// advisory locks count (organization.Watch).
func (h *History) Preview(ctx context.Context, org uuid.UUID, d Definition, settings, inForce []organization.WatchSetting, advisory string) (Preview, error) {
	p := Preview{To: instant.Cut(h.Now())}
	p.From = p.To.Add(-Past)
	servers, err := h.servers(ctx, org)
	if err != nil {
		return p, err
	}
	hosts, err := h.hosts(ctx, org)
	if err != nil {
		return p, err
	}
	if err := h.measured(ctx, org, d, servers, hosts, &p); err != nil {
		return p, err
	}
	of := map[uuid.UUID]*Previewed{}
	subjects := map[uuid.UUID][]uuid.UUID{} // of servers
	err = h.each(ctx, org, d, p.From, slices.Concat(settings, inForce), func(l line) {
		at := Previewed{Instance: owner(l.id, hosts, servers)}
		server, watches := servers[at.Instance]
		if !watches || advisory == organization.WatchOff && (Sign{Rule: l.rule, Mount: l.mount}).advisory() {
			return
		}
		at.Name = server.Name
		at.Setting = settingOf(settings, server)
		would := l.replay(d, at.Setting, p.To)
		is := l.replay(d, settingOf(inForce, server), p.To)
		if len(would) == 0 && len(is) == 0 {
			return
		}
		if of[at.Instance] == nil {
			of[at.Instance] = &at
		}
		of[at.Instance].add(would, is, p.To)
		subjects[at.Instance] = append(subjects[at.Instance], l.id)
	})
	if err != nil {
		return p, err
	}
	p.count(of)
	return p, h.chart(ctx, org, d, subjects, &p)
}

// count adds up the alerts of servers, and has those with most of them as its items.
func (p *Preview) count(of map[uuid.UUID]*Previewed) {
	for _, item := range of {
		p.Alerts += item.Alerts
		p.Now.Alerts += item.Now
		if item.Alerts > 0 {
			p.Servers++
		}
		if item.Now > 0 {
			p.Now.Servers++
		}
		p.Items = append(p.Items, *item)
	}
	slices.SortFunc(p.Items, func(a, b Previewed) int {
		return cmp.Or(cmp.Compare(b.Alerts, a.Alerts), cmp.Compare(b.Now, a.Now), cmp.Compare(a.Name, b.Name), slices.Compare(a.Instance[:], b.Instance[:]))
	})
	p.Items = p.Items[:min(len(p.Items), maxPreviewed)]
}

func settingOf(settings []organization.WatchSetting, server fleet.Instance) organization.WatchSetting {
	return organization.Setting(settings, domain.Tags(server.Tags))
}

// add takes in the alerts of one subject of a server, each oldest first.
func (p *Previewed) add(would, is []Raised, to time.Time) {
	p.Alerts += len(would)
	p.Now += len(is)
	for _, r := range would {
		for len(is) > 0 && is[0].Until != nil && !is[0].Until.After(r.At) {
			is = is[1:]
		}
		r.Now = len(is) > 0 && is[0].overlaps(r)
		end := to
		if r.Until != nil {
			end = *r.Until
		}
		p.Longest = max(p.Longest, end.Sub(r.At))
		p.Raised = append(p.Raised, r)
	}
	slices.SortFunc(p.Raised, func(a, b Raised) int { return a.At.Compare(b.At) })
	p.Raised = slices.Clone(p.Raised[max(len(p.Raised)-maxRaised, 0):])
}

func (r Raised) overlaps(o Raised) bool {
	return (r.Until == nil || r.Until.After(o.At)) && (o.Until == nil || o.Until.After(r.At))
}

// replay judges the figures of a subject as the watch judges the signs that come in (judged.decide), one after
// another.
func (l line) replay(d Definition, setting organization.WatchSetting, to time.Time) (raised []Raised) {
	s := judged{Sign: Sign{Rule: l.rule, InstanceID: l.id, Mount: l.mount}, Setting: setting}
	place := watchedPlace{standing: watched}
	state := l.rule == Down || l.rule == Silent
	step := func(now time.Time) {
		is, _ := s.decide(place, now)
		switch {
		case s.Since == nil && is.Since != nil:
			raised = append(raised, Raised{At: *is.Since, Severity: d.severity(s.Value, setting)})
		case s.Since != nil && is.beyond != nil && *is.beyond && d.severity(s.Value, setting) == alert.Critical:
			raised[len(raised)-1].Severity = alert.Critical
		}
		if is.ended() {
			until := *is.Until
			raised[len(raised)-1].Until = &until
			is.Since = nil
		}
		s = is
	}
	for _, p := range l.points {
		switch gap := p.at.Sub(s.At); {
		case s.At.IsZero():
		case state && (gap > paused || p.value < s.Value): // it answers again, or went down once more
			s.Value, s.At = 0, s.At.Add(time.Second)
			step(s.At)
		case gap > Fresh:
			step(p.at) // nobody knows what was meanwhile
		}
		s.Value, s.At, s.Details.Sessions = p.value, p.at, p.sessions
		step(p.at)
	}
	if state && !s.At.IsZero() && to.Sub(s.At) > paused {
		s.Value, s.At = 0, s.At.Add(time.Second)
		step(s.At)
	}
	return raised
}

// rulesOf are the rules under which the figures of a definition are kept.
func (d Definition) rulesOf() []string {
	if d.rule() == Volume {
		return []string{string(Volume), string(HostVolume)}
	}
	return []string{d.ID}
}

// each calls take with the figures of each subject, one after the other: those of the hours in which any may be beyond a
// threshold of settings. The next subject's replace them.
func (h *History) each(ctx context.Context, of uuid.UUID, d Definition, from time.Time, settings []organization.WatchSetting, take func(line)) error {
	above, below := d.bounds(settings)
	var l line
	err := statement.Each(ctx, h.DB, "read the figures of the past", pastHours, []any{of, d.rulesOf(), from.Truncate(time.Hour), above, below, string(pile)}, func(rows *sqlx.Rows) error {
		var row pastHour
		if err := rows.StructScan(&row); err != nil {
			return err
		}
		if l.rule != row.Rule || l.id != row.Instance || l.mount != row.Mount {
			if len(l.points) > 0 {
				take(l)
			}
			l = line{rule: row.Rule, id: row.Instance, mount: row.Mount, points: l.points[:0]}
		}
		l.points = row.appendTo(l.points, from)
		return nil
	})
	if err == nil && len(l.points) > 0 {
		take(l)
	}
	return err
}

// pastHour is an hour of a subject.
type pastHour struct {
	Rule     Rule
	Instance uuid.UUID `db:"instance_id"`
	Mount    string
	Hour     time.Time
	Phase    float64
	Minutes  minutes
	Piled    minutes // of a wait for a lock: how long one lasted while many sessions waited
}

// appendTo appends the figures since from.
func (h pastHour) appendTo(points []point, from time.Time) []point {
	for minute, v := range h.Minutes {
		at := h.Hour.Add(time.Duration(minute)*time.Minute + time.Duration(h.Phase*float64(time.Second))).UTC()
		if v == nil || at.Before(from) {
			continue
		}
		p := point{at: at, value: *v}
		if minute < len(h.Piled) && h.Piled[minute] != nil && *h.Piled[minute] > pileUp.Minutes() {
			p.sessions = many
		}
		points = append(points, p)
	}
	return points
}

// minutes are the figures of an hour; nil: there is none.
type minutes []*float64

// Scan implements sql.Scanner.
func (m *minutes) Scan(src any) error { return statement.ScanJSON(src, (*[]*float64)(m)) }

// servers are the organization's that are watched.
func (h *History) servers(ctx context.Context, of uuid.UUID) (map[uuid.UUID]fleet.Instance, error) {
	active := true
	found, _, err := h.Fleet.Instances(ctx, fleet.Query{Organization: of, Active: &active, Page: 1, Size: maxServers})
	servers := make(map[uuid.UUID]fleet.Instance, len(found))
	for _, i := range found {
		servers[i.ID] = i
	}
	return servers, err
}

// maxServers is of how many servers of an organization a preview speaks.
const maxServers = 100_000

// hosts are the servers on each host that reports volumes.
func (h *History) hosts(ctx context.Context, of uuid.UUID) (map[uuid.UUID][]uuid.UUID, error) {
	rows, err := statement.All[struct {
		ID      uuid.UUID `db:"instance_id"`
		Details Details
	}](ctx, h.DB, "read which servers are on hosts", `SELECT instance_id, details FROM signs WHERE organization_id = $1 AND rule = $2`, of, string(host))
	hosts := make(map[uuid.UUID][]uuid.UUID, len(rows))
	for _, row := range rows {
		hosts[row.ID] = row.Details.Instances
	}
	return hosts, err
}

// owner is the server to which an alert about a subject belongs (judged.place).
func owner(subject uuid.UUID, hosts map[uuid.UUID][]uuid.UUID, servers map[uuid.UUID]fleet.Instance) uuid.UUID {
	on, isHost := hosts[subject]
	if !isHost {
		return subject
	}
	first := uuid.Nil
	for _, id := range on {
		if _, watches := servers[id]; watches && (first == uuid.Nil || slices.Compare(id[:], first[:]) < 0) {
			first = id
		}
	}
	return first
}

// measured notes since when there are figures, and of how many servers there are none. That a server is up has no
// figure: of rules about that, figures begin when any does.
func (h *History) measured(ctx context.Context, of uuid.UUID, d Definition, servers map[uuid.UUID]fleet.Instance, hosts map[uuid.UUID][]uuid.UUID, p *Preview) error {
	rules := d.rulesOf()
	state := d.rule() == Down || d.rule() == Silent
	if state {
		rules = nil
		for _, r := range append(Rules(), HostVolume) {
			rules = append(rules, string(r))
		}
	}
	rows, err := statement.All[struct {
		Instance uuid.UUID `db:"instance_id"`
		Since    time.Time
	}](ctx, h.DB, "ask since when there are figures", pastSince, of, rules, p.From.Truncate(time.Hour))
	known := map[uuid.UUID]bool{}
	for _, row := range rows {
		since := instant.Later(row.Since.UTC(), p.From)
		if p.Since == nil || since.Before(*p.Since) {
			p.Since = &since
		}
		known[row.Instance] = true
		for _, id := range hosts[row.Instance] {
			known[id] = true
		}
	}
	for id := range servers {
		if !known[id] && !state {
			p.Unmeasured++
		}
	}
	return err
}

// chart reads the figures of the first servers.
func (h *History) chart(ctx context.Context, of uuid.UUID, d Definition, subjects map[uuid.UUID][]uuid.UUID, p *Preview) error {
	var ids []uuid.UUID
	at := map[uuid.UUID]int{}
	for i, item := range p.Items[:min(len(p.Items), maxCharted)] {
		for _, subject := range subjects[item.Instance] {
			ids, at[subject] = append(ids, subject), i
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := statement.All[struct {
		Instance uuid.UUID `db:"instance_id"`
		Figure
	}](ctx, h.DB, "read figures for a chart", pastSeries, of, d.rulesOf(), p.From.Truncate(time.Hour), statement.IDs(ids), d.Below)
	for _, row := range rows {
		item := &p.Items[at[row.Instance]]
		row.At = row.At.UTC()
		item.Figures = append(item.Figures, row.Figure)
	}
	return err
}
