package watch

import (
	"context"

	"muster/domain/organization"
)

// ListenOnce is one turn of Listen.
func (w *Watch) ListenOnce(ctx context.Context) error { return w.listens(ctx) }

// Above is what a figure of a rule has to reach for its setting to be concerned.
func Above(d Definition, s organization.WatchSetting) float64 {
	above, _ := d.bounds([]organization.WatchSetting{s})
	return above
}
