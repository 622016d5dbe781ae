package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/internal/accounts"
	"muster/internal/postgres/statement"
)

//go:embed sql/scheduled.sql
var scheduledSQL string

// planned is a schedule that one of the team makes.
type planned struct {
	by         int // of people
	recipients []int
	server     string // empty: all
	soon       bool   // due first within moments, whatever At says
	schedule.Terms
}

// tried is the schedule that Ana tries out: she has it come within moments, and once more
// when its report is there, and then sets the time at which she wants it.
const tried = "The old CRM, when something changes"

// plans are the schedules: each in another zone, one that is off, and one whose owner has
// left. No due time before a schedule was made has a run, so these are the first two that
// anybody sees: what Ana's tried schedule requests, and how Tomás's is paused.
func plans() []planned {
	every := func(e schedule.Every, at, zone string) schedule.Recurrence {
		return schedule.Recurrence{Every: e, At: at, TimeZone: zone}
	}
	mondays, fridays, lastDays := every(schedule.Week, "07:00", "Europe/Madrid"), every(schedule.Week, "16:30", "Asia/Tokyo"), every(schedule.Month, "18:00", "America/New_York")
	mondays.Weekday, fridays.Weekday, lastDays.DayOfMonth = "monday", "friday", schedule.LastDay
	return []planned{
		{by: ana, recipients: []int{jonas, mei}, Terms: schedule.Terms{
			Name: "Security of all servers, for the Monday meeting", Kind: report.Security, Recurrence: mondays, Enabled: true,
		}},
		{by: ana, server: "demo-pg-legacy-01", soon: true, Terms: schedule.Terms{
			Name: tried, Kind: report.Security, Recurrence: every(schedule.Day, "07:30", "Europe/Berlin"), OnlyIfChanged: true, Enabled: true,
		}},
		{by: ana, recipients: []int{mei}, Terms: schedule.Terms{
			Name: "Personal data at the end of the month", Kind: report.DataInventory, Recurrence: lastDays, Enabled: true,
		}},
		{by: ana, server: "demo-mssql-erp-01", Terms: schedule.Terms{
			Name: "The ERP during its migration", Kind: report.InstanceScorecard, Scope: schedule.Scope{Window: "7d"}, Recurrence: fridays,
		}},
		{by: tomas, recipients: []int{ana}, server: "demo-ora-dwh-01", soon: true, Terms: schedule.Terms{
			Name: "Scorecard of the warehouse", Kind: report.InstanceScorecard, Scope: schedule.Scope{Window: "30d"},
			Recurrence: every(schedule.Day, "", "America/Sao_Paulo"), Enabled: true,
		}},
	}
}

// soonest is how far ahead the first due time of a schedule is at least: there is time to
// disable its owner before it comes.
const soonest = 15 * time.Second

// soon is the next full minute by the clocks of a zone.
func (d *Demo) soon(zone string) (string, error) {
	clocks, err := usecase.Zone(zone)
	if err != nil {
		return "", err
	}
	return d.Now().Add(soonest + time.Minute).Truncate(time.Minute).In(clocks).Format("15:04"), nil
}

// made is what the log knows of a schedule.
type made struct {
	ID                    uuid.UUID
	Name                  string
	Changes, Others, Runs int
	Ready                 bool
}

func (d *Demo) madeBy(ctx context.Context, organization, owner uuid.UUID) (map[string]made, error) {
	all, err := statement.All[made](ctx, d.DB, "look for schedules made before", scheduledSQL, organization, owner.String())
	byName := map[string]made{}
	for _, m := range all {
		byName[m.Name] = m
	}
	return byName, err
}

// schedules makes each once: one that somebody removed stays removed. Then Tomás leaves.
func (d *Demo) schedules(ctx context.Context, organization uuid.UUID, team []uuid.UUID, paper []inventory.IDs) error {
	ids := map[string]uuid.UUID{}
	for i, s := range servers() {
		ids[s.Name] = paper[i].ID
	}
	for _, p := range plans() {
		known, err := d.madeBy(ctx, organization, team[p.by])
		if err != nil {
			return err
		}
		if _, there := known[p.Name]; there {
			continue
		}
		terms := p.Terms
		if p.server != "" {
			terms.Scope.InstanceIDs = []uuid.UUID{ids[p.server]}
		}
		for _, to := range p.recipients {
			terms.RecipientIDs = append(terms.RecipientIDs, team[to])
		}
		if p.soon {
			if terms.At, err = d.soon(terms.TimeZone); err != nil {
				return err
			}
		}
		if _, _, err := d.Commands.CreateSchedule(ctx, usecase.Actor{OrganizationID: organization, MemberID: team[p.by]}, terms); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return d.leave(ctx, organization, team[tomas], team[jonas])
}

// tryOut has Ana set the time of the schedule that she tries out: anew when its first report
// is ready, and to the one that she wants when it has come once more. Whoever else changes
// it has the last word.
func (d *Demo) tryOut(ctx context.Context, o accounts.Organization) error {
	team, err := d.team(ctx)
	if err != nil || team == nil {
		return err
	}
	known, err := d.madeBy(ctx, o.ID, team[ana])
	if err != nil {
		return err
	}
	is, at := known[tried], ""
	for _, p := range plans() {
		switch {
		case p.Name != tried || is.Others > 0 || !is.Ready:
		case is.Changes == 0 && is.Runs >= 1:
			at, err = d.soon(p.TimeZone)
		case is.Changes == 1 && is.Runs >= 2:
			at = p.At
		}
	}
	if err != nil || at == "" {
		return err
	}
	_, err = d.Commands.ChangeSchedule(ctx, usecase.Actor{OrganizationID: o.ID, MemberID: team[ana]}, is.ID,
		commands.EditSchedule{Change: func(t *schedule.Terms) { t.At = at }})
	var refused *usecase.RuleError // its server was removed meanwhile
	if errors.As(err, &refused) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("try out a schedule of the demo: %w", err)
	}
	return nil
}
