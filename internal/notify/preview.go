package notify

import (
	"context"
	_ "embed" // the statements
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/notification"
	"muster/eventstore"
	"muster/internal/channel"
	"muster/internal/statement"
)

//go:embed sql/past.sql
var pastQuery string

const (
	// previewed is how far back a preview looks.
	previewed = 30 * 24 * time.Hour
	// previewedPositions is how much of each log it reads at most.
	previewedPositions = 1_000_000
	// previewPage is how many positions it reads at once.
	previewPage = 50_000
	// shownBefore is how many events a preview shows.
	shownBefore = 20
)

// Preview is what a rule would have matched.
type Preview struct {
	From, To      time.Time
	Events        int64
	Notifications int64            // how many groups they would have made
	Newest        []channel.Notice // newest first
}

// Preview holds what the logs have of the last 30 days against a match, by the very steps by
// which the Follower does. Servers are called as they are today.
func (r *Reader) Preview(ctx context.Context, organization uuid.UUID, m notification.Match, group time.Duration) (Preview, error) {
	now := r.Now()
	p := Preview{From: now.Add(-previewed).UTC(), To: now.UTC()}
	follower := &Follower{DB: r.DB, Events: r.Events, Registry: r.Registry}
	rule := ruleRow{Terms: notification.Terms{Match: m}}
	raised := map[uuid.UUID]bool{} // alerts that were told
	var matched []happened
	for _, log := range eventstore.Logs {
		w := newWorld()
		w.described = func(ctx context.Context, e recorded) (description, error) { return follower.describe(ctx, r.DB, e) }
		from, to, err := r.span(ctx, log, &p.From)
		if err != nil {
			return p, err
		}
		for ; from < to; from += previewPage {
			events, err := statement.All[recorded](ctx, r.DB, "read a log's past", pastQuery, log, from, min(to, from+previewPage), followed[log], organization)
			if err != nil {
				return p, err
			}
			if err := decode(r.Registry, log, events); err != nil {
				return p, err
			}
			if err := r.remember(ctx, w, organization, events); err != nil {
				return p, err
			}
			for _, e := range events {
				all, err := w.apply(ctx, e)
				if err != nil {
					return p, err
				}
				for _, h := range all {
					if !h.RecordedAt.Before(p.From) && rule.has(h) && rule.tells(h, raised) {
						matched = append(matched, h)
					}
				}
			}
		}
	}
	slices.SortStableFunc(matched, func(a, b happened) int { return a.RecordedAt.Compare(b.RecordedAt) })
	p.Events = int64(len(matched))
	var end time.Time
	for i, h := range matched {
		if i == 0 || h.RecordedAt.After(end) {
			p.Notifications, end = p.Notifications+1, h.RecordedAt.Add(group)
		}
	}
	p.Newest = []channel.Notice{}
	for _, h := range slices.Backward(matched[max(0, len(matched)-shownBefore):]) {
		p.Newest = append(p.Newest, h.Notice)
	}
	return p, nil
}

// span are the positions of a log behind a time, found by halving: times never fall in it. Of a
// log with too many since then it is less, and the time is that of the first.
func (r *Reader) span(ctx context.Context, log eventstore.Log, since *time.Time) (from, to int64, err error) {
	to, err = statement.One[int64](ctx, r.DB, "read a log's head", `SELECT position FROM log_head WHERE log = $1`, log)
	if err != nil {
		return 0, 0, err
	}
	recordedAt := func(position int64) (time.Time, error) {
		return statement.One[time.Time](ctx, r.DB, "read when an event was recorded", `SELECT recorded_at FROM events WHERE log = $1 AND position = $2`, log, position)
	}
	low, high := int64(0), to // events up to low are older, those behind high are not
	for low < high {
		middle := (low + high + 1) / 2
		at, err := recordedAt(middle)
		if err != nil {
			return 0, 0, err
		}
		if at.Before(*since) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	if from = low; to-from > previewedPositions {
		from = to - previewedPositions
		*since, err = recordedAt(from + 1)
	}
	return from, to, err
}

// remember finds the alerts that were raised before what is read, and the servers' names.
func (r *Reader) remember(ctx context.Context, w *world, organization uuid.UUID, events []recorded) error {
	missing, servers := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}
	raised := map[uuid.UUID]bool{}
	note := func(d alert.Details) {
		for _, id := range append([]uuid.UUID{d.InstanceID}, d.OtherInstanceIDs...) {
			servers[id] = true
		}
	}
	for _, e := range events {
		switch event := e.event.(type) {
		case alert.Raised:
			raised[e.Stream] = true
			note(event.Details)
		case alert.Changed:
			note(event.Details)
		case fleet.InstanceAssessed:
			servers[event.InstanceID] = servers[event.InstanceID] || len(event.New) > 0
		}
		if notification.EventType(e.Type).OfAlert() && !raised[e.Stream] && w.alerts[e.Stream] == nil {
			missing[e.Stream] = true
		}
	}
	first, err := statement.All[recorded](ctx, r.DB, "read when alerts were raised", `SELECT position, organization_id, stream_id, type, schema_version, occurred_at, recorded_at, data
		FROM events WHERE stream_id = ANY($1) AND version = 1 AND organization_id = $2 AND log = 'fleet'`, keys(missing), organization)
	if err != nil {
		return err
	}
	if err := decode(r.Registry, eventstore.Fleet, first); err != nil {
		return err
	}
	for _, e := range first {
		if event, ok := e.event.(alert.Raised); ok {
			note(event.Details)
		}
	}
	if err := w.loadServers(ctx, r.DB, keys(servers)); err != nil {
		return err
	}
	for _, e := range first {
		if _, ok := e.event.(alert.Raised); ok {
			if _, err := w.apply(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}
