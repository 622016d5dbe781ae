package demo

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/mark"
	"muster/internal/accounts"
	"muster/internal/postgres/statement"
)

// noted is a mark of the demo: what somebody deployed, and when, counted from the start of the organization's first day, or
// from the minute in which it was made.
type noted struct {
	after    time.Duration
	fromMade bool
	by       int // of people
	text     string
	tags     map[string]string
}

// marksOfCharts are deployments of a month: one before the lock storm and one that ended it, and the release that lacked an
// index, with its repair.
var marksOfCharts = []noted{
	{-23*day + 10*time.Hour, false, tomas, "Move the firewall to the new rules", nil},
	{lockStormAt - 14*time.Minute, false, ana, "deploy orders 5.8: cancel an order in one transaction", map[string]string{"team": "payments", "env": "prod"}},
	{lockStormAt + 78*time.Minute, false, ana, "roll back orders to 5.7", map[string]string{"team": "payments", "env": "prod"}},
	{-5*day + 9*time.Hour + 20*time.Minute, false, jonas, "deploy billing 4.2", map[string]string{"team": "payments", "env": "prod"}},
	{released.since - 2*time.Minute, true, ana, "deploy orders 5.9: search by customer", map[string]string{"team": "payments", "env": "prod"}},
	{released.mended, true, ana, "deploy orders 5.9.1: add the missing index", map[string]string{"team": "payments", "env": "prod"}},
}

// marks sets the first of the marks that are not there yet, by how many there ever were: what somebody removed stays
// removed. What is older than marks are kept is left out.
func (d *Demo) marks(ctx context.Context, o accounts.Organization, who []uuid.UUID) error {
	made, err := statement.One[int](ctx, d.DB, "count the demo's marks", `SELECT count(*) FROM chart_marks WHERE organization_id = $1`, o.ID)
	if err != nil {
		return err
	}
	start := o.CreatedAt.UTC().Truncate(time.Minute)
	for _, m := range marksOfCharts[min(made, len(marksOfCharts)):] {
		at := start.Truncate(day).Add(m.after)
		if m.fromMade {
			at = start.Add(m.after)
		}
		if at.Before(d.Now().AddDate(0, 0, -mark.KeptDays)) {
			continue
		}
		actor := usecase.Actor{OrganizationID: o.ID, MemberID: who[m.by], Component: "demo"}
		_, written, err := d.Commands.SetMark(ctx, actor, usecase.NewID(), mark.Mark{At: at, Text: m.text, Tags: m.tags})
		if err != nil {
			return err
		}
		if err := d.settle(ctx, written); err != nil {
			return err
		}
	}
	return nil
}
