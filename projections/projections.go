package projections

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/eventstore"
)

// Projection is a read model that can be filled from the logs at any time.
type Projection struct {
	// Name is how people speak of it: report_history, audit, fleet, alerts, exceptions, health.
	Name string
	// Version changes whenever Schema or what Apply writes changes. Programs
	// of two versions can run side by side: each reads and fills its own tables.
	Version int
	// Logs are read independently of one another: the result of Apply for one must not depend
	// on the progress of another.
	Logs []eventstore.Log
	// Schema makes the tables of one generation, unqualified. Every table has
	// a primary key, by which two generations are compared.
	Schema string
	// Decode makes the fact of an event, which Apply gets with the event. It runs ahead of
	// Apply and on several processors at once; nil: there is no fact.
	Decode func(eventstore.Event) (any, error)
	// Apply writes the effect of events of one log, in order of position, into
	// the unqualified tables of Schema. It depends on nothing but the events
	// and those tables.
	Apply func(ctx context.Context, tx *sqlx.Tx, events []Event) error
}

// Views is the schema in which the readers of this version find its tables.
func (p Projection) Views() string { return fmt.Sprintf("%s_v%d", p.Name, p.Version) }

// groupName names a generation's consumer group, which is also the schema of its tables.
func (p Projection) groupName(generation int) string {
	return fmt.Sprintf("%s_g%d", p.Views(), generation)
}

// States of a projection.
const (
	Running    = "running"
	Stalled    = "stalled"    // behind, and nothing moves it
	Rebuilding = "rebuilding" // another generation is being filled beside the live one
	Broken     = "failed"     // the last page could not be applied
	Ahead      = "ahead"      // it had applied events that its log lost, until it is rebuilt
)

// Status is one projection as the operations page and the metrics show it.
type Status struct {
	Name         string // report_history, audit, fleet, alerts, exceptions, health
	Logs         []eventstore.Log
	Version      int    // schema version of the code
	Status       string // running, stalled, rebuilding, failed, ahead
	Position     int64  // events applied; over several logs the sum
	HeadPosition int64
	LagEvents    int64
	AheadEvents  int64   // applied, and lost by the log since
	LagSeconds   float64 // age of the oldest event not yet applied
	Parked       int64   // events set aside
	LastError    string
	UpdatedAt    time.Time // when an event was last applied
}

// Waiter waits until projections have passed a position.
type Waiter interface {
	// Wait returns true once every projection that reads that log has passed position, or of
	// those only the named ones; false when the bound (1 s) or ctx ran out first.
	Wait(ctx context.Context, log eventstore.Log, position int64, only ...string) bool
}

// UnknownProjectionError says that no projection has that name.
type UnknownProjectionError struct{ Name string }

func (e *UnknownProjectionError) Error() string { return "no projection is called " + e.Name }

// RebuildInProgressError says that the projection is being rebuilt already.
type RebuildInProgressError struct{ Name string }

func (e *RebuildInProgressError) Error() string { return e.Name + " is being rebuilt already" }
