package projections

import (
	"context"
	"time"

	"muster/eventstore"
)

// Status is one projection as the operations page and the metrics show it.
type Status struct {
	Name         string // report_history, audit, fleet
	Log          eventstore.Log
	Version      int    // schema version of the code
	Status       string // running, stalled, rebuilding, failed
	Position     int64
	HeadPosition int64
	LagEvents    int64
	LagSeconds   float64
	Parked       int64
	LastError    string
	UpdatedAt    time.Time
}

// Waiter waits until projections have passed a position.
type Waiter interface {
	// Wait returns true once every projection that validates or lists events of that log has
	// passed position, false when the bound (1 s) ran out first.
	Wait(ctx context.Context, log eventstore.Log, position int64) bool
}
