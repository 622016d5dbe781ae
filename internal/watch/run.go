package watch

import (
	"context"
	_ "embed" // the statements
	"time"

	"muster/internal/pause"
	"muster/internal/statement"
)

const (
	// Interval is how often the signs are judged, and how often a listener says
	// that it is there.
	Interval = 15 * time.Second
	// gap is how long nobody may say so before it counts as nobody being there.
	gap = 3 * Interval
)

//go:embed sql/listen.sql
var listen string

// Run judges at once and then every Interval, and closes the alerts whose end has
// passed, until ctx ends; it returns ctx's error. A failure is logged, and tried
// again at the next turn.
func (w *Watch) Run(ctx context.Context) error {
	return w.each(ctx, func() {
		judgement, err := w.Judge(ctx)
		if w.Judged != nil {
			w.Judged(judgement)
		}
		if err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "the watch could not judge everything, trying again", "error", err)
		}
		if err := w.End(ctx); err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "the watch could not close every alert, trying again", "error", err)
		}
	})
}

// Listen says every Interval that this process is there to hear the servers, until
// ctx ends; it returns ctx's error. Every process does that takes in samples.
func (w *Watch) Listen(ctx context.Context) error {
	return w.each(ctx, func() {
		if err := w.listens(ctx); err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "the watch does not know that servers are listened to, trying again", "error", err)
		}
	})
}

func (w *Watch) each(ctx context.Context, do func()) error {
	interval := w.Interval
	if interval <= 0 {
		interval = Interval
	}
	return pause.Every(ctx, interval, do)
}

func (w *Watch) listens(ctx context.Context) error {
	return statement.Exec(ctx, w.DB, "note that servers are listened to", listen, w.clock(), gap.Seconds())
}

// listeningSince is since when, without a gap, somebody has been there to hear the
// servers; nil where nobody is.
func (w *Watch) listeningSince(ctx context.Context, now time.Time) (since *time.Time, err error) {
	return statement.One[*time.Time](ctx, w.DB, "read whether servers are listened to",
		`SELECT CASE WHEN listened_at >= $1 THEN listening_since END FROM watch_state`, now.Add(-gap))
}
