package daily

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/schedule"
	"muster/internal/notify"
	"muster/internal/postgres/statement"
	"muster/internal/report/snapshot/day"
)

var (
	//go:embed sql/messages.sql
	messagesSQL string
	//go:embed sql/held.sql
	heldSQL string
)

// message is a delivery of the day or of the day before.
type message struct {
	Status   string    `db:"status"`
	StatusAt time.Time `db:"status_at"`
	Created  time.Time `db:"created_at"`
	Channel  string    `db:"channel"`
	Code     int       `db:"last_code"`
	Error    string    `db:"last_error"`
}

// readDelivery reads what became of messages, and which were dropped for a mute.
func (r *Reader) readDelivery(ctx context.Context, f *facts) (err error) {
	var of any
	if !f.Whole {
		ids := make([]uuid.UUID, len(f.alerts))
		for i, a := range f.alerts {
			ids[i] = a.ID
		}
		of = statement.IDs(ids)
	}
	f.messages, err = statement.All[message](ctx, r.DB, "read the messages of a day", messagesSQL, f.Organization, f.From.Add(f.From.Sub(f.To)), f.To, of)
	if err != nil {
		return err
	}
	f.held, err = statement.All[uuid.UUID](ctx, r.DB, "read which messages were dropped for a mute", heldSQL, f.Organization, f.From, f.To)
	return err
}

// delivery counts the messages of the day as they were at its end.
func (f *facts) delivery() (d day.Delivery) {
	d.Gone = f.From.Before(f.Now.Add(-notify.Kept))
	by := map[string]*day.Refused{}
	for _, m := range f.messages {
		ended := m.Status != "pending" && m.StatusAt.Before(f.To)
		failed := m.Status == "failed" && ended
		switch {
		case m.Status == "suppressed": // nobody was to be told
		case !f.Within(&m.Created):
			if m.Status == "failed" && m.StatusAt.Before(f.From) {
				d.Before++
			}
		case failed:
			d.Messages++
			d.Failed++
			at := by[m.Channel]
			if at == nil {
				at = &day.Refused{Channel: m.Channel, First: m.StatusAt.UTC(), Why: why(m)}
				by[m.Channel] = at
			}
			at.Failed++
			if m.StatusAt.Before(at.First) {
				at.First, at.Why = m.StatusAt.UTC(), why(m)
			}
		case ended:
			d.Messages++
		default:
			d.Messages++
			d.Waiting++
		}
	}
	for _, at := range by {
		d.Channels = append(d.Channels, *at)
	}
	slices.SortStableFunc(d.Channels, func(a, b day.Refused) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), strings.Compare(a.Channel, b.Channel))
	})
	d.Channels = d.Channels[:min(len(d.Channels), day.MostNamed)]
	return d
}

// why is what a channel answered.
func why(m message) string { return m.Error }

// readMuster reads what Muster itself did and could not do, for a whole organization.
func (r *Reader) readMuster(ctx context.Context, f *facts) error {
	if !f.Whole {
		return nil
	}
	reports, err := r.History.EndedBetween(ctx, f.Organization, f.From, f.To, day.MostNamed)
	if err != nil {
		return err
	}
	f.reports = &reports
	if f.runs, err = r.Schedules.Between(ctx, f.Organization, f.From, f.To); err != nil {
		return err
	}
	f.dead, err = statement.One[int](ctx, r.DB, "count the jobs that were given up",
		`SELECT count(*)::int FROM jobs WHERE organization_id = $1 AND dead_at >= $2 AND dead_at < $3`, f.Organization, f.From, f.To)
	return err
}

// muster sums up what Muster itself did.
func (f *facts) muster() *day.Muster {
	if f.reports == nil {
		return nil
	}
	m := &day.Muster{Ready: f.reports.Ready, Failed: f.reports.Failed, Mails: f.reports.Mails, FailedReports: f.reports.Named, Dead: f.dead}
	for _, run := range f.runs {
		m.Runs++
		if run.Status != schedule.StatusMissed && run.Status != schedule.StatusPaused {
			continue
		}
		m.Missed++
		if len(m.MissedRuns) < day.MostNamed {
			m.MissedRuns = append(m.MissedRuns, run.Name)
		}
	}
	return m
}
