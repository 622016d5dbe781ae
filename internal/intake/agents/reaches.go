package agents

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/assessment"
	"muster/internal/intake"
	"muster/internal/intake/receivers"
	"muster/internal/intake/resolve"
	"muster/internal/measurements"
)

// takeReaches passes on what exporters report about the servers to which they tried to connect.
// A server to which Muster connects itself is judged by Muster's own attempts.
func (c Config) takeReaches(ctx context.Context, from intake.Caller, receipt *intake.Receipt, reaches []receivers.Reach) error {
	reached, err := c.placeReaches(ctx, from, receipt, reaches)
	if err != nil {
		return err
	}
	for len(reached) > 0 {
		var instances []uuid.UUID
		for _, r := range reached {
			instances = append(instances, r.Instance)
		}
		_, err := c.Store.Record(ctx, measurements.Batch{
			Organization: from.OrganizationID, Reached: reached,
			Guard: func(ctx context.Context, tx sqlx.ExtContext) error {
				return c.Collected.RefuseCollected(ctx, tx, from.OrganizationID, instances)
			},
		})
		var collected *assessment.CollectedError
		if !errors.As(err, &collected) {
			return err
		}
		before := len(reached)
		reached = slices.DeleteFunc(reached, func(r measurements.Reached) bool { return slices.Contains(collected.Instances, r.Instance) })
		receipt.Drop(intake.Held, before-len(reached))
	}
	return nil
}

// placeReaches finds the instances, and drops what has none and what a limited token may
// not say.
func (c Config) placeReaches(ctx context.Context, from intake.Caller, receipt *intake.Receipt, reaches []receivers.Reach) ([]measurements.Reached, error) {
	if len(reaches) == 0 {
		return nil, nil
	}
	labels := make([]resolve.Labels, 0, len(reaches))
	for _, r := range reaches {
		labels = append(labels, r.Place.Labels(0))
	}
	directory, err := c.Places.Labelled(ctx, from.OrganizationID, labels)
	if err != nil {
		return nil, err
	}
	reached := make([]measurements.Reached, 0, len(reaches))
	for n, r := range reaches {
		found := directory.FindEngine(labels[n], r.Engine, from.Limit)
		instance := found.Instance
		if found.Ambiguous {
			receipt.Drop(intake.Ambiguous, 1)
		}
		switch {
		case from.Limit != nil && !from.Limit.Allows(instance):
			receipt.Drop(intake.Forbidden, 1)
		case instance == uuid.Nil:
			receipt.Drop(intake.NoInstance, 1)
		default:
			reached = append(reached, measurements.Reached{Instance: instance, Up: r.Up, At: r.At, By: r.By})
		}
	}
	return reached, nil
}

// connected derives from looks that their sender was connected to the server. A receiver that
// cannot connect sends nothing, so none of them reports a server as down.
func connected(looks []placed) []measurements.Reached {
	newest := map[uuid.UUID]int{}
	var reached []measurements.Reached
	for _, l := range looks {
		n, known := newest[l.instance]
		switch {
		case !known:
			newest[l.instance] = len(reached)
			reached = append(reached, measurements.Reached{Instance: l.instance, Up: true, At: l.At, By: "opentelemetry"})
		case l.At.After(reached[n].At):
			reached[n].At = l.At
		}
	}
	return reached
}
