package alerts

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
)

// Open counts the alerts that are open and not muted, and those that were at a
// time: created then or before, and not resolved by then (today's mute flag).
func (r *Reader) Open(ctx context.Context, organization uuid.UUID, scope fleet.Scope, then time.Time) (now, before int64, err error) {
	panic("not yet")
}

// History counts, for each bucket of the window, the alerts whose firing window
// touches it and those resolved in it, none of them muted; the first and the last
// bucket are cut at the window's ends.
func (r *Reader) History(ctx context.Context, organization uuid.UUID, scope fleet.Scope, w timegrid.Window) (active, resolved []int64, err error) {
	panic("not yet")
}
