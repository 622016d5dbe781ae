package demo

import (
	"context"
	"time"

	"muster/internal/accounts"
	"muster/internal/operate/demo/summaries"
)

// CatchUp writes every measurement that is missing now, as Measure does in time.
func (d *Demo) CatchUp(ctx context.Context, o accounts.Organization) error {
	m, err := d.measuring(ctx, o, "every measurement")
	if err != nil {
		return err
	}
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

// DownloadOnce lets people fetch what is ready, as Fire does each minute.
func (d *Demo) DownloadOnce(ctx context.Context, o accounts.Organization) error {
	return d.download(ctx, o)
}

// AssessAnew goes on with the assessments once.
func (d *Demo) AssessAnew(ctx context.Context, o accounts.Organization) error {
	_, err := d.assessAnew(ctx, o)
	return err
}

// Summarize requests the summaries, as Fire does each minute.
func (d *Demo) Summarize(ctx context.Context, o accounts.Organization) error {
	return summaries.Request(ctx, d.DB, d.Commands, d.Accounts, o, d.Now(), people[ana].email, people[jonas].email)
}

// TryOut has Ana go on with the schedule that she tries out, as Fire does each minute.
func (d *Demo) TryOut(ctx context.Context, o accounts.Organization) error {
	return d.tryOut(ctx, o)
}

// Tried is the name of that schedule.
const Tried = tried
