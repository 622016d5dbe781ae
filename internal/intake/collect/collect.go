package collect

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/snapshot"
)

// ConnectionError says in one of five classes why a server was not reached.
type ConnectionError = assessment.ConnectionError

// DSNError says what is wrong with a connection string, without repeating it.
type DSNError = assessment.DSNError

// EngineNotCollectedError says that Muster cannot connect to an engine by itself.
type EngineNotCollectedError struct{ Engine fleet.Engine }

func (e *EngineNotCollectedError) Error() string {
	return fmt.Sprintf("engine %q has no collector yet", string(e.Engine))
}

// NotCollectedError says that an instance has no connection registered, or is
// not one of the organization's.
type NotCollectedError struct{ Instance uuid.UUID }

func (e *NotCollectedError) Error() string {
	return fmt.Sprintf("instance %s has no connection registered", e.Instance)
}

// InactiveError says that an instance is counted but not assessed.
type InactiveError struct{ Instance uuid.UUID }

func (e *InactiveError) Error() string { return fmt.Sprintf("instance %s is inactive", e.Instance) }

// Fleet is what the collector records of a server; *commands.Service is one.
type Fleet interface {
	ChangeInstance(ctx context.Context, actor commands.Actor, id uuid.UUID, change commands.ChangeInstance) (commands.Mark, error)
	RecordDatabases(ctx context.Context, actor commands.Actor, instance uuid.UUID, names []string) (commands.Mark, error)
}

// Instances says whether an instance is to be assessed.
type Instances interface {
	// Active is false for inactive, removed, unknown and foreign instances.
	Active(ctx context.Context, organization, instance uuid.UUID) (bool, error)
}

// Collector assesses the servers that have a connection registered.
type Collector struct {
	Store     *assessment.Store
	Fleet     Fleet
	Instances Instances
	Log       *slog.Logger
	Now       func() time.Time

	// Interval between assessments of one server; each is moved by up to a
	// tenth, so that servers registered together do not stay together.
	Interval time.Duration
	// Workers is how many servers are assessed at once by this process.
	Workers int

	wake chan struct{}
}

// Try connects to the server that dsn names, to show that it can be assessed:
// *DSNError, *ConnectionError or *EngineNotCollectedError say why it cannot.
func (c *Collector) Try(ctx context.Context, engine fleet.Engine, dsn string) error { panic("not yet") }

// AssessNow assesses and classifies one instance and records the outcome. A
// server out of reach is an outcome, not an error. *NotCollectedError and
// *InactiveError say that there was nothing to do.
func (c *Collector) AssessNow(ctx context.Context, organization, instance uuid.UUID) error {
	panic("not yet")
}

// Request makes an instance due and wakes this process's collector.
func (c *Collector) Request(ctx context.Context, organization, instance uuid.UUID) error {
	panic("not yet")
}

// Fresh returns an assessment that reached the server no longer than maxAge
// ago; where there is none the server is assessed now, and what comes of that
// is returned, also when it is out of reach.
func (c *Collector) Fresh(ctx context.Context, organization, instance uuid.UUID, maxAge time.Duration) (*snapshot.Assessment, error) {
	panic("not yet")
}

// Run assesses what is due until ctx ends.
func (c *Collector) Run(ctx context.Context) error { panic("not yet") }
