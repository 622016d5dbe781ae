package demo

import (
	"context"
	"time"

	"muster/commands"
	"muster/internal/accounts"
)

// CatchUp writes every measurement that is missing now, as Measure does in time.
func (d *Demo) CatchUp(ctx context.Context, o accounts.Organization) error {
	paper, err := d.fleet(ctx, commands.Actor{OrganizationID: o.ID, Component: "demo"}, o.CreatedAt)
	if err != nil {
		return err
	}
	m := measuring{Demo: d, organization: o, paper: paper}
	for more := true; more; {
		if more, err = m.step(ctx, forever); err != nil {
			return err
		}
	}
	return nil
}

// FireOnce sends the alerts once, as Fire does each minute.
func (d *Demo) FireOnce(ctx context.Context, o accounts.Organization, since time.Time) (time.Time, error) {
	return d.fire(ctx, o, since)
}
