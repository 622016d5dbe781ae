package watch

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	windows "muster/commands/maintenance"
	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/maintenance"
	"muster/domain/organization"
	"muster/projections/fleet"
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
	InWindow   int                           // of which in a maintenance window
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
	inWindow int      // of Alerts
}

// Raised is an alert that would have been raised.
type Raised struct {
	At       time.Time
	Until    *time.Time // nil: it would still be open
	Severity alert.Severity
	Now      bool // the settings in force raise it, too
	InWindow bool // in a maintenance window of its servers: it is marked, and nobody is notified
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
	held, err := windows.Versions(ctx, h.DB, org, p.From)
	if err != nil {
		return p, err
	}
	tags := map[uuid.UUID]domain.Tags{}
	for id, server := range servers {
		tags[id] = domain.Tags(server.Tags)
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
		if len(held) > 0 {
			about := watchedOf(l.id, hosts, servers)
			for i := range would {
				would[i].InWindow = maintenance.InAll(held, about, tags, would[i].At) != nil
			}
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
		p.InWindow += item.inWindow
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
		if r.InWindow {
			p.inWindow++
		}
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
