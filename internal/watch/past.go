package watch

import (
	"context"
	_ "embed" // the statements
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

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

// watchedOf are the watched servers that an alert about a subject concerns: the server itself, or those on a host.
func watchedOf(subject uuid.UUID, hosts map[uuid.UUID][]uuid.UUID, servers map[uuid.UUID]fleet.Instance) []uuid.UUID {
	on, isHost := hosts[subject]
	if !isHost {
		return []uuid.UUID{subject}
	}
	var all []uuid.UUID
	for _, id := range on {
		if _, watches := servers[id]; watches {
			all = append(all, id)
		}
	}
	return all
}

// owner is the server to which an alert about a subject belongs (judged.place).
func owner(subject uuid.UUID, hosts map[uuid.UUID][]uuid.UUID, servers map[uuid.UUID]fleet.Instance) uuid.UUID {
	first := uuid.Nil
	for _, id := range watchedOf(subject, hosts, servers) {
		if first == uuid.Nil || slices.Compare(id[:], first[:]) < 0 {
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
