package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/report"
	"muster/internal/accounts"
	"muster/internal/assessment/catalogue"
	"muster/internal/intake"
	"muster/internal/intake/feed"
	"muster/internal/operate/demo/inspected"
	"muster/internal/postgres/statement"
)

//go:embed sql/ready.sql
var readySQL string

// Assessments is the door that takes what agents found; *feed.Doors is one.
type Assessments interface {
	TakeAssessments(ctx context.Context, from intake.Caller, buffered bool, items []feed.AssessmentItem) (intake.Receipt, error)
}

// daysBefore are the days before the organization was made on which agents assessed its
// servers, the oldest first: each week, and each day in the end.
var daysBefore = []int{56, 49, 42, 35, 28, 21, 14, 7, 3, 2, 1}

// assess sends what agents found up to the day before the organization was made.
func (d *Demo) assess(ctx context.Context, o accounts.Organization) error {
	if d.Assessments == nil {
		return nil
	}
	days := slices.DeleteFunc(slices.Clone(daysBefore), func(ago int) bool { return ago > 1 && time.Duration(ago)*24*time.Hour > d.Past })
	return d.sendAssessments(ctx, o, days)
}

// assessAnew goes on with that: once the report over what was found before is ready, the
// assessment of the day on which the organization was made is sent and another report
// requested, which tells what is new and what has gone; then that of each day. It is done
// for now unless the report is awaited.
func (d *Demo) assessAnew(ctx context.Context, o accounts.Organization) (done bool, err error) {
	if d.Assessments == nil {
		return true, nil
	}
	team, err := d.team(ctx)
	if err != nil || team == nil {
		return false, err
	}
	ready, err := statement.One[bool](ctx, d.DB, "look whether the first Security report is ready", readySQL, o.ID, team[ana].String(), string(report.Security))
	if err != nil || !ready {
		return false, err
	}
	last, err := d.lastAssessed(ctx, o)
	if err != nil {
		return false, err
	}
	var days []int
	for ago := 0; !inspected.At(o.CreatedAt, ago).After(d.Now()); ago-- {
		if inspected.At(o.CreatedAt, ago).After(last) {
			days = append(days, ago)
		}
	}
	if len(days) > 0 {
		if err := d.sendAssessments(ctx, o, days[max(0, len(days)-len(daysBefore)):]); err != nil {
			return false, err
		}
	}
	again := request{jonas, over(report.Security), []int{ana, mei}}
	return true, d.reports(ctx, o.ID, team, []request{again})
}

// lastAssessed is when a server on paper was assessed last.
func (d *Demo) lastAssessed(ctx context.Context, o accounts.Organization) (time.Time, error) {
	name := inspected.Servers()[0].Name
	places, err := d.Commands.FindPlaces(ctx, o.ID, []inventory.PlaceName{{Instance: &name}})
	if err != nil {
		return time.Time{}, err
	}
	states, err := d.Facts.States(ctx, o.ID, []uuid.UUID{places[0].Instance})
	if err != nil {
		return time.Time{}, err
	}
	if at := states[places[0].Instance].LastAssessedAt; at != nil {
		return *at, nil
	}
	return time.Time{}, nil
}

// sendAssessments sends those of these days, a call a server. One that somebody removed is
// left out.
func (d *Demo) sendAssessments(ctx context.Context, o accounts.Organization, days []int) error {
	checks, err := catalogue.Load()
	if err != nil {
		return err
	}
	known := make(map[string]server, len(servers()))
	for _, s := range servers() {
		known[s.Name] = s
	}
	var mark usecase.Mark
	for _, in := range inspected.Servers() {
		on, there := known[in.Name]
		if !there {
			return fmt.Errorf("assessments.yaml: there is no server %s", in.Name)
		}
		places, err := d.Commands.FindPlaces(ctx, o.ID, []inventory.PlaceName{{Instance: &in.Name}})
		if err != nil {
			return err
		}
		if places[0].Instance == uuid.Nil {
			continue
		}
		var items []feed.AssessmentItem
		for _, ago := range days {
			if ago < on.Days {
				items = append(items, in.Item(inspected.On{Engine: on.Engine, Version: on.Version, LastBackup: lastBackup(on.Name, o.CreatedAt)}, checks, o.CreatedAt, ago))
			}
		}
		receipt, err := d.Assessments.TakeAssessments(ctx, intake.Caller{OrganizationID: o.ID, Component: "demo"}, false, items)
		var refused *usecase.RuleError
		if errors.As(err, &refused) && refused.Code == "assessed_by_collector" { // somebody registered a connection
			continue
		}
		if err != nil {
			return fmt.Errorf("send the assessments of %s: %w", in.Name, err)
		}
		if receipt.Mark.Position > 0 {
			mark = receipt.Mark
		}
	}
	if mark.Position == 0 {
		return nil
	}
	return d.settle(ctx, mark)
}
