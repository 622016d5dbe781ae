package demo

import (
	"context"
	_ "embed"
	"time"

	"muster/domain/report"
	"muster/internal/accounts"
	"muster/internal/postgres/statement"
)

//go:embed sql/alerts_before.sql
var alertsBeforeSQL string

// recording is how long the alerts of the past month take to be recorded at most.
const recording = 15 * time.Second

// summarize requests the summaries of all servers, once. They count what was recorded before the minute of the request,
// so the first minute after the demo was filled is waited for.
func (d *Demo) summarize(ctx context.Context, o accounts.Organization) error {
	team, err := d.team(ctx)
	if err != nil || team == nil {
		return err
	}
	to := d.Now().UTC().Truncate(time.Minute)
	recorded, err := statement.One[bool](ctx, d.DB, "look whether the demo's alerts are recorded", alertsBeforeSQL, o.ID, to.Add(-recording))
	if err != nil || !recorded {
		return err
	}
	from := to.AddDate(0, 0, -alertDays)
	alerts := over(report.AlertsSummary)
	alerts.From, alerts.To = &from, &to
	return d.reports(ctx, o.ID, team, []request{{ana, alerts, []int{jonas}}})
}
