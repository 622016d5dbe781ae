package notify

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/notification"
	"muster/eventstore"
	"muster/eventstore/topic"
	"muster/internal/notify/channel"
	"muster/internal/postgres/statement"
)

const (
	// previewed is how far back a preview looks.
	previewed = 30 * 24 * time.Hour
	// previewedPositions is how much of each log it reads at most.
	previewedPositions = 1_000_000
	// previewPage is how many events it looks at in turn.
	previewPage = 5_000
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
	logs := history{r.Events, r.Registry}
	rule := ruleRow{Terms: notification.Terms{Match: m}}
	raised := map[uuid.UUID]bool{} // alerts that were told
	var matched []happened
	for _, log := range eventstore.Logs {
		from, to, err := r.span(ctx, log, &p.From)
		if err != nil {
			return p, err
		}
		for page, err := range r.pages(ctx, log, eventstore.Filter{Organization: organization, Types: tellable[log], After: from, UpTo: to}) {
			if err != nil {
				return p, err
			}
			told, err := logs.happened(ctx, r.DB, page, true)
			if err != nil {
				return p, err
			}
			for _, h := range told {
				if !h.RecordedAt.Before(p.From) && rule.has(h) && rule.tells(h, raised) {
					matched = append(matched, h)
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
	return p, channel.Name(ctx, r.DB, organization, p.Newest)
}

// pages are the events that a filter of a log passes, decoded, many at once.
func (r *Reader) pages(ctx context.Context, log eventstore.Log, f eventstore.Filter) iter.Seq2[[]topic.Event, error] {
	return func(yield func([]topic.Event, error) bool) {
		var page []topic.Event
		if len(f.Types) == 0 || f.UpTo <= f.After {
			return
		}
		for e, err := range r.Events.Read(ctx, log, f) {
			event := topic.Event{Event: e}
			if err == nil {
				event.Fact, err = r.Registry.Decode(e)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if page = append(page, event); len(page) == previewPage {
				if !yield(page, nil) {
					return
				}
				page = nil
			}
		}
		if len(page) > 0 {
			yield(page, nil)
		}
	}
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
