package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/commands/maintenance"
	"muster/commands/usecase"
	"muster/domain/fleet"
	windows "muster/domain/maintenance"
	"muster/domain/objective"
	"muster/domain/schedule"
	"muster/domain/team"
	"muster/internal/postgres/statement"
	"muster/internal/watch/uptime"
)

// uptimePast is of how many days it is known when servers were up when somebody first looks.
const uptimePast = 60

// downtimes are the times in which servers of the demo were down beside those of which alerts tell, counted from the
// minute in which the organization was made.
var downtimes = []struct {
	server string
	after  time.Duration
	lasts  time.Duration
}{
	{"demo-mssql-erp-01", -40*day + 3*time.Hour, 4 * time.Minute},
	{heldServer, -17*day + 2*time.Hour + 11*time.Minute, 7 * time.Minute},
	{"demo-ora-core-01", -9*day + 5*time.Hour, 9 * time.Minute},
}

// downs are the times in which a server was down, the oldest first: nothing is measured of it then.
func downs(made time.Time, server string) (all []between) {
	made = made.UTC().Truncate(time.Minute)
	for _, o := range downtimes {
		if from := made.Add(o.after); o.server == server {
			all = append(all, between{from, from.Add(o.lasts)})
		}
	}
	for _, e := range scripted(made) {
		if e.server == server && e.strain.Gone {
			all = append(all, e.between)
		}
	}
	slices.SortFunc(all, func(a, b between) int { return a.starts.Compare(b.starts) })
	return all
}

// objectives sets the demo's objectives and its maintenance window, if nobody ever did.
func (d *Demo) objectives(ctx context.Context, actor usecase.Actor) error {
	row, err := statement.One[struct{ Objectives, Windows int }](ctx, d.DB, "count the demo's objectives and windows", `SELECT
		(SELECT count(*) FROM objectives WHERE organization_id = $1) AS objectives,
		(SELECT count(*) FROM maintenance_windows WHERE organization_id = $1) AS windows`, actor.OrganizationID)
	if err != nil {
		return err
	}
	if row.Objectives == 0 {
		most, rest, fast := 99.9, 99.5, 50.0
		mark, err := d.Commands.SetObjectives(ctx, actor, []objective.Objective{
			{Selector: team.Selector{Tags: fleet.TagFilter{"env": {"prod"}, "team": {"payments"}}}, AvailabilityPercent: &most, LatencyMs: &fast, Window: objective.Month},
			{AvailabilityPercent: &rest, Window: objective.Month},
		}, nil)
		if err != nil {
			return err
		}
		if err := d.settle(ctx, mark); err != nil {
			return err
		}
	}
	if row.Windows > 0 {
		return nil
	}
	_, mark, err := d.Commands.CreateWindow(ctx, actor, maintenance.Window{Name: "Patches of staging", Terms: windows.Terms{
		Selector:   team.Selector{Tags: fleet.TagFilter{"env": {"staging"}}},
		Recurrence: &schedule.Recurrence{Every: schedule.Week, Weekday: "sunday", At: "02:00", TimeZone: "Europe/Amsterdam"}, Minutes: 180,
	}})
	if err != nil {
		return err
	}
	return d.settle(ctx, mark)
}

// pastUptime keeps when the servers on paper were up before somebody looked, as judgments find it.
func (m *measuring) pastUptime(ctx context.Context, there []inventory.IDs) error {
	known, err := uptime.Known(ctx, m.DB, m.organization.ID, idsOf(there))
	if err != nil || known != nil {
		return err
	}
	made := m.organization.CreatedAt
	for _, s := range servers() {
		id := idOf(there, s.Name)
		if id == uuid.Nil || s.Inactive {
			continue
		}
		if err := uptime.Backfill(ctx, m.DB, m.organization.ID, id, pastOf(s, made)); err != nil {
			return fmt.Errorf("keep when servers were up: %w", err)
		}
	}
	return nil
}

func idsOf(there []inventory.IDs) (ids []uuid.UUID) {
	for _, p := range there {
		ids = append(ids, p.ID)
	}
	return ids
}

// pastOf are the times of a server up to when the organization was made. Nobody knew how it was while its agent was off.
func pastOf(s server, made time.Time) (spans []uptime.Span) {
	at := made.Add(-min(time.Duration(s.Days)+1, uptimePast) * day)
	down := downs(made, s.Name)
	all := slices.Clone(down)
	if off, ok := offTimes(made)[s.Host]; ok {
		all = append(all, off)
	}
	slices.SortFunc(all, func(a, b between) int { return a.starts.Compare(b.starts) })
	for _, o := range all {
		if o.starts.Before(at) {
			continue
		}
		spans = append(spans, uptime.Span{Since: at, Until: o.starts, Up: true})
		if at = o.ends; slices.Contains(down, o) {
			spans = append(spans, uptime.Span{Since: o.starts, Until: at})
		}
	}
	return append(spans, uptime.Span{Since: at, Until: made, Up: true})
}
